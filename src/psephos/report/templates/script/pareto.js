// Accuracy against columns: one mark a model.
page.pareto = (() => {
  const { svg } = page,
    { line, near: round, picture, text } = page.draw,
    { count, number } = page.words;
  // Where the axes of a picture of this width stand, and how wide a letter is.
  const frameOf = (width) => {
    const narrow = width < 500,
      [left, height] = narrow ? [40, 440] : [46, 430];
    return {
      narrow,
      width,
      height,
      left,
      right: width - 16,
      top: 34,
      bottom: height - 50,
      letter: 6.9,
    };
  };
  const inside = (v, low, high) => Math.min(Math.max(v, low), high);

  // 0 has a place of its own, 0 to 1 is linear, from 1 on the scale is logarithmic.
  const columnScale = (start, end, top) => {
    const step = 0.11 * (end - start);
    return (columns) =>
      columns <= 1
        ? start + step * Math.max(columns, 0)
        : start + step + (end - start - step) * Math.min(Math.log(columns) / Math.log(top), 1);
  };

  // Where the axis of scores starts, and the step of its ticks. Models that read nothing do not count if
  // they would press the others together: they then stand at the foot, with their score beside them.
  const scoreRange = (points, constant) => {
    const reading = points
      .filter((p) => p.columns > 0)
      .map((p) => Math.min(p.score, ...p.fits.map(([, score]) => score)));
    let low = reading.length ? Math.min(...reading) : constant;
    if (low - constant < 0.2 || !reading.length)
      low = Math.min(low, constant, ...points.map((p) => p.score));
    const step = low < 0.8 ? 0.1 : 0.05;
    return [Math.max(round(Math.floor((low - 0.004) / step) * step), 0), step];
  };

  // Ticks at 0, 1 and round numbers, and the number of columns at the end.
  const columnTicks = (across, n, frame) => {
    const decades = Math.log10(Math.max(n, 2)),
      steps = decades <= 2.2 ? [1, 2, 5] : decades <= 3.2 && !frame.narrow ? [1, 3] : [1];
    const values = Array.from({ length: Math.ceil(decades) + 1 }, (_, k) =>
      steps.map((s) => s * 10 ** k),
    ).flat();
    const width = frame.letter * (count(n).length + 2.5);
    return [0, ...values.filter((v) => v < n && across(n) - across(v) > width), n].map((v) => ({
      x: across(v),
      text: count(v),
    }));
  };

  // A stair along the frontier, for nothing lies between two models.
  const front = (points, across, up) =>
    points
      .filter((p) => p.frontier)
      .sort((a, b) => a.columns - b.columns || a.score - b.score)
      .map((p, i) => {
        const [x, y] = [round(across(p.columns)), round(up(p.score))];
        return i ? `H${x}V${y}` : `M${x} ${y}`;
      })
      .join("");

  // Beside a mark, from near to far.
  const AWAY = [0, -14, 14, -28, 28, -42, 42, -56, 56, -70, 70, -84, 84].flatMap((dy) => [
    [11, 4 + dy, "start"],
    [-11, 4 + dy, "end"],
  ]);
  AWAY.push([0, -12, "middle"], [0, 20, "middle"]);
  const overlap = (a, b) =>
    Math.max(Math.min(a[2], b[2]) - Math.max(a[0], b[0]), 0) *
    Math.max(Math.min(a[3], b[3]) - Math.max(a[1], b[1]), 0);
  const about = ({ x, y }, r) => [x - r, y - r, x + r, y + r];

  // Each label where it covers least; readable models choose first.
  const labels = (marks, frame) => {
    const taken = marks.map((m) => about(m, 6)),
      own = marks.filter((m) => m.readable),
      folds = own.flatMap((m) => m.fits.map((fit) => about(fit, 3))),
      spans = own
        .filter((m) => m.span)
        .map(({ y, span: [low, high] }) => [low - 3, y + 7, high + 3, y + 17]);
    const order = marks
      .map((_, i) => i)
      .sort((i, j) => marks[j].readable - marks[i].readable || i - j);
    order.forEach((i) => {
      const m = marks[i],
        width = frame.letter * (m.label.length + 1); // the chosen name is bold
      let least = Infinity,
        best = null;
      AWAY.forEach(([dx, dy, anchor], rank) => {
        const x = m.x + dx,
          y = m.y + dy,
          left = x - { start: 0, middle: width / 2, end: width }[anchor],
          box = [left, y - 10, left + width, y + 3];
        const beyond =
          Math.max(frame.left + 2 - box[0], box[2] - frame.right - 10, 0) +
          Math.max(frame.top - 10 - box[1], box[3] - frame.bottom + 2, 0);
        const far = Math.abs(dy) > 16,
          leader = [Math.min(m.x, x), Math.min(m.y, y), Math.max(m.x, x), Math.max(m.y, y)],
          sum = (boxes, own = box) =>
            boxes.reduce((total, other) => total + overlap(own, other), 0),
          crossed = far ? sum(taken.slice(marks.length), leader) : 0;
        const covered =
          sum(taken.filter((_, j) => j !== i)) + crossed + sum([...folds, ...spans]) / 2;
        const cost = 3 * covered + 40 * beyond + 3 * rank;
        if (cost < least) {
          least = cost;
          best = { x, y, anchor, far, box };
        }
      });
      m.text = best;
      taken.push(best.box);
    });
  };

  // The step of 1, 2 or 5 times a power of ten that divides a range into six parts or fewer.
  const roundStep = (range) => {
    const unit = 10 ** Math.floor(Math.log10(range / 6));
    return [1, 2, 5, 10].map((k) => k * unit).find((step) => range / step <= 6 + 1e-9);
  };

  // Where everything stands in a frame; ends are the worst and the best value of a measure of choice.
  const plan = ({ points, n_columns: n, constant, ends }, frame) => {
    const [low, step] = ends
        ? [ends[0], roundStep(Math.abs(ends[1] - ends[0]))]
        : scoreRange(points, constant),
      high = ends ? ends[1] : 1,
      across = columnScale(frame.left + 16, frame.right - 8, Math.max(n, 2));
    const digits = Math.max(-Math.floor(Math.log10(step) + 1e-9), 0);
    const part = (score) => (score - low) / (high - low);
    const up = (score) => frame.bottom - inside(part(score), 0, 1) * (frame.bottom - frame.top);
    const marks = points.map((p) => ({
      ...p,
      label: part(p.score) <= 0 ? `${p.label} \u2193 ${number(p.score, 2)}` : p.label,
      x: across(p.columns),
      y: up(p.score),
      span: p.fits.length
        ? [Math.min, Math.max].map((f) => across(f(...p.fits.map(([c]) => c))))
        : null,
      fits: p.fits.map(([c, score]) => ({ x: across(c), y: up(score) })),
      final: p.final === null ? null : across(p.final),
    }));
    labels(marks, frame);
    const first = Math.ceil(Math.min(low, high) / step - 1e-9);
    const last = Math.floor(Math.max(low, high) / step + 1e-9);
    const ticks = Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
    return {
      marks,
      columns: columnTicks(across, n, frame),
      scores: ticks.map((v) => ({ y: up(v), text: number(v, digits) })),
      constant: part(constant) >= 0 ? up(constant) : null,
      front: front(points, across, up),
    };
  };

  const axes = (f, made, data) => [
    ...made.scores.flatMap(({ y, text: words }) => [
      line("grid", f.left, f.right, y),
      text(f.left - 8, y + 4, words, "soft", "end"),
    ]),
    ...made.columns.flatMap(({ x, text: words }) => [
      line("axis", x, x, f.bottom, f.bottom + 5),
      text(x, f.bottom + 20, words, "soft", "middle"),
    ]),
    line("axis", f.left, f.right, f.bottom),
    ...(made.constant === null
      ? []
      : [
          line("chance", f.left, f.right, made.constant),
          text(
            f.right,
            made.constant - 5,
            `constant prediction ${number(data.constant, 2)}`,
            "soft halo",
            "end",
          ),
        ]),
    text(f.right, f.height - 6, "columns used (logarithmic from 1)", "soft", "end"),
    text(0, 14, `${data.measure} on held-out cases`),
  ];
  const markOf = (m, chosen) => {
    const at = { cx: round(m.x), cy: round(m.y) },
      kind = `mark${m.readable ? " readable" : ""}${chosen ? " chosen" : ""}`,
      mark = svg("g", { class: kind, "data-model": m.key }, svg("title", {}, m.sentence));
    Object.assign(mark.dataset, { test: "point", columns: m.columns, score: m.score });
    if (m.text.far) mark.append(line("axis", m.x, m.text.x, m.y, m.text.y - 4));
    mark.append(
      svg("circle", { class: "hit", ...at, r: 12 }),
      svg("circle", { class: "dot", ...at, r: 4.6 }),
      text(m.text.x, m.text.y, m.label, "halo", m.text.anchor),
    );
    return mark;
  };
  // Of the model being read: its folds, the span of their columns, and the fit to all cases.
  const ownOf = (m, f) => {
    const own = svg("g", { class: "own", "data-model": m.key, "data-test": "own" }),
      path = (kind, d) => own.append(svg("path", { class: kind, d }));
    path("fit", m.fits.map(({ x, y }) => `M${round(x)} ${round(y)}h0`).join(""));
    if (m.span) {
      const [low, high] = m.span.map(round);
      path("span", `M${low} ${round(m.y + 9)}v6m0 -3H${high}m0 -3v6`);
    }
    if (m.final !== null) path("final", `M${round(m.final)} ${f.bottom - 1}l-5.5 -9h11z`);
    return own;
  };
  // What is drawn of the model of this key besides: its folds and its columns.
  const draw = (data, key, width) => {
    const frame = frameOf(width),
      made = plan(data, frame),
      own = made.marks.filter((m) => m.key === key),
      [first, ...rest] = data.measure,
      words = `${first.toUpperCase()}${rest.join("")} against columns used, one mark for each model; the table below holds the same numbers.`,
      box = picture(width, frame.height, words, { class: "pareto" });
    box.append(...axes(frame, made, data));
    if (made.front) box.append(svg("path", { class: "front", d: made.front }));
    box.append(...made.marks.map((m) => markOf(m, own.includes(m))));
    box.append(...own.map((m) => ownOf(m, frame)));
    return box;
  };
  return { draw, frameOf, plan };
})();
