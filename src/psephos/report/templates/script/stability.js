// Columns by folds, of the chosen model.
(() => {
  const { at, data, hub, make, row, svg } = page,
    told = data.stability;
  const square = (on, last) => {
    const one = make("td", "", `sq${last ? " last" : ""}${on ? " on" : ""}`);
    one.append(make("span", on ? "read" : "not", "sr"));
    return one;
  };
  const named = (column) => {
    const one = page.axis.titled(column, "th");
    one.scope = "row";
    return one;
  };
  const grid = (s) => {
    const folds = s.single ? Array.from({ length: s.n }, (_, k) => String(k + 1)) : [],
      kinds = ["", ...folds.map(() => "sq"), "num", "sq last"],
      heads = ["column", ...folds, `of ${s.n}`, ...(s.final ? ["all"] : [])];
    const rows = s.rows.slice(0, s.drawn).map(([column, k, flags, last]) => {
      const read = [...flags].map((flag) => square(flag === "1")),
        all = s.final ? [square(last, true)] : [],
        one = row([named(told.columns[column]), ...read, String(k), ...all], kinds);
      one.dataset.test = "stable-row";
      return one;
    });
    return [row(heads, kinds, true), rows];
  };
  const tally = (s) => {
    const most = Math.max(...s.tally.map(([, n]) => n));
    const rows = s.tally.map(([k, n]) => {
      const strip = make("td", "", "drawn"),
        width = (280 * n) / most,
        box = svg("svg", { width: width + 1, height: 14, "aria-hidden": "true" }),
        one = row([`${k} of ${s.n} times`, String(n), strip]);
      box.append(page.draw.rect("grey", 0, 0, width, 14));
      strip.append(box);
      one.dataset.test = "tally-row";
      return one;
    });
    return [
      row(["came back", "columns", make("span", "drawn", "sr")], ["", "num", "drawn"], true),
      rows,
    ];
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
        row([
          told.columns[column].whole || told.columns[column].name,
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
