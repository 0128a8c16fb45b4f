// Columns that are read together: circles and lines; the tables below have the same numbers.
(() => {
  const { at, data, svg } = page,
    { box, circle, line, overlap, picture } = page.draw;
  const SIDE = 560, // side of the square
    MARGIN = 46,
    RADIUS = 26, // of a column that every voter reads: areas are proportional to shares
    WIDTH = 9, // of a line between columns that every voter reads
    LETTER = 6.7,
    LETTERS = 20; // per line of a name

  // The positions of circles: the layout, scaled to the square.
  const circles = (nodes) => {
    const [xs, ys] = [0, 1].map((k) => {
      const own = nodes.map((node) => node.place[k]),
        low = Math.min(...own),
        span = Math.max(...own) - low;
      return own.map((v) => MARGIN + (span ? (v - low) / span : 0.5) * (SIDE - 2 * MARGIN));
    });
    const radius = (share) => Math.max(RADIUS * Math.sqrt(share), 3);
    return nodes.map((node, j) => ({ ...node, x: xs[j], y: ys[j], r: radius(node.share) }));
  };
  const around = (r) => [
    [r + 4, 4, "start"],
    [-r - 4, 4, "end"],
    [0, -r - 5, "middle"],
    [0, r + 13, "middle"],
    [0.7 * r + 3, -0.7 * r - 3, "start"],
    [-0.7 * r - 3, -0.7 * r - 3, "end"],
    [0.7 * r + 3, 0.7 * r + 11, "start"],
    [-0.7 * r - 3, 0.7 * r + 11, "end"],
  ];
  // The position of each name beside its circle, without overlaps; the most used columns first.
  const placesOf = (drawn) => {
    const taken = drawn.map(({ x, y, r }) => [x - r, y - r, x + r, y + r]);
    return drawn.map(({ name, x, y, r }, j) => {
      const lines = page.draw.lines(name, LETTERS),
        wide = (one) => one.length + 0.3 * one.replace(/[^A-Z]/g, "").length, // capitals are wider
        width = LETTER * Math.max(...lines.map(wide)),
        free = (area) =>
          area.every((v) => v >= 2 && v <= SIDE - 2) &&
          !taken.some((other, k) => k !== j && overlap(area, other));
      const found = around(r)
        .map(([dx, dy, anchor]) => ({
          at: [x + dx, y + dy],
          anchor,
          area: box(x + dx, y + dy, anchor, width, 7 * (lines.length - 1)),
        }))
        .find(({ area }) => free(area));
      if (found) taken.push(found.area);
      return found;
    });
  };
  const pairOf = (a, b, { first, second, share, sentence }) => {
    const joint = line("", a.x, b.x, a.y, b.y),
      pair = svg("g", { class: "pair" }, svg("title", {}, sentence), joint);
    joint.setAttribute("stroke-width", Math.max(WIDTH * share, 0.4));
    Object.assign(pair.dataset, { test: "pair", first, second, share });
    return pair;
  };
  const nodeOf = ({ name, whole, share, role, sentence, x, y, r }, place) => {
    const title = svg("title", {}, sentence + (whole === name ? "" : ` (${whole})`)),
      kind = `node ${role.replaceAll(" ", "-")}`,
      node = svg("g", { class: kind }, title, circle("body", x, y, r));
    Object.assign(node.dataset, { test: "node", share });
    if (place) node.append(page.draw.wrapped(...place.at, name, LETTERS, "halo", place.anchor));
    return node;
  };

  const { nodes, pairs } = data.network,
    drawn = circles(nodes),
    places = placesOf(drawn),
    words = "Columns as circles, joined where voters read both; the tables hold the same numbers",
    whole = picture(SIDE, SIDE, words, { class: "network" });
  whole.append(
    ...pairs.map((one) => pairOf(drawn[one.first], drawn[one.second], one)),
    ...drawn.map((node, j) => nodeOf(node, places[j])),
  );
  at("network").append(whole);
  at("network-figure").hidden = false;
})();
