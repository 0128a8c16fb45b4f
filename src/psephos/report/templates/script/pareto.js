// Accuracy against columns: one mark per model.
page.pareto = (() => {
  const { svg } = page,
    { box, circle, ground, line, overlap, path, picture, text, wide } = page.draw,
    { count, number } = page.words;
  // The positions of the axes in a picture of this width, and the width of a letter.
  const frameOf = (width) => {
    const narrow = width < 500,
      [left, height] = narrow ? [40, 440] : [46, 430];
    const size = { narrow, width, height, letter: 6.9 };
    return { ...size, left, right: width - 16, top: 34, bottom: height - 50 };
  };
  const inside = (v, low, high) => Math.min(Math.max(v, low), high);

  // 0 has a separate area, 0 to 1 is linear, and from 1 on the scale is logarithmic.
  const columnScale = (start, end, top) => {
    const step = 0.11 * (end - start);
    return (columns) =>
      columns <= 1
        ? start + step * Math.max(columns, 0)
        : start + step + (end - start - step) * Math.min(Math.log(columns) / Math.log(top), 1);
  };

  // The start of the axis of scores, and the step of its ticks; models without a column may lie below it.
  const scoreRange = (points, constant) => {
    const reading = points
      .filter((p) => p.columns > 0)
      .map((p) => Math.min(p.score, ...p.fits.map(([, score]) => score)));
    let low = reading.length ? Math.min(...reading) : constant;
    if (low - constant < 0.2 || !reading.length)
      low = Math.min(low, constant, ...points.map((p) => p.score));
    const step = low < 0.8 ? 0.1 : 0.05;
    return [Math.max(Math.floor((low - 0.004) / step) * step, 0), step];
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

  // A staircase along the frontier, since no model lies between two.
  const front = (points, across, up) =>
    points
      .filter((p) => p.frontier)
      .sort((a, b) => a.columns - b.columns || a.score - b.score)
      .map((p, i) => {
        const [x, y] = [across(p.columns), up(p.score)].map((v) => v.toFixed(2));
        return i ? `H${x}V${y}` : `M${x} ${y}`;
      })
      .join("");

  // Positions of labels beside a mark, from near to far.
  const AWAY = [0, -14, 14, -28, 28, -42, 42, -56, 56, -70, 70, -84, 84].flatMap((dy) => [
    [11, 4 + dy, "start"],
    [-11, 4 + dy, "end"],
  ]);
  AWAY.push([0, -12, "middle"], [0, 20, "middle"]);
  const about = ({ x, y }, r) => [x - r, y - r, x + r, y + r];

  // The distance of a mark from the middle line of a label, and whether two lines cross.
  const distance = ({ x, y }, [left, top, right, bottom]) =>
    Math.hypot(Math.max(left - x, 0, x - right), (top + bottom) / 2 - y);
  const side = ([ax, ay], [bx, by], [x, y]) => (bx - ax) * (y - ay) - (by - ay) * (x - ax);
  const apart = ([a, b], c, d) => side(a, b, c) * side(a, b, d) < 0;
  const cross = (one, other) => apart(one, ...other) && apart(other, ...one);
  const corner = (area, i, j) => [area[i], area[j]];
  const through = (ends, area) =>
    [1, 3].some((j) => cross(ends, [corner(area, 0, j), corner(area, 2, 4 - j)])); // a diagonal

  // Each label where it overlaps least, near its own mark; a line joins them if it is far or nearer to another.
  const labels = (marks, frame, written) => {
    const taken = marks.map((m) => about(m, 6)),
      own = marks.filter((m) => m.readable),
      folds = own.flatMap((m) => m.fits.map((fit) => about(fit, 3))),
      finals = own.map(({ final }) => [final - 6, frame.bottom - 10, final + 6, frame.bottom]),
      spans = own
        .filter((m) => m.span)
        .map(({ y, span: [low, high] }) => [low - 3, y + 7, high + 3, y + 17]);
    const sum = (boxes, area) => boxes.reduce((all, other) => all + overlap(area, other), 0);
    const placeOf = (m, i, rank) => {
      const [dx, dy, anchor] = AWAY[rank],
        [x, y] = [m.x + dx, m.y + dy],
        area = box(x, y, anchor, wide(m.label) + 4),
        placed = marks.flatMap(({ text }, j) => (text && j !== i ? [text] : [])),
        named = placed.map((one) => one.box),
        joined = placed.filter((one) => one.far).map((one) => one.ends),
        near = Math.min(...marks.filter((one) => one !== m).map((one) => distance(one, area))),
        nearer = Math.max(distance(m, area) + 2 - near, 0),
        far = Math.abs(dy) > 16 || nearer > 0,
        ends = [
          [m.x, m.y],
          [x, y - 4],
        ];
      const beyond =
          Math.max(frame.left + 2 - area[0], area[2] - frame.right - 10, 0) +
          Math.max(frame.top - 10 - area[1], area[3] - frame.bottom + 2, 0),
        others = [...written, ...finals, ...named],
        covered =
          sum(others, area) +
          4 * sum(taken.toSpliced(i, 1), area) +
          sum([...folds, ...spans], area) / 2,
        struck = joined.filter((one) => through(one, area) || (far && cross(one, ends))),
        under = far ? [...written, ...named].filter((one) => through(ends, one)) : [],
        crossed = 300 * (struck.length + under.length),
        cost = 3 * (covered + crossed + rank + 5 * nearer) + 40 * beyond;
      return { x, y, anchor, far, ends, box: area, cost };
    };
    const order = marks.map((_, i) => i);
    order.sort((i, j) => marks[i].y - marks[j].y || marks[i].x - marks[j].x);
    // again when all have a position
    [...order, ...order, ...order].forEach((i) => {
      const places = AWAY.map((_, rank) => placeOf(marks[i], i, rank));
      marks[i].text = places.reduce((a, b) => (b.cost < a.cost ? b : a));
    });
  };

  // The step of 1, 2 or 5 times a power of ten that divides a range into six parts or fewer.
  const roundStep = (range) => {
    const unit = 10 ** Math.floor(Math.log10(range / 6));
    return [1, 2, 5, 10].map((k) => k * unit).find((step) => range / step <= 6 + 1e-9);
  };

  // All positions in a frame; `ends` are the worst and the best value of a chosen measure.
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
    const stated = box(frame.right, up(constant) - 5, "end", 150); // its words
    labels(marks, frame, part(constant) >= 0 ? [stated] : []);
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

  const axes = (f, made, { measure, constant }) => {
    const up = made.scores.map(({ y, text }) => [y, text]),
      across = made.columns.map(({ x, text }) => [x, text]),
      what = ["columns used (logarithmic from 1)", `${measure} on held-out cases`],
      words = `constant prediction ${number(constant, 2)}`;
    const parts = ground(f, across, up, what);
    if (made.constant === null) return parts;
    return [
      ...parts,
      line("chance", f.left, f.right, made.constant),
      text(f.right, made.constant - 5, words, "soft halo", "end"),
    ];
  };
  const markOf = (m, chosen) => {
    const kind = `mark${m.readable ? " readable" : ""}${chosen ? " chosen" : ""}`,
      mark = svg("g", { class: kind, "data-model": m.key }, svg("title", {}, m.sentence));
    Object.assign(mark.dataset, { test: "point", columns: m.columns, score: m.score });
    if (m.text.far) mark.append(line("axis", m.x, m.text.x, m.y, m.text.y - 4));
    mark.append(
      circle("hit", m.x, m.y, 12),
      circle("dot", m.x, m.y, 4.6),
      text(m.text.x, m.text.y, m.label, "halo", m.text.anchor),
    );
    return mark;
  };
  // For the chosen model: its folds, the range of their columns, and the fit to all cases.
  const ownOf = (m, f) => {
    const own = svg("g", { class: "own", "data-model": m.key, "data-test": "own" });
    own.append(path("fit", m.fits.map(({ x, y }) => `M${x} ${y}h0`).join("")));
    if (m.span) {
      const [low, high] = m.span;
      own.append(path("span", `M${low} ${m.y + 9}v6m0 -3H${high}m0 -3v6`));
    }
    if (m.final !== null) own.append(path("final", `M${m.final} ${f.bottom - 1}l-5.5 -9h11z`));
    return own;
  };
  // The additional marks of the model with this key: its folds and its columns.
  const draw = (data, key, width) => {
    const frame = frameOf(width),
      made = plan(data, frame),
      own = made.marks.filter((m) => m.key === key),
      [first, ...rest] = data.measure,
      words = `${first.toUpperCase()}${rest.join("")} against columns used, one mark for each model; the table below holds the same numbers.`,
      drawn = picture(width, frame.height, words, { class: "pareto" });
    drawn.append(...axes(frame, made, data));
    if (made.front) drawn.append(path("front", made.front));
    drawn.append(...made.marks.map((m) => markOf(m, own.includes(m))));
    drawn.append(...own.map((m) => ownOf(m, frame)));
    return drawn;
  };
  return { draw, frameOf, plan };
})();

// Clicking a mark or a row chooses the model of the page.
(() => {
  const { all, at, button, data, hub } = page,
    host = at("chart").firstElementChild;
  const draw = (width) => page.pareto.draw(data.chart, hub.get("model"), width);
  host.append(page.axis.chart(draw, 344));
  host.addEventListener("click", (event) => {
    const under = document.elementsFromPoint(event.clientX, event.clientY),
      label = under.find((one) => one.matches(".mark text")),
      near = (most) => page.nearest(all(".mark .dot", host), event, most),
      found = near(5) || label || near();
    if (found) hub.set("model", found.parentNode.dataset.model);
  });
  const rows = all("#results tbody tr");
  rows.forEach((row) => {
    const [head] = row.cells,
      choose = () => hub.set("model", row.dataset.model);
    head.replaceChildren(button(head.textContent.trim(), choose, "plain", { test: "choose" }));
    row.addEventListener("click", choose);
  });
  const show = (key) => {
    rows.forEach((row) => {
      const chosen = row.dataset.model === key;
      row.classList.toggle("chosen", chosen);
      row.querySelector("button").ariaPressed = String(chosen);
    });
    page.axis.again(host);
  };
  hub.on("model", show);
  show(hub.get("model"));
})();
