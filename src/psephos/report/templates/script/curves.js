// The four small curves of the chosen model, each with the mark of the threshold.
page.curves = (() => {
  const { at, svg } = page;
  const f = page.data.missed ? page.data.missed.frame : null;
  const x = (v) => f.left + v * (f.width - f.left - f.right);
  const y = (v) => f.top + (1 - v) * (f.height - f.top - f.bottom);
  const up = (v, top) => f.top + ((top - v) / (top + 0.1)) * (f.height - f.top - f.bottom);

  const fixed = (v) => Math.round(v * 10) / 10;
  const path = (id, points) =>
    at(id).setAttribute(
      "d",
      points.length ? "M" + points.map(([a, b]) => `${fixed(a)} ${fixed(b)}`).join("L") : "",
    );

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

  const show = (c) => {
    const [m, n] = c.steps[c.steps.length - 1],
      share = m / (m + n);
    path("roc-d", m && n ? c.steps.map(([found, alarms]) => [x(alarms / n), y(found / m)]) : []);
    at("roc-area").textContent = c.roc.area;
    at("roc-interval").textContent = c.roc.interval;
    const precision = c.steps
      .filter(([found, alarms]) => found + alarms)
      .map(([found, alarms]) => [m ? found / m : 0, found / (found + alarms)]);
    path("pr-d", m ? precision.map(([recall, right]) => [x(recall), y(right)]) : []);
    ["y1", "y2"].forEach((end) => at("pr-base").setAttribute(end, fixed(y(share))));
    at("pr-text").textContent = c.pr;
    besideBase(precision, share).forEach((value, i) =>
      at("pr-text").setAttribute(["x", "y", "text-anchor"][i], value),
    );
    at("cal-points").replaceChildren(
      ...c.cal.flatMap(({ at: [told, value, low, high] }) => [
        svg("line", { class: "interval", x1: x(told), x2: x(told), y1: y(low), y2: y(high) }),
        svg("circle", { class: "dot", cx: x(told), cy: y(value), r: 4 }),
      ]),
    );
    if (c.nb)
      [
        ["nb-d", c.nb.model],
        ["nb-all", c.nb.all],
      ].forEach(([id, worth]) =>
        path(
          id,
          c.nb.at
            .map((t, i) => [x(t), up(worth[i], c.nb.top), worth[i]])
            .filter(([, , value]) => value >= -0.1),
        ),
      );
    const rows = c.cal.map((p) => {
      const row = page.make("tr"),
        head = page.make("th", p.cells[0]);
      head.scope = "row";
      row.append(head, ...p.cells.slice(1).map((text) => page.make("td", text, "num")));
      return row;
    });
    at("like").tBodies[0].replaceChildren(...rows);
  };

  const mark = (place, cx, cy, words) => {
    const right = cx > f.width - f.right - 34;
    at(place).replaceChildren(
      ...(cx === null
        ? []
        : [
            svg("circle", { class: "mark-here", cx, cy, r: 4.5 }),
            svg(
              "text",
              {
                class: "strong halo",
                x: right ? cx - 8 : cx + 8,
                y: Math.min(cy + 14, f.height - f.bottom - 4),
                "text-anchor": right ? "end" : "start",
              },
              words,
            ),
          ]),
    );
  };
  // Where a threshold t with these counts stands on each curve of a model.
  const marks = (c, t, n, model) => {
    const words = page.words.threshold(t),
      all = n.found + n.missed + n.alarms + n.cleared;
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
      svg("line", { class: "threshold", x1: x(t), x2: x(t), y1: f.top, y2: f.height - f.bottom }),
      svg(
        "text",
        {
          class: "strong halo",
          x: t > 0.8 ? x(t) - 5 : x(t) + 5,
          y: f.height - f.bottom - 6,
          "text-anchor": t > 0.8 ? "end" : "start",
        },
        words,
      ),
    );
    const worth = (n.found - (n.alarms * t) / (1 - t)) / all;
    if (t < 1 && t <= 0.9 && worth >= -0.1)
      mark("nb-here", x(t), up(worth, model.curves.nb.top), words);
    else mark("nb-here", null);
  };
  return { show, marks };
})();
