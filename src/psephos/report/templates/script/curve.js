// Accuracy against the number of columns: a line a model, that of the model being read with its intervals.
(() => {
  const { at, data, hub, svg } = page;
  if (!data.curve) return;
  const { again, chart, clamp, scale, write } = page.axis,
    { count } = page.words,
    { lines, measure } = data.curve,
    host = at("curve-lines"),
    every = lines.flatMap(({ points }) => points),
    most = Math.max(2, ...every.map(([columns]) => columns)),
    scores = every.map(([, score]) => score),
    least = Math.min(...scores),
    best = Math.max(...scores),
    beyond = Math.max(0.25 * (best - least), 0.02 * Math.abs(best), 1e-9);

  const draw = (width) => {
    const height = 340,
      left = 46,
      right = width - 14,
      top = 32,
      bottom = height - 48,
      x = (columns) =>
        left + 14 + ((right - left - 28) * Math.log2(Math.max(columns, 1))) / Math.log2(most),
      up = scale({ low: least - beyond, high: best + beyond }, bottom, top),
      y = (score) => clamp(up.x(score), top, bottom),
      text = (tx, ty, words, anchor = "end", kind = "soft") =>
        svg("text", { class: kind, x: tx, y: ty, "text-anchor": anchor }, words),
      line = (kind, x1, x2, y1, y2 = y1) => svg("line", { class: kind, x1, x2, y1, y2 }),
      box = svg("svg", {
        class: "curve",
        width,
        height,
        role: "img",
        "aria-label": `${measure} against the number of columns, a line for each model; the table below holds the same numbers.`,
      });
    up.ticks.forEach((score) =>
      box.append(line("grid", left, right, y(score)), text(left - 8, y(score) + 4, write(score))),
    );
    for (let k = 1; k <= most; k *= width < 420 ? 4 : 2)
      box.append(
        line("axis", x(k), x(k), bottom, bottom + 5),
        text(x(k), bottom + 20, count(k), "middle"),
      );
    box.append(
      line("axis", left, right, bottom),
      text(right, height - 6, "columns (logarithmic)"),
      text(0, 14, `${measure} on held-out cases`, "start"),
    );
    const key = hub.get("model");
    [...lines]
      .sort((a, b) => (a.key === key) - (b.key === key))
      .forEach(({ key: own, label, points }) => {
        const chosen = own === key,
          group = svg("g", { class: `curve-line${chosen ? " chosen" : ""}`, "data-model": own });
        group.dataset.test = "curve-line";
        const path = points.map(([columns, score]) => `${x(columns)} ${y(score)}`).join("L");
        group.append(
          svg("title", {}, label),
          svg("path", { class: "hit", d: `M${path}` }),
          svg("path", { d: `M${path}` }),
        );
        points.forEach(([columns, score, half, knee]) => {
          if (chosen && half)
            group.append(
              line("interval", x(columns), x(columns), y(score - half), y(score + half)),
            );
          if (chosen || knee)
            group.append(
              svg("circle", {
                class: knee ? "dot" : "dot open",
                cx: x(columns),
                cy: y(score),
                r: chosen ? 4.4 : 3,
              }),
            );
        });
        if (chosen) {
          const [columns, score] = points[points.length - 1];
          group.append(text(x(columns), y(score) - 10, label, "end", "strong halo"));
        }
        group.addEventListener("click", () => hub.set("model", own));
        box.append(group);
      });
    return box;
  };
  host.append(chart(draw));
  hub.on("model", () => again(host));
})();
