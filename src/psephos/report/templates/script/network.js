// Which columns stand together: circles and lines, and the errors of the search that found them.
(() => {
  const { all, at, data, svg } = page;
  const SIDE = 560, // of the square
    MARGIN = 46,
    RADIUS = 26, // of a column that every voter reads: areas are in proportion to shares
    WIDTH = 9, // of a line between columns that every voter reads
    LETTER = 6.4;

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
  const named = (drawn) => {
    const boxes = drawn.map(({ x, y, r }) => [x - r, y - r, x + r, y + r]),
      taken = [];
    drawn.forEach((node, j) => {
      const width = LETTER * node.label.length;
      const found = around(node.r)
        .map(([dx, dy, anchor]) => {
          const x = node.x + dx,
            y = node.y + dy,
            left = x - { start: 0, middle: width / 2, end: width }[anchor];
          return { x, y, anchor, box: [left, y - 10, left + width, y + 3] };
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
  const fixed = (v) => v.toFixed(2);
  const network = ({ nodes, pairs }) => {
    const drawn = circles(nodes),
      lines = svg("g");
    named(drawn);
    const box = svg("svg", {
      class: "network",
      viewBox: `0 0 ${SIDE} ${SIDE}`,
      role: "group",
      "aria-label":
        "Columns as circles, joined where voters read both; the tables hold the same numbers",
    });
    pairs.forEach(({ first, second, share, sentence }) => {
      const [a, b] = [drawn[first], drawn[second]],
        pair = svg("g", { class: "pair" }, svg("title", {}, sentence));
      Object.assign(pair.dataset, { test: "pair", first, second, share });
      pair.append(
        svg("line", {
          x1: fixed(a.x),
          y1: fixed(a.y),
          x2: fixed(b.x),
          y2: fixed(b.y),
          "stroke-width": fixed(Math.max(WIDTH * share, 0.4)),
        }),
      );
      lines.append(pair);
    });
    box.append(lines);
    drawn.forEach(({ name, whole, share, role, sentence, x, y, r, label, text }) => {
      const place = { cx: fixed(x), cy: fixed(y) };
      const node = svg(
        "g",
        {
          class: `node ${role.replaceAll(" ", "-")}`,
          tabindex: 0,
          role: "img",
          "aria-label": sentence,
        },
        svg("title", {}, sentence + (whole === name ? "" : ` (${whole})`)),
        svg("circle", { class: "halo", ...place, r: fixed(r + 5) }),
        svg("circle", { class: "body", ...place, r: fixed(r) }),
      );
      Object.assign(node.dataset, { test: "node", share });
      if (text)
        node.append(
          svg(
            "text",
            {
              x: fixed(text.x),
              y: fixed(text.y),
              "text-anchor": text.anchor,
              "aria-hidden": "true",
            },
            label,
          ),
        );
      box.append(node);
    });
    return box;
  };

  // One histogram a number of columns, all on one axis of error.
  const library = ({ measure, drawn: s }) => {
    const WIDE = 520,
      TALL = 54,
      LEFT = 8,
      each = TALL + 14,
      high = s.dimension.length * each + 40;
    const seen = s.edges.slice(1).map((_, i) => s.counts.some((row) => row[i] > 0)),
      some = seen.includes(true);
    const from = some ? s.edges[seen.indexOf(true)] : 0,
      to = some ? s.edges[seen.lastIndexOf(true) + 1] : 1;
    const across = (error) =>
      LEFT + Math.min(Math.max((error - from) / (to - from), 0), 1) * (WIDE - 2 * LEFT);
    const text = (x, y, words, anchor) => svg("text", { x, y, "text-anchor": anchor }, words);
    const upright = (kind, error) => {
      const x = fixed(across(error));
      return svg("line", { class: kind, x1: x, x2: x, y1: 0, y2: TALL });
    };
    const box = svg("svg", {
      class: "library",
      viewBox: `0 0 ${WIDE + 110} ${high}`,
      role: "img",
      "aria-label":
        "Errors of all candidates, one histogram a number of columns; the table holds their figures",
    });
    s.dimension.forEach((d, i) => {
      const most = Math.max(1, ...s.counts[i]);
      const bars = s.counts[i].map((n, k) => {
        const [x1, x2] = [s.edges[k], s.edges[k + 1]].map((edge) => fixed(across(edge)));
        return n ? `M${x1} ${TALL}V${fixed(TALL - (n / most) * (TALL - 4))}H${x2}V${TALL}z` : "";
      });
      box.append(
        svg(
          "g",
          { transform: `translate(90 ${i * each + 6})` },
          text(-8, TALL - 4, page.words.plural(d, "column"), "end"),
          svg("path", { class: "bars", d: bars.join("") }),
          svg("line", { class: "axis", x1: 0, x2: WIDE, y1: TALL, y2: TALL }),
          upright("strong", s.threshold[i]),
          upright("median", s.median[i]),
        ),
      );
    });
    const foot = svg("g", { transform: `translate(90 ${s.dimension.length * each + 6})` });
    for (let t = 0; t <= 4; t += 1) {
      const error = from + ((to - from) * t) / 4;
      foot.append(text(fixed(across(error)), 8, page.words.number(error, 2), "middle"));
    }
    foot.append(text(WIDE / 2, 26, `cross-validated ${measure}`, "middle"));
    box.append(foot);
    return box;
  };
  const put = (id, picture) => {
    at(id).append(picture);
    at(`${id}-figure`).hidden = false;
  };
  if (data.network) put("network", network(data.network));
  if (data.search) put("library", library(data.search));

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
      lines.forEach((line) => line.classList.toggle("lit", parts(line).includes(chosen)));
    };
    const filter = () => {
      const least = Object.fromEntries(
        Object.entries(sliders).map(([key, slider]) => {
          at(`least-${key}-words`).textContent = slider.value + " %";
          return [key, Number(slider.value) / 100 - 1e-9]; // a share of exactly the threshold stays
        }),
      );
      [nodes, nodeRows].forEach((list) =>
        list.forEach((one) => set(one, Number(one.dataset.share) < least.column)),
      );
      [lines, pairRows].forEach((list) =>
        list.forEach((one) =>
          set(
            one,
            Number(one.dataset.share) < least.pair || parts(one).some((j) => away(nodes[j])),
          ),
        ),
      );
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
    lines.forEach((line) =>
      line.addEventListener("mouseenter", () => say(line.querySelector("title").textContent, -1)),
    );
    Object.values(sliders).forEach((slider) => slider.addEventListener("input", filter));
    all(".threshold").forEach((button) =>
      button.addEventListener("click", () => {
        Object.values(sliders).forEach((slider) => {
          slider.value = button.dataset.share;
        });
        filter();
      }),
    );
    at("network-controls").hidden = sum.hidden = false;
    filter();
  }
})();
