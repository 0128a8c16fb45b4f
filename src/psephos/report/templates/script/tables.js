// Tables: any column sorts, and every table is offered as a csv file.
(() => {
  const { all, make, svg } = page;

  // A share from 0 to 1 as a dot on its interval.
  page.bar = ([value, low, high], width = 132, height = 14, r = 3.5, kind = "") => {
    const x = (share) => 1 + (width - 2) * share,
      y = height / 2,
      box = svg(
        "svg",
        { class: kind, width, height, "aria-hidden": "true" },
        page.draw.line("grid", 1, x(1), y),
      );
    if (Number.isFinite(low)) box.append(page.draw.line("interval", x(low), x(high), y));
    if (Number.isFinite(value)) box.append(svg("circle", { class: "dot", cx: x(value), cy: y, r }));
    return box;
  };
  all("td[data-share]").forEach((cell) =>
    cell.append(page.bar(cell.dataset.share.split(" ").map(Number))),
  );

  // ---- the first table sorts by any column
  const body = document.querySelector("#results tbody");
  const heads = all("#results thead th");
  const value = (row, column, kind) => {
    const cell = row.cells[column];
    if (kind === "text") return cell.dataset.value;
    return cell.dataset.value === "" ? null : Number(cell.dataset.value);
  };
  heads.forEach((head, column) => {
    if (!head.dataset.sort) return;
    const button = make("button", head.textContent.trim());
    button.type = "button";
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const kind = head.dataset.sort;
      const falling = head.hasAttribute("aria-sort")
        ? head.getAttribute("aria-sort") === "ascending"
        : kind === "number";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const sorted = [...body.rows].sort((one, two) => {
        const a = value(one, column, kind),
          b = value(two, column, kind);
        if (a === null || b === null) return (a === null) - (b === null); // unknown ones stay last
        const order = kind === "text" ? a.localeCompare(b) : a - b;
        return falling ? -order : order;
      });
      body.append(...sorted);
    });
  });

  // ---- csv files, in which no cell is a formula to a spreadsheet
  const starts = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/;
  const number = /^[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf)$/;
  const disarmed = (cell) => (starts.test(cell) && !number.test(cell) ? "'" + cell : cell);
  const field = (cell) => (/[",\r\n]/.test(cell) ? '"' + cell.replaceAll('"', '""') + '"' : cell);
  const drawn = (cell) => !cell.classList.contains("drawn"); // pictures are no cells of a file
  const cellText = (cell) =>
    (cell.dataset.words || cell.dataset.value || cell.textContent)
      .trim()
      .replace(/\s+/g, " ")
      .replaceAll("\u2212", "-");

  // A link that saves what `content()` returns, in a file of this kind.
  const saves = (name, kind, words, content) => {
    const link = make("a", words, "csv"),
      type = { csv: "text/csv", svg: "image/svg+xml" }[kind];
    Object.assign(link, { href: "#", download: `${name}.${kind}` });
    link.dataset.test = kind;
    link.addEventListener("click", () => {
      URL.revokeObjectURL(link.href);
      link.href = URL.createObjectURL(new Blob([content()], { type }));
    });
    return link;
  };
  // A link after `place` that saves what `rows()` returns: lists of strings and numbers.
  page.offer = (place, name, rows, words = "Download as CSV") => {
    const line = (row) => `${row.map((cell) => field(disarmed(String(cell)))).join(",")}\n`,
      link = saves(name, "csv", words, () => rows().map(line).join(""));
    place.after(link);
    return link;
  };

  // ---- pictures: what is drawn, as a file that stands alone, its caption beneath
  const OWN = { opacity: "1", "vector-effect": "none" }; // what parts do not inherit, and its default
  const LOOKS =
    "fill stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin paint-order font-family font-size font-weight font-style".split(
      " ",
    );
  // A copy with the look that the style of the page gives it, without what it hides.
  const copied = (drawn) => {
    const copy = drawn.cloneNode(true),
      every = (root) => [root, ...root.querySelectorAll("*")],
      to = every(copy);
    const hidden = every(drawn).flatMap((one, i) => {
      const look = getComputedStyle(one),
        above = i ? getComputedStyle(one.parentNode) : {};
      ["class", "tabindex", "id"].forEach((name) => to[i].removeAttribute(name));
      LOOKS.filter((key) => look[key] !== above[key]).forEach((key) =>
        to[i].setAttribute(key, look[key]),
      );
      Object.entries(OWN)
        .filter(([key, usual]) => look[key] !== usual)
        .forEach(([key]) => to[i].setAttribute(key, look[key]));
      return look.display === "none" ? [to[i]] : [];
    });
    hidden.forEach((one) => one.remove());
    return copy;
  };
  const alone = (drawn, words) => {
    const { x, y, width, height } = drawn.getBBox(),
      [left, top, wide] = [Math.min(x, 0) - 8, Math.min(y, 0) - 8, Math.max(width, 200) + 16],
      lines = page.draw.lines(words, Math.floor(wide / 6.6)),
      whole = { x: left, y: top, width: wide, height: height + 36 + 17 * lines.length },
      box = svg("svg", {
        xmlns: "http://www.w3.org/2000/svg",
        viewBox: Object.values(whole).join(" "),
        width: whole.width,
        height: whole.height,
      }),
      style = getComputedStyle(drawn),
      look = { "font-family": style.fontFamily, "font-size": "12.5px", fill: style.fill };
    const caption = lines.map((one, i) =>
      svg("text", { ...look, x: left + 8, y: y + height + 32 + 17 * i }, one.trim()),
    );
    const paper = getComputedStyle(document.documentElement).backgroundColor,
      group = svg("g"),
      made = copied(drawn);
    [...made.attributes].forEach(({ name, value }) => {
      if (LOOKS.includes(name)) group.setAttribute(name, value);
    });
    group.append(...made.childNodes);
    box.append(svg("rect", { ...whole, fill: paper }), group, ...caption);
    return new XMLSerializer().serializeToString(box);
  };
  // A link in each figure of a part that has a picture; tables and sentences have none of their own.
  const drawingsOf = (figure) => all("svg", figure).filter((one) => !one.closest("table, p"));
  const saved = (figure) => {
    const drawing = drawingsOf(figure).find((one) => one.getClientRects().length),
      shown = (one) => !one.hidden && !one.classList?.contains("scripted"), // not how to steer it
      words = all("h3, figcaption", figure).map((one) =>
        [...one.childNodes]
          .filter(shown)
          .map((part) => part.textContent)
          .join("")
          .replace(/\s+/g, " ")
          .trim(),
      ),
      label = [drawing, drawing.parentNode].map((one) => one.getAttribute("aria-label"));
    const root = document.documentElement;
    root.classList.add("light"); // a file is for white paper, whatever the page shows
    const file = alone(drawing, words.join(". ") || label.find(Boolean) || "");
    root.classList.remove("light");
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
  page.offerTable = (table, name) =>
    page.offer(table.closest(".scroll") || table, name, () =>
      [...table.rows].map((row) => [...row.cells].filter(drawn).map(cellText)),
    );
  // A table or picture that is cut at the side says that it scrolls.
  const told = new Map();
  const tell = () => {
    told.forEach((note, box) => {
      if (!box.isConnected) {
        note.remove();
        told.delete(box);
      }
    });
    all(".scroll").forEach((box) => {
      const cut = box.scrollWidth > box.clientWidth + 1;
      if (cut && !told.has(box)) {
        const note = make("p", "\u2194 Cut at the side: this scrolls sideways.", "sideways");
        box.before(note);
        told.set(box, note);
      } else if (!cut && told.has(box)) {
        told.get(box).remove();
        told.delete(box);
      }
    });
  };
  let soon = 0;
  const later = () => {
    if (!soon)
      soon = requestAnimationFrame(() => {
        soon = 0;
        tell();
      });
  };
  new MutationObserver(later).observe(document.getElementById("main"), {
    childList: true,
    subtree: true,
  });
  addEventListener("resize", later);
  addEventListener("toggle", later, true);
  later();

  all("table:not(.near)")
    .filter((table) => !table.closest("#mistakes"))
    .forEach((table) => page.offerTable(table, table.dataset.test || table.className));
})();
