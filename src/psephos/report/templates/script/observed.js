// Predicted against observed numbers: a dot per case, or counts, and the tables of the chosen model.
(() => {
  const { at, button, data, fillBody, hub, row, svg } = page,
    study = data.observed,
    { circle, ground, line, picture, rect } = page.draw,
    { again, chart, deep, scale, write } = page.axis;
  if (!study) return;
  const model = () => study.models[hub.get("model")],
    named = page.people.name,
    [low, high] = study.ends,
    target = study.target.replace(/^the /, ""),
    host = at("first-observed");

  const frameOf = (width) => {
    const side = Math.min(width - 46, 380),
      frame = { left: 46, right: 46 + side, top: 30, bottom: 30 + side },
      x = scale({ low, high }, frame.left, frame.right),
      y = scale({ low, high }, frame.bottom, frame.top);
    return { ...frame, x: x.x, y: y.x, ticks: x.ticks };
  };
  // counts of cases, darker for more; the data has none if there are few cases
  const cellsOf = (f, cells) => {
    const most = Math.max(1, ...cells.flat()),
      size = (f.right - f.left) / cells.length;
    return cells.flatMap((column, i) =>
      column.flatMap((n, j) => {
        const place = [f.left + i * size, f.bottom - (j + 1) * size, size - 1, size - 1],
          cell = rect("cell", ...place, { opacity: deep(n, most) });
        cell.append(svg("title", {}, page.words.plural(n, "case")));
        return n ? [cell] : [];
      }),
    );
  };
  const dotsOf = (f, { dots = [], stated, worst }) => {
    const wrong = new Set(worst.map(([place]) => place));
    return dots.flatMap(([place, observed, predicted], i) => {
      const [x, y] = [f.x(observed), f.y(predicted)],
        kind = `dot case${wrong.has(place) ? " wrong" : ""}`,
        bar = stated ? [line("stated", x, x, ...stated[i].map(f.y))] : [],
        pin = place === hub.get("person") ? [circle("pin", x, y, 7)] : [];
      return [
        ...bar,
        circle(kind, x, y, 3, { "data-at": place }, svg("title", {}, named(place))),
        ...pin,
      ];
    });
  };
  const draw = (width) => {
    const f = frameOf(width),
      m = model(),
      words = `Predicted against observed ${study.target}, ${study.where}; the tables below hold the figures.`,
      box = picture(width, f.bottom + 48, words, { class: "observed", "data-test": "observed" }),
      ticks = (place) => f.ticks.map((t) => [place(t), write(t)]),
      what = [`observed ${target}`, `predicted ${target}, ${study.where}`];
    box.append(...ground(f, ticks(f.x), ticks(f.y), what));
    if (m?.cells) box.append(...cellsOf(f, m.cells));
    box.append(line("interval", f.left, f.right, f.bottom, f.top));
    if (m) box.append(...dotsOf(f, m));
    return box;
  };

  const worstRow = ([place, name, ...cells]) => {
    const one = row([button(name, () => hub.set("person", place), "plain"), ...cells]);
    one.classList.toggle("chosen", place === hub.get("person"));
    return one;
  };
  const person = () => {
    const m = model(),
      place = hub.get("person"),
      [, observed, predicted] = m?.dots?.find(([own]) => own === place) || [];
    if (m) fillBody("worst", m.worst.map(worstRow));
    if (at("observed-person"))
      at("observed-person").textContent =
        observed === undefined
          ? ""
          : `${named(place)}: observed ${write(observed, 4)}, ${study.what} ${write(predicted, 4)} by ${m.label}, ${study.where}.`;
    again(host);
  };
  const follow = () => {
    const m = model();
    at("observed-body").hidden = !m;
    at("observed-absent").hidden = Boolean(m);
    if (m) {
      page.words.fill({ label: m.label, lead: m.lead, note: `${m.note} ${m.drawn}` });
      const parts = m.parts.map((cells) => row(cells));
      fillBody("parts", parts);
    }
    person();
  };
  host.append(chart(draw, 312));
  host.addEventListener("click", (event) => {
    const dot = page.nearest(page.all("[data-at]", host), event);
    if (dot) hub.set("person", Number(dot.dataset.at));
  });
  hub.on("model", follow);
  hub.on("person", person);
  follow();
})();
