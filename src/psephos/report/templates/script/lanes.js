// One dot a case in lanes, drawn at the width there is.
page.lanes = (() => {
  const { svg } = page;
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
  const dodged = (units, width, height) => {
    for (const radius of RADII) {
      const [places, pushed] = placed(units, width, height, radius);
      if (pushed <= PUSHED || radius === RADII[RADII.length - 1]) return [radius, places];
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

  const text = (x, y, words, kind, anchor = "start") =>
    svg("text", { x, y, class: kind, "text-anchor": anchor }, words);

  // lanes: [{name, kind, units, wrong, at} or {name, kind, bins}]; `counts` per lane: [left, right].
  const draw = (width, lanes, { axis, threshold = null, counts = [], sides = [], person = -1 }) => {
    const g = ground(width, lanes.length, threshold !== null);
    const picture = svg("svg", {
      width,
      height: g.height,
      viewBox: `0 0 ${width} ${g.height}`,
      "aria-hidden": "true",
    });
    const cut = threshold === null ? null : g.x(threshold);
    if (cut !== null)
      picture.append(
        svg("rect", {
          class: "negw",
          x: g.left,
          y: g.top - 16,
          width: cut - g.left,
          height: g.height - g.top - 22,
        }),
        svg("rect", {
          class: "posw",
          x: cut,
          y: g.top - 16,
          width: g.left + g.inner - cut,
          height: g.height - g.top - 22,
        }),
      );
    const split = lanes.map((lane) => {
      if (lane.bins) return { bars: lane.bins, drawn: [], ends: lane.ends };
      const many = lane.units.length > MOST;
      let drawn = lane.units.map((_, i) => i).filter((i) => lane.wrong[i] || !many);
      let right = lane.units.filter((_, i) => !lane.wrong[i]);
      if (many && drawn.length > MOST) {
        right = lane.units;
        drawn = [];
      }
      return { bars: many ? binned(right) : [], drawn };
    });
    const tallest = Math.max(0, ...split.flatMap((one) => one.bars));
    lanes.forEach((lane, k) => {
      const base = g.base(k),
        { bars, drawn } = split[k],
        n = lane.bins ? lane.bins.reduce((a, b) => a + b, 0) : lane.units.length;
      const ends =
        split[k].ends || Array.from({ length: bars.length + 1 }, (_, b) => b / bars.length);
      picture.append(
        text(
          0,
          g.narrow ? base - g.lane - (threshold === null ? 8 : 24) : base - 12,
          g.narrow ? `${lane.name} (${n})` : lane.name,
          "strong " + lane.kind,
        ),
        ...(g.narrow ? [] : [text(0, base + 3, page.words.plural(n, "case"), "soft")]),
        svg("line", {
          class: "axis",
          x1: g.left,
          x2: g.width - g.right,
          y1: base + 0.5,
          y2: base + 0.5,
        }),
      );
      bars.forEach((n, b) => {
        if (n)
          picture.append(
            svg("rect", {
              class: lane.kind,
              x: g.left + ends[b] * g.inner + 0.5,
              y: base - (n / tallest) * g.lane,
              width: (ends[b + 1] - ends[b]) * g.inner - 1,
              height: (n / tallest) * g.lane,
            }),
          );
      });
      const [radius, places] = dodged(
        drawn.map((i) => lane.units[i]),
        g.inner,
        g.lane,
      );
      drawn.forEach((i, j) => {
        const cx = g.left + places[j][0],
          cy = base - places[j][1];
        picture.append(
          svg("circle", {
            class: `case ${lane.kind}${lane.wrong[i] ? " wrong" : ""}`,
            cx,
            cy,
            r: radius,
            "data-at": lane.at[i],
          }),
        );
        if (lane.at[i] === person)
          picture.append(svg("circle", { class: "pin", cx, cy, r: radius + 4 }));
      });
      const [left, right] = counts[k] || [];
      if (left)
        picture.append(
          text(g.left + 6, base - g.lane - 6, left, lane.kind + " halo"),
          text(g.width - g.right - 6, base - g.lane - 6, right, lane.kind + " halo", "end"),
        );
    });
    if (cut !== null) {
      const y = g.narrow ? 34 : g.top - 28;
      picture.append(
        svg("line", {
          class: "threshold",
          x1: cut,
          x2: cut,
          y1: g.narrow ? 40 : g.top - 22,
          y2: g.height - 34,
        }),
        text(
          Math.min(Math.max(cut, g.left + 16), width - g.right - 16),
          y,
          page.words.threshold(threshold),
          "strong halo",
          "middle",
        ),
      );
      if (g.narrow)
        picture.append(
          text(0, 14, `\u2190 ${sides[0]}`, "soft"),
          text(width, 14, `${sides[1]} \u2192`, "soft", "end"),
        );
      else {
        if (cut - g.left > 190)
          picture.append(text(cut - 28, y, `${sides[0]} \u2190`, "soft", "end"));
        if (width - g.right - cut > 190)
          picture.append(text(cut + 28, y, `\u2192 ${sides[1]}`, "soft"));
      }
      picture.append(
        svg("rect", { class: "drag", x: cut - 14, y: 0, width: 28, height: g.height - 30 }),
      );
    }
    for (let t = 0; t <= 5; t += 1)
      picture.append(
        text(
          g.x(t / 5),
          g.height - 26,
          (t / 5).toFixed(1),
          "soft",
          t === 5 ? "end" : t ? "middle" : "start",
        ),
      );
    picture.append(text(width - g.right, g.height - 6, axis, "soft", "end"));
    return { picture, ground: g, tallest };
  };
  return { draw, ground };
})();
