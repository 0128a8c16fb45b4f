// Numbers and words as psephos.report.words writes them: a test compares both.
page.words = (() => {
  const fixed = (value, digits) => {
    const x = Number(value.toFixed(12)); // without rounding errors
    const half = x * 10 ** digits * 2;
    // halves that are exact in binary are rounded to the even digit, as Python does
    if (Number.isInteger(x * 2 ** (digits + 1)) && Math.abs(half % 2) === 1) {
      const low = Math.floor(half / 2);
      return ((low % 2 === 0 ? low : low + 1) / 10 ** digits).toFixed(digits);
    }
    return x.toFixed(digits);
  };
  const number = (value, digits = 3) => {
    if (value === null || !Number.isFinite(value)) return "\u2013";
    const text = fixed(value, digits);
    return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "\u2212");
  };
  const rate = (value) => number(value, 2);
  const chance = (value) => ({ "0.00": "<0.01", "1.00": ">0.99" })[rate(value)] || rate(value);
  const percent = (share) => {
    if (share > 0 && share < 0.01) return "< 1 %";
    return share < 1 && share > 0.99 ? "> 99 %" : `${Math.round(100 * share)} %`;
  };
  const span = (low, high) =>
    Number.isFinite(low) && Number.isFinite(high) ? `${rate(low)} to ${rate(high)}` : "";
  const count = (n) => (n >= 10000 ? String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f") : String(n));
  const of = (k, n, what = "") => `${count(k)} of ${count(n)}${what ? " " + what : ""}`;
  const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
  const threshold = (t) =>
    Math.abs(Math.round(t * 1000) / 1000 - t) < 1e-9
      ? t.toFixed(3).replace(/0$/, "")
      : String(Number(t.toPrecision(7)));
  // A probability, with more digits where fewer would be equal to the threshold or on its other side.
  const beside = (p, t) => {
    const digits = [2, 3, 4].find((n) => p === t || (Number(number(p, n)) - t) * (p - t) > 0);
    if (!digits) return `${p < t ? "<" : ""}${threshold(t)}`;
    return digits > 2 ? number(p, digits) : chance(p);
  };

  // the signs of numbers and of a sum within a sentence as true minus signs; hyphens of names stay
  const signs = (text) => text.replace(/(^|[\s([{]|\de)-(?= ?\d)/g, "$1\u2212");
  const fill = (values, from = document) =>
    Object.entries(values).forEach(([key, text]) =>
      page.all(`[data-fill="${key}"]`, from).forEach((element) => {
        element.textContent = text;
      }),
    );
  return { beside, chance, count, fill, number, of, percent, plural, rate, signs, span, threshold };
})();
