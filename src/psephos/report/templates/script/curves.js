// The small curves of the chosen model, each with a mark at the threshold.
page.curves = (() => {
  const { at, svg } = page,
    { circle, ground, line, overlap, path, text, through } = page.draw,
    f = page.data.missed?.frame || {},
    [left, right, top, bottom] = [f.left, f.width - f.right, f.top, f.height - f.bottom],
    x = (v) => left + v * (right - left),
    y = (v) => bottom - v * (bottom - top);
  const label = (words, x, y, end = "start", kind = "soft halo") => text(x, y, words, kind, end);

  // Redraws a chart: its axes, its content, and the mark of the threshold.
  const draw = (test, words, up, mark, ...inside) => {
    const box = at("curves").querySelector(`[data-test="${test}"]`),
      across = [0, 0.5, 1].map((v) => [x(v), String(v)]),
      here = svg("g", { class: "here follows", id: `${test}-here` }, ...mark);
    box.setAttribute("width", f.width);
    box.setAttribute("height", f.height);
    box.replaceChildren(
      ...ground({ left, right, bottom }, across, up, [words, ""]),
      ...inside,
      here,
    );
    if (here.querySelector(".mark-here")) settle(box, ...here.children);
  };
  // A mark on a curve, with its threshold.
  const mark = (cx, cy, words) => [
    circle("mark-here", cx, cy, 4.5),
    label(words, cx, cy, "start", "strong halo"),
  ];
  // The words of a mark are below or above it, on its right or left: where they overlap least.
  const settle = (box, dot, own) => {
    const [cx, cy] = ["cx", "cy"].map((name) => Number(dot.getAttribute(name))),
      ends = ({ x, y, width, height }) => [x, y, x + width, y + height],
      others = [...box.querySelectorAll("text")].filter((one) => one !== own),
      taken = others.map((one) => ends(one.getBBox()));
    const sides = cx > right - 34 ? [-8, 8] : [8, -8],
      places = [Math.min(cy + 14, bottom - 4), Math.max(cy - 8, top + 8)].flatMap((y) =>
        sides.map((by) => ({ x: cx + by, y, "text-anchor": by < 0 ? "end" : "start" })),
      );
    const put = (place) => Object.entries(place).forEach((one) => own.setAttribute(...one));
    const covered = places.map((place) => {
      put(place);
      return taken.reduce((sum, one) => sum + overlap(ends(own.getBBox()), one), 0);
    });
    put(places[covered.indexOf(Math.min(...covered))]);
  };

  // Words on the base line of the precision are beside the curve: below it, else at the top right.
  const besideBase = (points, share) => {
    const beneath = y(share) + 15,
      low = bottom - 5,
      above = points.every(([recall, precision]) => !recall || precision >= share - 1e-9);
    if (beneath <= low && above) return [left + 5, beneath, "start"];
    if (points.every(([recall, precision]) => recall <= 0.2 || precision < 0.8))
      return [right, top + 10, "end"];
    return [left + 5, Math.min(beneath, low), "start"];
  };

  const halves = [1, 0.5, 0].map((v) => [y(v), String(v)]);
  const called = (c, now) => {
    const [m, n] = c.steps.at(-1),
      share = m / (m + n),
      some = now && now.n.found + now.n.alarms;
    draw(
      "roc",
      "1 \u2212 specificity",
      halves,
      now ? mark(x(now.n.alarms / n), y(now.n.found / m), now.words) : [],
      line("dash", x(0), x(1), y(0), y(1)),
      path("line", through(m && n ? c.steps.map(([k, j]) => [x(j / n), y(k / m)]) : []), {
        id: "roc-d",
      }),
      label(c.roc.area, right, bottom - 24, "end", "strong halo"),
      label(c.roc.interval, right, bottom - 9, "end"),
    );
    const points = c.steps
      .filter(([found, alarms]) => found + alarms)
      .map(([found, alarms]) => [m ? found / m : 0, found / (found + alarms)]);
    draw(
      "pr",
      "sensitivity (recall)",
      halves,
      some ? mark(x(now.n.found / m), y(now.n.found / some), now.words) : [],
      line("dash", x(0), x(1), y(share)),
      path("line", through(m ? points.map(([recall, hits]) => [x(recall), y(hits)]) : []), {
        id: "pr-d",
      }),
      label(c.pr, ...besideBase(points, share)),
    );
  };
  const calibration = (c, axis, now) => {
    const late = now?.t > 0.8,
      under = now?.t < 0.55, // the words would be on the line of the threshold
      [place, first, end] = under ? [right, bottom - 20, "end"] : [left + 6, top + 10, "start"],
      beside = (words, i) => label(words, place, first + 14 * i, end);
    draw(
      "cal",
      axis.length > 26 ? "the model\u2019s answer" : axis, // longer words would reach the next chart
      halves,
      now
        ? [
            line("threshold", x(now.t), x(now.t), top, bottom),
            label(
              now.words,
              x(now.t) + (late ? -5 : 5),
              under ? top + 10 : bottom - 6,
              late ? "end" : "start",
              "strong halo",
            ),
          ]
        : [],
      line("dash", x(0), x(1), y(0), y(1)),
      ...[under ? "fewer were" : "more were", "than answered"].map(beside),
      ...c.cal.flatMap(({ at: [mean, value, low, high] }) => [
        line("interval", x(mean), x(mean), y(low), y(high)),
        circle("dot", x(mean), y(value), 4),
      ]),
    );
  };
  const benefit = ({ at: grid, model, all, top: most }, now) => {
    const up = (v) => y((v + 0.1) / (most + 0.1)),
      worth = (values) =>
        through(grid.map((t, i) => [x(t), up(values[i])]).filter((_, i) => values[i] >= -0.1)),
      near = grid.reduce((a, b, i) => (Math.abs(b - now.t) < Math.abs(grid[a] - now.t) ? i : a), 0);
    draw(
      "nb",
      "threshold",
      [
        [top, most.toFixed(1)],
        [up(0), "0"],
      ],
      model[near] >= -0.1 ? mark(x(now.t), up(model[near]), now.words) : [],
      line("axis", x(0), x(1), up(0)),
      path("dash", worth(all), { id: "nb-all" }),
      path("line", worth(model), { id: "nb-d" }),
      label("call nobody", left + 5, up(0) - 5),
      label("dashed: call everyone", right, top + 10, "end"),
    );
  };
  // The curves of a model; `now` is the threshold for two classes, in words, and the counts there.
  const show = (c, axis, now = null) => {
    called(c, now);
    calibration(c, axis, now);
    if (now) benefit(c.nb, now);
    page.fillBody(
      "like",
      c.cal.map(({ cells }) => page.row(cells)),
    );
  };
  return { show };
})();
