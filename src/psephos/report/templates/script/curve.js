// Accuracy against the number of columns: a line a model, that of the model being read with its intervals.
(() => {
  const { at, data, hub, svg } = page;
  if (!data.curve) return;
  const { again, chart, clamp, scale, write } = page.axis,
    { line, picture, text, tip } = page.draw,
    { count } = page.words,
    { lines, measure } = data.curve,
    host = at("curve-lines"),
    every = lines.flatMap(({ points }) => points),
    most = Math.max(2, ...every.map(([columns]) => columns)),
    scores = every.map(([, score]) => score),
    least = Math.min(...scores),
    best = Math.max(...scores),
    beyond = Math.max(0.25 * (best - least), 0.02 * Math.abs(best), 1e-9),
    [floor, ceiling] = [least - beyond, best + beyond];

  // Where columns and scores stand in a picture of this width.
  const frameOf = (width) => {
    const [left, right, top, bottom] = [46, width - 14, 32, 292],
      up = scale({ low: floor, high: ceiling }, bottom, top);
    return {
      ...{ left, right, bottom, ticks: up.ticks },
      x: (columns) =>
        left + 14 + ((right - left - 28) * Math.log2(Math.max(columns, 1))) / Math.log2(most),
      y: (score) => clamp(up.x(score), top, bottom),
    };
  };
  const axes = ({ left, right, bottom, ticks, x, y }, width) => {
    const every = width < 420 ? 4 : 2,
      powers = Array.from({ length: 64 }, (_, i) => every ** i).filter((k) => k <= most);
    return [
      ...ticks.flatMap((score) => [
        line("grid", left, right, y(score)),
        text(left - 8, y(score) + 4, write(score), "soft", "end"),
      ]),
      ...powers.flatMap((k) => [
        line("axis", x(k), x(k), bottom, bottom + 5),
        text(x(k), bottom + 20, count(k), "soft", "middle"),
      ]),
      line("axis", left, right, bottom),
      text(right, bottom + 42, "columns (logarithmic)", "soft", "end"),
      text(0, 14, `${measure} on held-out cases`),
    ];
  };
  // The line of a model: that of the chosen one with intervals and its name, of the others the knee alone.
  const lineOf = ({ x, y }, { key, label, points }, chosen) => {
    const group = svg("g", { class: `curve-line${chosen ? " chosen" : ""}`, "data-model": key }),
      d = `M${points.map(([columns, score]) => `${x(columns)} ${y(score)}`).join("L")}`,
      [columns, score] = points[points.length - 1];
    group.dataset.test = "curve-line";
    group.append(svg("title", {}, label), svg("path", { class: "hit", d }), svg("path", { d }));
    points.forEach(([k, value, half, knee]) => {
      const place = { cx: x(k), cy: y(value), r: chosen ? 4.4 : 3 };
      if (chosen && half) {
        const [low, high] = [y(value - half), y(value + half)];
        group.append(line("interval", x(k), x(k), low, high));
        if (value - half < floor) group.append(tip(x(k), low, 0, 1));
        if (value + half > ceiling) group.append(tip(x(k), high, 0, -1));
      }
      if (chosen || knee)
        group.append(svg("circle", { class: knee ? "dot" : "dot open", ...place }));
    });
    if (chosen) group.append(text(x(columns), y(score) - 10, label, "strong halo", "end"));
    group.addEventListener("click", () => hub.set("model", key));
    return group;
  };
  const draw = (width) => {
    const key = hub.get("model"),
      frame = frameOf(width),
      words = `${measure} against the number of columns, a line for each model; the table below holds the same numbers.`,
      box = picture(width, 340, words, { class: "curve" });
    box.append(...axes(frame, width));
    [...lines]
      .sort((a, b) => (a.key === key) - (b.key === key))
      .forEach((one) => box.append(lineOf(frame, one, one.key === key)));
    return box;
  };
  host.prepend(chart(draw));
  hub.on("model", () => again(host));
})();
