// One dot per case in lanes, drawn at the available width.
page.lanes = (() => {
  const { circle, dodged, line, lines, rect, text, wide, wrapped } = page.draw;
  const UNIT = 1e6,
    MOST = 400,
    BINS = 50,
    RADII = [3.2, 2.6, 2.1, 1.6],
    PUSHED = 6;

  // The positions [x, y] of the dots of a lane, and the greatest distance of one from its prediction.
  const placed = (units, width, height, radius) => {
    const step = 2 * radius + 0.8,
      rows = Math.max(Math.floor(height / step), 1),
      places = [];
    let pushed = 0;
    [1, -1].forEach((side) => {
      const mine = units.flatMap((u, i) => (2 * u <= UNIT === side > 0 ? [i] : [])),
        xs = mine.map((i) => (side * units[i] * width) / UNIT);
      dodged(xs, step, rows).forEach(([x, row], k) => {
        pushed = Math.max(pushed, x - xs[k]);
        places[mine[k]] = [side * x, radius + row * step];
      });
    });
    return [places, pushed];
  };
  // The greatest radius for which all lanes have room: [radius, the positions of each lane].
  const fitted = (lanes, width, height) => {
    const tries = RADII.map((radius) => [
      radius,
      lanes.map((units) => placed(units, width, height, radius)),
    ]);
    const [radius, found] =
      tries.find(([, found]) => found.every(([, pushed]) => pushed <= PUSHED)) || tries.at(-1);
    return [radius, found.map(([places]) => places)];
  };

  // The dimensions of the drawing at a width.
  const ground = (width, lanes, two) => {
    const narrow = width < 620,
      [left, right] = narrow ? [4, 8] : [128, 12],
      [top, gap] = narrow ? (two ? [70, 48] : [28, 34]) : two ? [44, 30] : [8, 14],
      lane = two ? (narrow ? 80 : 96) : 64,
      inner = width - left - right,
      base = (k) => top + (k + 1) * lane + k * gap,
      x = (answer) => left + answer * inner;
    return { width, narrow, left, right, top, lane, inner, base, x, height: base(lanes - 1) + 44 };
  };

  // The bars of a lane, with their ends, and the cases drawn as dots: only the mistakes if there are many cases.
  const split = (lane) => {
    const even = (n) => Array.from({ length: n + 1 }, (_, b) => b / n);
    if (lane.bins) return { bars: lane.bins, dots: [], ends: lane.ends || even(lane.bins.length) };
    const every = lane.units.map((_, i) => i);
    if (lane.units.length <= MOST) return { bars: [], dots: every, ends: [] };
    const wrong = every.filter((i) => lane.wrong[i]),
      dots = wrong.length > MOST ? [] : wrong,
      bars = Array(BINS).fill(0);
    every
      .filter((i) => !dots.length || !lane.wrong[i])
      .forEach((i) => (bars[Math.min(Math.floor((lane.units[i] * BINS) / UNIT), BINS - 1)] += 1));
    return { bars, dots, ends: even(BINS) };
  };

  const laneOf = (g, lane, parted, { base, tallest, above, person, counts, radius, places }) => {
    const { bars, dots, ends } = parted,
      n = lane.bins ? lane.bins.reduce((a, b) => a + b, 0) : lane.units.length,
      cases = page.words.plural(n, "case"),
      strong = `strong ${lane.kind}`,
      halo = `${lane.kind} halo`,
      high = base - g.lane - 6,
      heading = `${lane.name} (${cases}${lane.beside || ""})`,
      letters = Math.floor(((g.left - 12) * lane.name.length) / wide(lane.name)),
      name = wrapped(0, base - 12, lane.name, letters, strong, "start", 3.4 * g.left),
      parts = g.narrow
        ? [text(0, base - g.lane - above, heading, `strong ${halo}`, "start", g.width)]
        : [name, text(0, base + 3, cases), text(0, base + 18, lane.beside || "")];
    name.setAttribute("transform", `translate(0 ${7 - 7 * page.all("tspan", name).length})`);
    parts.push(line("axis", g.left, g.width - g.right, base + 0.5));
    bars.forEach((k, b) => {
      const [x, height] = [g.x(ends[b]), (k / tallest) * g.lane];
      if (k) parts.push(rect(lane.kind, x + 0.5, base - height, g.x(ends[b + 1]) - x - 1, height));
    });
    dots.forEach((i, j) => {
      const [x, y] = [g.left + places[j][0], base - places[j][1]],
        kind = `case ${lane.kind}${lane.wrong[i] ? " wrong" : ""}`;
      parts.push(circle(kind, x, y, radius, { "data-at": lane.at[i] }));
      if (lane.at[i] === person) parts.push(circle("pin", x, y, radius + 4));
    });
    if (counts)
      parts.push(
        text(g.left + 6, high, counts[0], halo),
        text(g.width - g.right - 6, high, counts[1], halo, "end"),
      );
    return parts;
  };

  // The sides of the threshold and its line, behind the lanes; and in front its value and the words on both sides.
  const valueAt = (g) => (g.narrow ? 30 : g.top - 28);
  const sidesOf = (g, cut) => {
    const [top, height] = [g.top - 16, g.height - g.top - 22];
    return [
      rect("negw", g.left, top, cut - g.left, height),
      rect("posw", cut, top, g.left + g.inner - cut, height),
      line("threshold", cut, cut, valueAt(g) + 6, g.height - 34),
    ];
  };
  const thresholdOf = (g, cut, words, [below, above]) => {
    const y = valueAt(g),
      middle = Math.min(Math.max(cut, g.left + 16), g.width - g.right - 16),
      parts = [text(middle, y, words, "strong halo", "middle")];
    const side = (x, at, words, anchor, room) =>
      room > 150 && parts.push(text(x, at, words, "soft", anchor, room));
    if (g.narrow) {
      side(0, 14, `\u2190 ${below}`, "start", g.width / 2 - 8);
      side(g.width, 14, `${above} \u2192`, "end", g.width / 2 - 8);
    } else {
      side(cut - 28, y, `${below} \u2190`, "end", cut - 28);
      side(cut + 28, y, `\u2192 ${above}`, "start", g.width - cut - 28);
    }
    return [...parts, rect("drag", cut - 14, 0, 28, g.height - 30)];
  };

  // lanes: [{name, kind, units, wrong, at} or {name, kind, bins}]; `counts` per lane: [left, right].
  const draw = (width, lanes, { axis, threshold = null, counts = [], sides = [], person = -1 }) => {
    const two = threshold !== null,
      g = ground(width, lanes.length, two),
      parted = lanes.map(split),
      tallest = Math.max(0, ...parted.flatMap(({ bars }) => bars)),
      each = Math.floor((width - g.right) / 5.6), // letters
      more = 14 * (lines(axis, each).length - 1), // if the words of the axis take several lines
      picture = page.draw.picture(width, g.height + more, "", { "aria-hidden": "true" });
    if (two) picture.append(...sidesOf(g, g.x(threshold)));
    const units = lanes.map((lane, k) => parted[k].dots.map((i) => lane.units[i])),
      [radius, places] = fitted(units, g.inner, g.lane),
      shared = { tallest, above: two ? 24 : 8, person, radius };
    lanes.forEach((lane, k) => {
      const own = { base: g.base(k), counts: counts[k], places: places[k] };
      picture.append(...laneOf(g, lane, parted[k], { ...shared, ...own }));
    });
    if (two)
      picture.append(...thresholdOf(g, g.x(threshold), page.words.threshold(threshold), sides));
    [0, 0.2, 0.4, 0.6, 0.8, 1].forEach((v) => {
      const anchor = v === 1 ? "end" : v ? "middle" : "start";
      picture.append(text(g.x(v), g.height - 26, v.toFixed(1), "soft", anchor));
    });
    picture.append(wrapped(width - g.right, g.height - 6 + more / 2, axis, each, "soft", "end"));
    return { picture, ground: g, tallest };
  };
  return { draw };
})();
