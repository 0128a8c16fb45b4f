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

  // A link after `place` that saves what `rows()` returns: lists of strings and numbers.
  page.offer = (place, name, rows, words = "Download as CSV") => {
    const link = make("a", words, "csv");
    link.dataset.test = "csv";
    link.href = "#";
    link.download = name + ".csv";
    link.addEventListener("click", () => {
      const lines = rows().map((row) => row.map((cell) => field(disarmed(String(cell)))).join(","));
      URL.revokeObjectURL(link.href);
      link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
    });
    place.after(link);
    return link;
  };
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
