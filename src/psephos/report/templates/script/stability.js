// Columns by folds, of the chosen model.
(() => {
  const { at, data, hub, make, svg } = page;
  const told = data.stability;
  const cell = (tag, text, kind = "") => make(tag, text, kind);
  const head = (text, kind = "") => {
    const one = make("th", text, kind);
    one.scope = "col";
    return one;
  };
  const square = (on, last) => {
    const one = make("td", "", `sq${last ? " last" : ""}${on ? " on" : ""}`);
    one.append(make("span", on ? "read" : "not", "sr"));
    return one;
  };
  const named = (column, whole) => {
    const one = make(
      "th",
      whole && column.whole ? column.whole : column.name,
      column.italic && !whole ? "species" : "",
    );
    one.scope = "row";
    if (column.whole) one.title = column.whole;
    return one;
  };
  const grid = (s) => {
    const top = make("tr"),
      squares = s.single ? Array.from({ length: s.n }, (_, k) => head(String(k + 1), "sq")) : [];
    top.append(
      head("column"),
      ...squares,
      head(`of ${s.n}`, "num"),
      ...(s.final ? [head("all", "sq last")] : []),
    );
    const rows = s.rows.slice(0, s.drawn).map(([column, k, folds, last]) => {
      const row = make("tr");
      row.dataset.test = "stable-row";
      row.append(
        named(told.columns[column]),
        ...[...folds].map((flag) => square(flag === "1")),
        cell("td", String(k), "num"),
        ...(s.final ? [square(last, true)] : []),
      );
      return row;
    });
    return [top, rows];
  };
  const tally = (s) => {
    const top = make("tr"),
      most = Math.max(...s.tally.map(([, n]) => n)),
      drawn = head("", "drawn");
    drawn.append(make("span", "drawn", "sr"));
    top.append(head("came back"), head("columns", "num"), drawn);
    const rows = s.tally.map(([k, n]) => {
      const strip = make("td", "", "drawn"),
        width = (280 * n) / most,
        row = page.row([`${k} of ${s.n} times`, String(n), strip]);
      row.dataset.test = "tally-row";
      strip.append(
        svg(
          "svg",
          { width: width + 1, height: 14, "aria-hidden": "true" },
          svg("rect", { class: "grey", width, height: 14 }),
        ),
      );
      return row;
    });
    return [top, rows];
  };
  const show = (key) => {
    const s = told.models[key];
    if (!s) return;
    at("stability-words").textContent = s.words;
    at("stability-figure").hidden = at("stability-all").hidden = s.kind === "none";
    if (s.kind === "none") return;
    const [top, rows] = s.kind === "tally" ? tally(s) : grid(s);
    at("stability-head").replaceChildren(top);
    at("stability-body").replaceChildren(...rows);
    at("stability-note").textContent = s.note;
    at("stability-list").tBodies[0].replaceChildren(
      ...s.rows.map(([column, k, , last]) =>
        page.row([
          named(told.columns[column], true),
          String(k),
          s.final ? (last ? "yes" : "no") : "\u2013",
        ]),
      ),
    );
  };
  hub.on("model", show);
  show(hub.get("model"));

  // what is said of how the chosen model was made
  const made = (key) => {
    const one = data.made[key];
    if (one)
      page.words.fill({
        "made-label": one.label,
        "made-notes": one.notes,
        "made-settings": one.settings,
      });
  };
  hub.on("model", made);
})();
