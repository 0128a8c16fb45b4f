// Columns by folds for the chosen model, and the notes on its fits.
(() => {
  const { at, data, fillBody, hub, make, row, svg } = page,
    study = data.stability;
  const square = (on, last) =>
    make(
      "td",
      make("span", on ? "read" : "not", "sr"),
      `sq${last ? " last" : ""}${on ? " on" : ""}`,
    );
  const grid = (s) => {
    const folds = s.single ? Array.from({ length: s.n }, (_, k) => String(k + 1)) : [],
      kinds = ["", ...folds.map(() => "sq"), "num", "sq last"],
      heads = ["column", ...folds, `of ${s.n}`, ...(s.final ? ["all"] : [])];
    const rows = s.rows.slice(0, s.drawn).map(([column, k, flags, last]) => {
      const name = page.axis.titled(study.columns[column], "th", { scope: "row" }),
        read = [...flags].map((flag) => square(flag === "1")),
        one = row([name, ...read, String(k), ...(s.final ? [square(last, true)] : [])], kinds);
      one.dataset.test = "stable-row";
      return one;
    });
    return [row(heads, kinds, true), rows];
  };
  const tally = (s) => {
    const most = Math.max(...s.tally.map(([, n]) => n));
    const rows = s.tally.map(([k, n]) => {
      const bar = page.draw.rect("grey", 0, 0, (280 * n) / most, 14),
        box = svg("svg", { width: 280, height: 14, "aria-hidden": "true" }, bar),
        one = row([`${k} of ${s.n} times`, String(n), make("td", box, "drawn")]);
      one.dataset.test = "tally-row";
      return one;
    });
    const heads = ["times read", "columns", make("span", "drawn", "sr")];
    return [row(heads, ["", "num", "drawn"], true), rows];
  };
  const show = (key) => {
    const s = study.models[key];
    if (!s) return;
    at("stability-words").textContent = s.words;
    at("stability-figure").hidden = at("stability-all").hidden = s.kind === "none";
    if (s.kind === "none") return;
    const [top, rows] = s.kind === "tally" ? tally(s) : grid(s);
    at("stability-head").replaceChildren(top);
    at("stability-body").replaceChildren(...rows);
    at("stability-note").textContent = s.note;
    const list = s.rows.map(([column, k, , last]) => {
      const { name, whole } = study.columns[column];
      return row([whole || name, String(k), s.final ? (last ? "yes" : "no") : "\u2013"]);
    });
    fillBody("stability-list", list);
  };
  const made = (key) => {
    const { label, notes, settings } = data.made[key] || {};
    if (label)
      page.words.fill({ "made-label": label, "made-notes": notes, "made-settings": settings });
  };
  hub.on("model", show);
  hub.on("model", made);
  show(hub.get("model"));
})();
