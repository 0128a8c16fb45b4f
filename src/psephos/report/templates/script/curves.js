// The four small curves of the chosen model, each with the mark of the threshold.
page.curves = (() => {
  const { at, svg } = page;
  const f = page.data.missed ? page.data.missed.frame : null;
  const x = (v) => f.left + v * (f.width - f.left - f.right);
  const y = (v) => f.top + (1 - v) * (f.height - f.top - f.bottom);
  const up = (v, top) => f.top + ((top - v) / (top + 0.1)) * (f.height - f.top - f.bottom);

  const show = (c) => {
    at("roc-d").setAttribute("d", c.roc.d);
    at("roc-area").textContent = c.roc.area;
    at("roc-interval").textContent = c.roc.interval;
    at("pr-d").setAttribute("d", c.pr.d);
    ["y1", "y2"].forEach((end) => at("pr-base").setAttribute(end, c.pr.base));
    at("pr-text").textContent = c.pr.text;
    ["x", "y", "text-anchor"].forEach((name, i) => at("pr-text").setAttribute(name, c.pr.at[i]));
    at("cal-points").replaceChildren(
      ...c.cal.flatMap((p) => [
        svg("line", { class: "interval", x1: p.x, x2: p.x, y1: p.y1, y2: p.y2 }),
        svg("circle", { class: "dot", cx: p.x, cy: p.y, r: 4 }),
      ]),
    );
    if (c.nb) {
      at("nb-d").setAttribute("d", c.nb.d);
      at("nb-all").setAttribute("d", c.nb.all);
    }
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
