// Tables: the first can be sorted by any column, and every table can be saved as a csv file.
(() => {
  const { all, at, button, make, svg } = page,
    { circle, line, rect, tip } = page.draw;

  // A dot on its interval, on a line from `least` to 1: arrows show values outside, and differences have a mark at 0.
  page.bar = ([value, low, high], { least = 0, width = 132, height = 14, r = 3.5 } = {}) => {
    const part = (v) => (Math.min(Math.max(v, least), 1) - least) / (1 - least),
      x = (v) => 1 + (width - 2) * part(v),
      y = height / 2,
      box = svg("svg", { width, height, "aria-hidden": "true" });
    box.append(least ? line("axis", x(0), x(0), 0, height) : line("grid", 1, x(1), y));
    if (Number.isFinite(low)) box.append(line("interval", x(low), x(high), y));
    if (low < least) box.append(tip(1, y, -1, 0));
    if (high > 1) box.append(tip(width - 1, y, 1, 0));
    if (value >= least && value <= 1) box.append(circle("dot", x(value), y, r));
    return box;
  };
  all("[data-bar]").forEach((cell) => {
    const { bar, least } = cell.dataset;
    cell.append(page.bar(bar.split(" ").map(Number), { least: Number(least) }));
  });

  // ---- sorting the first table by any column
  const heads = all("#results thead th");
  const sort = (head, column) => {
    const text = head.dataset.sort === "text",
      now = head.ariaSort,
      falling = now ? now === "ascending" : !text;
    const sorted = [...at("results").tBodies[0].rows].sort((one, two) => {
      const [a, b] = [one, two].map((row) => row.cells[column].dataset.value);
      if (!a || !b) return !a - !b; // unknown values stay last
      const order = text ? a.localeCompare(b) : a - b;
      return falling ? -order : order;
    });
    heads.forEach((other) => (other.ariaSort = null));
    head.ariaSort = falling ? "descending" : "ascending";
    at("results").tBodies[0].append(...sorted);
  };
  heads.forEach((head, column) => {
    const words = head.textContent.trim();
    if (head.dataset.sort) head.replaceChildren(button(words, () => sort(head, column)));
  });

  // ---- csv files, without cells that a spreadsheet would run as a formula
  const starts = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/;
  const number = /^[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf)$/;
  const disarmed = (cell) => (starts.test(cell) && !number.test(cell) ? "'" + cell : cell);
  const field = (cell) => (/[",\r\n]/.test(cell) ? '"' + cell.replaceAll('"', '""') + '"' : cell);
  const drawn = (cell) => !cell.classList.contains("drawn"); // cells with pictures are left out
  const flat = (words) => words.trim().replace(/\s+/g, " ");
  const cellText = ({ dataset, textContent }) =>
    flat(dataset.words || dataset.value || textContent).replaceAll("\u2212", "-");

  // A link that saves the result of `content()` in a file of this type.
  const saves = (name, kind, words, content) => {
    const type = { csv: "text/csv", svg: "image/svg+xml" }[kind],
      onclick = ({ target }) => {
        URL.revokeObjectURL(target.href);
        target.href = URL.createObjectURL(new Blob([content()], { type }));
      },
      file = { href: "#", download: `${name}.${kind}`, className: "csv", data: { test: kind } };
    return make("a", words, { ...file, onclick });
  };
  // A link after `place` that saves the result of `rows()`: lists of strings and numbers.
  page.offer = (place, name, rows, words = "Download as CSV") => {
    const line = (row) => `${row.map((cell) => field(disarmed(String(cell)))).join(",")}\n`;
    place.after(saves(name, "csv", words, () => rows().map(line).join("")));
  };
  page.offerTable = (table, name) =>
    page.offer(table.closest(".scroll") || table, name, () =>
      [...table.rows].map((row) => [...row.cells].filter(drawn).map(cellText)),
    );

  // ---- pictures, as files with their caption
  const LOOKS =
    "fill stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin paint-order font-family font-size font-weight font-style opacity vector-effect".split(
      " ",
    );
  // A copy with the computed style of the page, without hidden parts.
  const copied = (drawn) => {
    const copy = drawn.cloneNode(true),
      to = [copy, ...all("*", copy)];
    [drawn, ...all("*", drawn)].forEach((one, i) => {
      const look = getComputedStyle(one),
        above = i ? getComputedStyle(one.parentNode) : {};
      ["class", "tabindex", "id"].forEach((name) => to[i].removeAttribute(name));
      LOOKS.filter((key) => look[key] !== above[key]).forEach((key) =>
        to[i].setAttribute(key, look[key]),
      );
      if (look.display === "none") to[i].remove();
    });
    copy.setAttribute("overflow", "visible");
    return copy;
  };
  const alone = (drawn, words) => {
    const { x, y, width, height } = drawn.getBBox(),
      [left, top, wide] = [Math.min(x, 0) - 8, Math.min(y, 0) - 8, Math.max(width, 200) + 16],
      lines = page.draw.lines(words, Math.floor(wide / 6.6)),
      tall = height + 36 + 17 * lines.length,
      { fontFamily, fill } = getComputedStyle(drawn),
      look = { "font-family": fontFamily, "font-size": "12.5px", fill, x: left + 8 },
      paper = getComputedStyle(document.documentElement).backgroundColor;
    const box = svg(
      "svg",
      {
        xmlns: "http://www.w3.org/2000/svg",
        viewBox: `${left} ${top} ${wide} ${tall}`,
        width: wide,
        height: tall,
      },
      rect("", left, top, wide, tall, { fill: paper }),
      copied(drawn),
      ...lines.map((one, i) => svg("text", { ...look, y: y + height + 32 + 17 * i }, one.trim())),
    );
    return new XMLSerializer().serializeToString(box);
  };
  // A link in each figure of a part with a picture; tables and sentences do not have one.
  const drawingsOf = (figure) => all("svg", figure).filter((one) => !one.closest("table, p"));
  const saved = (figure) => {
    const drawing = drawingsOf(figure).find((one) => one.getClientRects().length),
      shown = (one) => !one.hidden && !one.classList?.contains("scripted"), // without instructions for controls
      textOf = (one) =>
        flat(
          [...one.childNodes]
            .filter(shown)
            .map((p) => p.textContent)
            .join(""),
        ),
      words = all("h3, figcaption", figure).map(textOf).join(". "),
      { style } = document.documentElement;
    style.colorScheme = "light"; // files always have the light colours
    const file = alone(drawing, words || drawing.ariaLabel || drawing.parentNode.ariaLabel || "");
    style.colorScheme = "";
    return file;
  };
  page.offerPictures = (part) =>
    all("figure", part)
      .filter((one) => one.querySelector(".chart-box") || drawingsOf(one).length)
      .filter((one) => !one.querySelector("[data-test=svg]"))
      .forEach((figure) => {
        const { name, test } = { ...drawingsOf(figure)[0]?.dataset, ...figure.dataset },
          file = name || figure.id || test || "picture";
        figure.append(saves(file, "svg", "Save as SVG", () => saved(figure)));
      });

  all("table:not(.near)")
    .filter((table) => !table.closest("#mistakes"))
    .forEach((table) => page.offerTable(table, table.dataset.test || table.className));
})();
