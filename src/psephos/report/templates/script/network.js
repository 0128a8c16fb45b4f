// Which columns stand together: circles and lines.
(() => {
  const { all, at, data, svg } = page,
    { line, near } = page.draw;
  const SIDE = 560, // of the square
    MARGIN = 46,
    RADIUS = 26, // of a column that every voter reads: areas are in proportion to shares
    WIDTH = 9, // of a line between columns that every voter reads
    LETTER = 6.7;

  // Where circles stand: the layout, stretched to the square.
  const circles = (nodes) => {
    const along = [0, 1].map((k) => {
      const own = nodes.map((node) => node.place[k]),
        low = Math.min(...own),
        span = Math.max(...own) - low;
      return own.map((v) => MARGIN + (span ? (v - low) / span : 0.5) * (SIDE - 2 * MARGIN));
    });
    return nodes.map((node, j) => ({
      ...node,
      x: along[0][j],
      y: along[1][j],
      r: Math.max(RADIUS * Math.sqrt(node.share), 3),
    }));
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
  const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

  // Names beside their circles, the most used first, where they cover nothing.
  const LETTERS = 20; // of a line of a name
  const named = (drawn) => {
    const boxes = drawn.map(({ x, y, r }) => [x - r, y - r, x + r, y + r]),
      taken = [];
    drawn.forEach((node, j) => {
      const lines = page.draw.lines(node.name, LETTERS),
        wide = (one) => one.length + 0.3 * one.replace(/[^A-Z]/g, "").length, // capitals are wider
        width = LETTER * Math.max(...lines.map(wide)),
        half = 7 * (lines.length - 1);
      const found = around(node.r)
        .map(([dx, dy, anchor]) => {
          const x = node.x + dx,
            y = node.y + dy,
            left = x - { start: 0, middle: width / 2, end: width }[anchor];
          return { x, y, anchor, box: [left, y - 10 - half, left + width, y + 3 + half] };
        })
        .find(
          ({ box }) =>
            box.every((v) => v >= 2 && v <= SIDE - 2) &&
            ![...boxes.filter((_, k) => k !== j), ...taken].some((other) => meet(box, other)),
        );
      if (found) taken.push(found.box);
      node.text = found || null;
    });
  };
  const pairOf = (a, b, { first, second, share, sentence }) => {
    const joint = line("", a.x, b.x, a.y, b.y),
      pair = svg("g", { class: "pair" }, svg("title", {}, sentence), joint);
    joint.setAttribute("stroke-width", near(Math.max(WIDTH * share, 0.4)));
    Object.assign(pair.dataset, { test: "pair", first, second, share });
    return pair;
  };
  const nodeOf = ({ name, whole, share, role, sentence, x, y, r, text: place }) => {
    const centre = { cx: near(x), cy: near(y) },
      kind = `node ${role.replaceAll(" ", "-")}`,
      node = svg(
        "g",
        { class: kind, tabindex: 0, role: "img", "aria-label": sentence },
        svg("title", {}, sentence + (whole === name ? "" : ` (${whole})`)),
        svg("circle", { class: "halo", ...centre, r: near(r + 5) }),
        svg("circle", { class: "body", ...centre, r: near(r) }),
      );
    Object.assign(node.dataset, { test: "node", share });
    if (!place) return node;
    const words = page.draw.wrapped(place.x, place.y, name, LETTERS, "halo", place.anchor);
    words.setAttribute("aria-hidden", "true");
    node.append(words);
    return node;
  };
  const network = ({ nodes, pairs }) => {
    const drawn = circles(nodes),
      lines = svg("g");
    named(drawn);
    const words =
        "Columns as circles, joined where voters read both; the tables hold the same numbers",
      box = page.draw.picture(SIDE, SIDE, words, { class: "network", role: "group" });
    lines.append(...pairs.map((one) => pairOf(drawn[one.first], drawn[one.second], one)));
    box.append(lines, ...drawn.map(nodeOf));
    return box;
  };

  if (data.network) {
    at("network").append(network(data.network));
    at("network-figure").hidden = false;
  }

  // ---- the network: thresholds hide circles, lines and rows; a circle names the columns it is linked to
  const nodes = all('[data-test="node"]');
  if (nodes.length) {
    const lines = all('[data-test="pair"]'),
      nodeRows = all('[data-test="node-row"]'),
      pairRows = all('[data-test="pair-row"]');
    const panel = at("network-panel"),
      sum = at("network-count");
    const sliders = { column: at("least-column"), pair: at("least-pair") };
    const parts = (element) => [Number(element.dataset.first), Number(element.dataset.second)];
    const away = (element) => element.classList.contains("away");
    const set = (element, hidden) => element.classList.toggle("away", hidden);
    const light = (chosen) => {
      nodeRows.forEach((row, j) => row.classList.toggle("here", j === chosen));
      lines.forEach((one) => one.classList.toggle("lit", parts(one).includes(chosen)));
    };
    const filter = () => {
      const least = Object.fromEntries(
        Object.entries(sliders).map(([key, slider]) => {
          at(`least-${key}-words`).textContent = slider.value + " %";
          return [key, Number(slider.value) / 100 - 1e-9]; // a share of exactly the threshold stays
        }),
      );
      const below = (one, share) => Number(one.dataset.share) < share,
        both = (list, j, hidden) => list.forEach((ones) => set(ones[j], hidden));
      nodes.forEach((one, j) => both([nodes, nodeRows], j, below(one, least.column)));
      lines.forEach((one, j) => {
        const hidden = below(one, least.pair) || parts(one).some((k) => away(nodes[k]));
        both([lines, pairRows], j, hidden);
      });
      const shown = (list) => list.filter((one) => !away(one)).length;
      sum.textContent = `${shown(nodes)} of ${nodes.length} columns and ${shown(lines)} of ${lines.length} pairs are shown.`;
    };
    const say = (words, chosen) => {
      panel.hidden = false;
      panel.textContent = words;
      light(chosen);
    };
    nodes.forEach((node, j) => {
      ["mouseenter", "focus", "click"].forEach((event) =>
        node.addEventListener(event, () => say(node.getAttribute("aria-label"), j)),
      );
      node.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step) return;
        const left = nodes.filter((one) => !away(one));
        event.preventDefault();
        left[(left.indexOf(node) + step + left.length) % left.length].focus();
      });
    });
    lines.forEach((one) =>
      one.addEventListener("mouseenter", () => say(one.querySelector("title").textContent, -1)),
    );
    Object.values(sliders).forEach((slider) => slider.addEventListener("input", filter));
    at("network-controls").hidden = sum.hidden = false;
    filter();
  }
})();
