// The four small curves of the chosen model, each with the mark of the threshold.
page.curves = (() => {
  const { at, svg } = page,
    { line, text } = page.draw;
  const f = page.data.missed ? page.data.missed.frame : null;
  const x = (v) => f.left + v * (f.width - f.left - f.right);
  const y = (v) => f.top + (1 - v) * (f.height - f.top - f.bottom);
  const up = (v, top) => f.top + ((top - v) / (top + 0.1)) * (f.height - f.top - f.bottom);

  const fixed = (v) => Math.round(v * 10) / 10;
  const path = (kind, id, points) =>
    svg("path", {
      class: kind,
      id,
      d: points.length ? "M" + points.map(([a, b]) => `${fixed(a)} ${fixed(b)}`).join("L") : "",
    });
  const label = (words, left, low, end = "start", kind = "soft halo") =>
    text(left, low, words, kind, end);

  // Draws a chart anew: its axes, what stands in it, and a place for the mark of the threshold.
  const draw = (test, words, ticks, ...inside) => {
    const box = at("curves").querySelector(`[data-test="${test}"]`),
      [right, low] = [f.width - f.right, f.height - f.bottom];
    box.setAttribute("width", f.width);
    box.setAttribute("height", f.height);
    box.replaceChildren(
      ...[0, 0.5, 1].flatMap((t) => [
        line("axis", x(t), x(t), low, low + 4),
        label(String(t), x(t), low + 17, t === 1 ? "end" : "middle", "soft"),
      ]),
      line("axis", f.left, right, low),
      line("axis", f.left, f.left, f.top, low),
      label(words, right, f.height - 2, "end", "soft"),
      ...ticks.map(([place, words]) => label(words, f.left - 6, place + 4, "end", "soft")),
      ...inside,
      svg("g", { class: "here follows", id: `${test}-here` }),
    );
  };

  // Words on the base line of the precision stand off the curve: beneath it, else on top, right.
  const besideBase = (points, share) => {
    const left = f.left + 5,
      low = f.height - f.bottom - 5,
      beneath = y(share) + 15;
    const above = points.every(([recall, precision]) => !recall || precision >= share - 1e-9);
    if (beneath <= low && above) return [left, beneath, "start"];
    if (points.every(([recall, precision]) => recall <= 0.2 || precision < 0.8))
      return [f.width - f.right, f.top + 10, "end"];
    return [left, Math.min(beneath, low), "start"];
  };

  const called = (c, m, n, halves) => {
    const share = m / (m + n),
      [right, low] = [f.width - f.right, f.height - f.bottom];
    draw(
      "roc",
      "1 \u2212 specificity",
      halves,
      line("dash", x(0), x(1), y(0), y(1)),
      path("line", "roc-d", m && n ? c.steps.map(([k, j]) => [x(j / n), y(k / m)]) : []),
      label(c.roc.area, right, low - 24, "end", "strong halo"),
      label(c.roc.interval, right, low - 9, "end"),
    );
    const precision = c.steps
      .filter(([found, alarms]) => found + alarms)
      .map(([found, alarms]) => [m ? found / m : 0, found / (found + alarms)]);
    draw(
      "pr",
      "sensitivity (recall)",
      halves,
      line("dash", x(0), x(1), y(share)),
      path("line", "pr-d", m ? precision.map(([recall, hits]) => [x(recall), y(hits)]) : []),
      label(c.pr, ...besideBase(precision, share)),
    );
  };
  const calibration = (c, axis, halves) =>
    draw(
      "cal",
      axis.length > 26 ? "the model\u2019s answer" : axis, // a longer one would reach the next chart
      halves,
      line("dash", x(0), x(1), y(0), y(1)),
      label("more were", f.left + 6, f.top + 10),
      label("than it said", f.left + 6, f.top + 24),
      ...c.cal.flatMap(({ at: [told, value, low, high] }) => [
        line("interval", x(told), x(told), y(low), y(high)),
        svg("circle", { class: "dot", cx: x(told), cy: y(value), r: 4 }),
      ]),
    );
  const benefit = ({ at: grid, model, all, top }) => {
    const worth = (values) =>
        grid.map((t, i) => [x(t), up(values[i], top), values[i]]).filter(([, , v]) => v >= -0.1),
      zero = up(0, top);
    draw(
      "nb",
      "threshold",
      [
        [f.top, top.toFixed(1)],
        [zero, "0"],
      ],
      line("axis", x(0), x(1), zero),
      path("dash", "nb-all", worth(all)),
      path("line", "nb-d", worth(model)),
      label("call nobody", f.left + 5, zero - 5),
      label("dashed: call everyone", f.left + 5, f.height - f.bottom - 6),
    );
  };
  const show = (c, axis) => {
    const halves = [1, 0.5, 0].map((v) => [y(v), String(v)]);
    called(c, ...c.steps[c.steps.length - 1], halves);
    calibration(c, axis, halves);
    if (c.nb) benefit(c.nb);
    at("like").tBodies[0].replaceChildren(...c.cal.map(({ cells }) => page.row(cells)));
  };

  const mark = (place, cx, cy, words) => {
    const right = cx > f.width - f.right - 34;
    at(place).replaceChildren(
      ...(cx === null
        ? []
        : [
            svg("circle", { class: "mark-here", cx, cy, r: 4.5 }),
            label(
              words,
              right ? cx - 8 : cx + 8,
              Math.min(cy + 14, f.height - f.bottom - 4),
              right ? "end" : "start",
              "strong halo",
            ),
          ]),
    );
  };
  // Where a threshold t with these counts stands on each curve of a model.
  const marks = (c, t, n) => {
    const words = page.words.threshold(t);
    mark(
      "roc-here",
      x(n.alarms / (n.alarms + n.cleared)),
      y(n.found / (n.found + n.missed)),
      words,
    );
    if (n.found + n.alarms)
      mark("pr-here", x(n.found / (n.found + n.missed)), y(n.found / (n.found + n.alarms)), words);
    else mark("pr-here", null);
    at("cal-here").replaceChildren(
      line("threshold", x(t), x(t), f.top, f.height - f.bottom),
      label(
        words,
        t > 0.8 ? x(t) - 5 : x(t) + 5,
        f.height - f.bottom - 6,
        t > 0.8 ? "end" : "start",
        "strong halo",
      ),
    );
    const { at: grid, model: worth, top } = c.nb,
      near = grid.reduce((a, b, i) => (Math.abs(b - t) < Math.abs(grid[a] - t) ? i : a), 0);
    if (worth[near] >= -0.1) mark("nb-here", x(t), up(worth[near], top), words);
    else mark("nb-here", null);
  };
  return { show, marks };
})();
