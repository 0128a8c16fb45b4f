// Predicted against observed numbers: a dot a case, or counts, and the tables of the model chosen.
(() => {
  const { at, data, hub, make, row, svg } = page,
    told = data.observed,
    { line, picture, rect, text } = page.draw,
    { again, chart, deep, scale, write } = page.axis,
    { fill } = page.words;
  if (!told) return;
  const model = () => told.models[hub.get("model")];
  const named = page.people.name;
  const [low, high] = told.ends,
    target = told.target.replace(/^the /, "");

  const frameOf = (width) => {
    const side = Math.min(width - 46, 380),
      box = { left: 46, right: 46 + side, top: 30, bottom: 30 + side },
      x = scale({ low, high }, box.left, box.right),
      y = scale({ low, high }, box.bottom, box.top);
    return { ...box, x: x.x, y: y.x, ticks: x.ticks };
  };
  const axes = (f) => [
    ...f.ticks.flatMap((t) => [
      line("grid", f.left, f.right, f.y(t)),
      text(f.left - 8, f.y(t) + 4, write(t), "soft", "end"),
      line("axis", f.x(t), f.x(t), f.bottom, f.bottom + 5),
      text(f.x(t), f.bottom + 20, write(t), "soft", "middle"),
    ]),
    line("axis", f.left, f.right, f.bottom),
    text(0, 14, `predicted ${target}, ${told.where}`),
    text(f.right, f.bottom + 42, `observed ${target}`, "soft", "end"),
  ];
  // counts of cases, the deeper the more; of few cases none are sent
  const cellsOf = (f, cells) => {
    const most = Math.max(1, ...cells.flat()),
      size = (f.right - f.left) / cells.length;
    return cells.flatMap((column, i) =>
      column.flatMap((n, j) => {
        if (!n) return [];
        const place = [f.left + i * size, f.bottom - (j + 1) * size, size - 1, size - 1];
        const cell = rect("cell", ...place, { opacity: deep(n, most) });
        cell.append(svg("title", {}, page.words.plural(n, "case")));
        return [cell];
      }),
    );
  };
  const dotsOf = (f, m) => {
    const worst = new Set(m.worst.map(([place]) => place));
    return (m.dots || []).flatMap(([place, y, predicted], i) => {
      const spot = { cx: f.x(y), cy: f.y(predicted) },
        kind = `dot case${worst.has(place) ? " wrong" : ""}`,
        dot = svg("circle", { class: kind, ...spot, r: 3, "data-at": place }),
        bar = m.stated && line("stated", f.x(y), f.x(y), ...m.stated[i].map(f.y));
      const ring = place === hub.get("person");
      const pin = ring ? [svg("circle", { class: "pin", ...spot, r: 7 })] : [];
      dot.append(svg("title", {}, named(place)));
      return [...(bar ? [bar] : []), dot, ...pin];
    });
  };
  const draw = (width) => {
    const f = frameOf(width),
      m = model(),
      words = `Predicted against observed ${told.target}, ${told.where}; the tables below hold the figures.`,
      box = picture(width, f.bottom + 48, words, { class: "observed", "data-test": "observed" });
    box.append(...axes(f));
    if (m && m.cells) box.append(...cellsOf(f, m.cells));
    box.append(line("interval", f.left, f.right, f.bottom, f.top));
    if (m) box.append(...dotsOf(f, m));
    return box;
  };

  const body = (id, rows) => at(id) && at(id).tBodies[0].replaceChildren(...rows);
  const worstRow = ([place, name, ...cells]) => {
    const button = make("button", name, "plain"),
      one = row([button, ...cells]);
    button.type = "button";
    button.addEventListener("click", () => hub.set("person", place));
    one.classList.toggle("chosen", place === hub.get("person"));
    return one;
  };
  const person = () => {
    const m = model(),
      place = hub.get("person"),
      found = m && (m.dots || []).find(([own]) => own === place);
    if (m) body("worst", m.worst.map(worstRow));
    if (at("observed-person"))
      at("observed-person").textContent = found
        ? `${named(place)}: observed ${write(found[1], 4)}, ${told.what} ${write(found[2], 4)} by ${m.label}, ${told.where}.`
        : "";
    again(at("first-observed"));
  };
  const follow = () => {
    const m = model();
    at("observed-body").hidden = !m;
    at("observed-absent").hidden = Boolean(m);
    if (m) {
      fill({ label: m.label, lead: m.lead, note: m.note });
      body(
        "parts",
        m.parts.map((cells) => row(cells)),
      );
    }
    person();
  };
  at("first-observed").append(chart(draw));
  at("first-observed").addEventListener("click", (event) => {
    const dot = event.target.closest("[data-at]");
    if (dot) hub.set("person", Number(dot.dataset.at));
  });
  hub.on("model", follow);
  hub.on("person", person);
  follow();
})();
