// One dot a case in lanes, drawn at the width there is.
page.lanes = (() => {
  const { svg } = page,
    { line, rect, text } = page.draw;
  const UNIT = 1e6,
    MOST = 400,
    BINS = 50,
    RADII = [3.2, 2.6, 2.1, 1.6],
    PUSHED = 6;

  const placed = (units, width, height, radius) => {
    const step = 2 * radius + 0.8,
      rows = Math.max(Math.floor(height / step), 1);
    const places = units.map(() => [0, 0]);
    let pushed = 0;
    const order = units.map((_, i) => i).sort((a, b) => units[a] - units[b] || a - b);
    const sides = [
      [1, order.filter((i) => 2 * units[i] <= UNIT)],
      [-1, order.filter((i) => 2 * units[i] > UNIT).reverse()],
    ];
    sides.forEach(([side, ones]) => {
      const last = Array(rows).fill(-1e9);
      ones.forEach((i) => {
        let at = (units[i] / UNIT) * width * side; // from the right the picture is its mirror
        let row = last.findIndex((x) => at - x >= step);
        if (row < 0) {
          row = last.indexOf(Math.min(...last));
          pushed = Math.max(pushed, last[row] + step - at);
          at = last[row] + step;
        }
        last[row] = at;
        places[i] = [at * side, radius + row * step];
      });
    });
    return [places, pushed];
  };
  // Of all lanes at one radius, as large as they have place for.
  const dodged = (lanes, width, height) => {
    for (const radius of RADII) {
      const found = lanes.map((units) => placed(units, width, height, radius));
      if (found.every(([, pushed]) => pushed <= PUSHED) || radius === RADII[RADII.length - 1])
        return found.map(([places]) => [radius, places]);
    }
    return null;
  };
  const binned = (units) => {
    const bins = Array(BINS).fill(0);
    units.forEach((u) => {
      bins[Math.min(Math.floor((u * BINS) / UNIT), BINS - 1)] += 1;
    });
    return bins;
  };

  // The size of the drawing at a width.
  const ground = (width, lanes, two) => {
    const narrow = width < 620;
    const g = {
      width,
      narrow,
      left: narrow ? 4 : 128,
      right: narrow ? 8 : 12,
      top: narrow ? (two ? 70 : 28) : two ? 44 : 8,
      lane: two ? (narrow ? 80 : 96) : 64,
      gap: narrow ? (two ? 48 : 34) : two ? 30 : 14,
    };
    g.inner = g.width - g.left - g.right;
    g.base = (k) => g.top + (k + 1) * g.lane + k * g.gap;
    g.height = g.base(lanes - 1) + 44;
    g.x = (answer) => g.left + answer * g.inner;
    return g;
  };

  // What of a lane is drawn as bars, with their ends, and which cases are dots: of many the mistakes alone.
  const split = (lane) => {
    const even = (bars) => Array.from({ length: bars.length + 1 }, (_, b) => b / bars.length);
    if (lane.bins) return { bars: lane.bins, dots: [], ends: lane.ends || even(lane.bins) };
    const every = lane.units.map((_, i) => i);
    if (lane.units.length <= MOST) return { bars: [], dots: every, ends: [] };
    const wrong = every.filter((i) => lane.wrong[i]),
      dots = wrong.length > MOST ? [] : wrong,
      bars = binned(lane.units.filter((_, i) => !dots.length || !lane.wrong[i]));
    return { bars, dots, ends: even(bars) };
  };

  const laneOf = (g, lane, { bars, dots, ends, at }, { base, tallest, above, person, counts }) => {
    const n = lane.bins ? lane.bins.reduce((a, b) => a + b, 0) : lane.units.length,
      strong = "strong " + lane.kind,
      high = base - g.lane - 6,
      parts = g.narrow
        ? [text(0, base - g.lane - above, `${lane.name} (${n}${lane.beside || ""})`, strong)]
        : [
            text(0, base - 12, lane.name, strong),
            text(0, base + 3, page.words.plural(n, "case"), "soft"),
            text(0, base + 18, lane.beside || "", "soft"),
          ];
    parts.push(line("axis", g.left, g.width - g.right, base + 0.5));
    bars.forEach((k, b) => {
      const [x, height] = [g.x(ends[b]), (k / tallest) * g.lane];
      if (k) parts.push(rect(lane.kind, x + 0.5, base - height, g.x(ends[b + 1]) - x - 1, height));
    });
    const [radius, places] = at;
    dots.forEach((i, j) => {
      const place = { cx: g.left + places[j][0], cy: base - places[j][1] },
        kind = `case ${lane.kind}${lane.wrong[i] ? " wrong" : ""}`;
      parts.push(svg("circle", { class: kind, ...place, r: radius, "data-at": lane.at[i] }));
      if (lane.at[i] === person)
        parts.push(svg("circle", { class: "pin", ...place, r: radius + 4 }));
    });
    if (counts)
      parts.push(
        text(g.left + 6, high, counts[0], lane.kind + " halo"),
        text(g.width - g.right - 6, high, counts[1], lane.kind + " halo", "end"),
      );
    return parts;
  };

  // The sides of the threshold, behind the lanes; and its line, its value and what is on either side, before them.
  const sidesOf = (g, cut) => {
    const [top, height] = [g.top - 16, g.height - g.top - 22];
    return [
      rect("negw", g.left, top, cut - g.left, height),
      rect("posw", cut, top, g.left + g.inner - cut, height),
    ];
  };
  const thresholdOf = (g, cut, words, [below, above]) => {
    const y = g.narrow ? 34 : g.top - 28,
      middle = Math.min(Math.max(cut, g.left + 16), g.width - g.right - 16),
      parts = [
        line("threshold", cut, cut, g.narrow ? 40 : g.top - 22, g.height - 34),
        text(middle, y, words, "strong halo", "middle"),
      ];
    if (g.narrow)
      parts.push(
        text(0, 14, `\u2190 ${below}`, "soft"),
        text(g.width, 14, `${above} \u2192`, "soft", "end"),
      );
    if (!g.narrow && cut - g.left > 190)
      parts.push(text(cut - 28, y, `${below} \u2190`, "soft", "end"));
    if (!g.narrow && g.width - g.right - cut > 190)
      parts.push(text(cut + 28, y, `\u2192 ${above}`, "soft"));
    return [...parts, rect("drag", cut - 14, 0, 28, g.height - 30)];
  };

  // lanes: [{name, kind, units, wrong, at} or {name, kind, bins}]; `counts` per lane: [left, right].
  const draw = (width, lanes, { axis, threshold = null, counts = [], sides = [], person = -1 }) => {
    const two = threshold !== null,
      g = ground(width, lanes.length, two),
      parted = lanes.map(split),
      tallest = Math.max(0, ...parted.flatMap(({ bars }) => bars)),
      picture = page.draw.picture(width, g.height, "", { "aria-hidden": "true" });
    if (two) picture.append(...sidesOf(g, g.x(threshold)));
    const units = lanes.map((lane, k) => parted[k].dots.map((i) => lane.units[i])),
      placing = dodged(units, g.inner, g.lane);
    lanes.forEach((lane, k) => {
      const more = { base: g.base(k), tallest, above: two ? 24 : 8, person, counts: counts[k] };
      picture.append(...laneOf(g, lane, { ...parted[k], at: placing[k] }, more));
    });
    if (two)
      picture.append(...thresholdOf(g, g.x(threshold), page.words.threshold(threshold), sides));
    [0, 0.2, 0.4, 0.6, 0.8, 1].forEach((v) => {
      const anchor = v === 1 ? "end" : v ? "middle" : "start";
      picture.append(text(g.x(v), g.height - 26, v.toFixed(1), "soft", anchor));
    });
    picture.append(text(width - g.right, g.height - 6, axis, "soft", "end"));
    return { picture, ground: g, tallest };
  };
  return { draw, ground };
})();
