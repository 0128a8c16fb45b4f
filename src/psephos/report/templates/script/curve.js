// Accuracy against the number of columns: a line per model, that of the chosen model with intervals.
(() => {
  const { at, data, hub, svg } = page;
  if (!data.curve) return;
  const { again, chart, clamp, scale, write } = page.axis,
    { circle, ground, line, path, picture, text, through, tip } = page.draw,
    { lines, measure } = data.curve,
    host = at("curve-lines"),
    every = lines.flatMap(({ points }) => points),
    most = Math.max(2, ...every.map(([columns]) => columns)),
    scores = every.map(([, score]) => score),
    [least, best] = [Math.min(...scores), Math.max(...scores)],
    beyond = Math.max(0.25 * (best - least), 0.02 * Math.abs(best), 1e-9),
    [floor, ceiling] = [least - beyond, best + beyond];

  // The scales of columns and scores in a picture of this width.
  const frameOf = (width) => {
    const [left, right, top, bottom] = [46, width - 14, 32, 292],
      up = scale({ low: floor, high: ceiling }, bottom, top),
      part = (columns) => Math.log2(Math.max(columns, 1)) / Math.log2(most),
      x = (columns) => left + 14 + (right - left - 28) * part(columns);
    return { left, right, bottom, ticks: up.ticks, x, y: (v) => clamp(up.x(v), top, bottom) };
  };
  const axes = (frame, width) => {
    const { ticks, x, y } = frame,
      every = width < 420 ? 4 : 2,
      powers = Array.from({ length: 64 }, (_, i) => every ** i).filter((k) => k <= most),
      across = powers.map((k) => [x(k), page.words.count(k)]),
      up = ticks.map((score) => [y(score), write(score)]);
    return ground(frame, across, up, ["columns (logarithmic)", `${measure} on held-out cases`]);
  };
  // The line of a model: with intervals and its name for the chosen one, with only the knee for the others.
  const lineOf = ({ x, y }, { key, label, points }, chosen) => {
    const group = svg("g", { class: `curve-line${chosen ? " chosen" : ""}`, "data-model": key }),
      d = through(points.map(([columns, score]) => [x(columns), y(score)])),
      [columns, score] = points.at(-1);
    group.dataset.test = "curve-line";
    group.append(svg("title", {}, label), path("hit", d), path("", d));
    points.forEach(([k, value, half, knee]) => {
      if (chosen && half) {
        const [low, high] = [y(value - half), y(value + half)];
        group.append(line("interval", x(k), x(k), low, high));
        if (value - half < floor) group.append(tip(x(k), low, 0, 1));
        if (value + half > ceiling) group.append(tip(x(k), high, 0, -1));
      }
      if (chosen || knee)
        group.append(circle(knee ? "dot" : "dot open", x(k), y(value), chosen ? 4.4 : 3));
    });
    if (chosen) group.append(text(x(columns), y(score) - 10, label, "strong halo", "end"));
    group.addEventListener("click", () => hub.set("model", key));
    return group;
  };
  const draw = (width) => {
    const key = hub.get("model"),
      frame = frameOf(width),
      words = `${measure} against the number of columns, a line for each model; the table below holds the same numbers.`,
      box = picture(width, 340, words, { class: "curve" }),
      upon = [...lines].sort((a, b) => (a.key === key) - (b.key === key));
    box.append(...axes(frame, width), ...upon.map((one) => lineOf(frame, one, one.key === key)));
    return box;
  };
  host.prepend(chart(draw));
  hub.on("model", () => again(host));
})();
