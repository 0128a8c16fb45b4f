// On which side of which value: the columns of the chosen model, redrawn from the study's figures.
(() => {
  const { at, hub, make, svg } = page,
    { line, near, picture, rect, text, wrapped } = page.draw,
    data = page.data.values;
  if (!data) return;
  const { again, chart, hues, paint, parts, piece, scale, table, titled, write } = page.axis;
  const host = at("values-live"),
    first = 6;
  const hue = hues(data.positive, data.classes.length);
  const order = data.order; // classes by lane: the positive one above
  const GONE = 52; // pixels of the place of missing values, as wide as its word
  let open = false;

  const told = (words, kind = "") => {
    const p = make("p", "", kind);
    p.append(...[words].flat());
    return p;
  };

  // Dots near their value without overlap: rows of one lane, the lowest free first.
  const dodge = (dots, step, rows) => {
    const last = Array(rows).fill(-Infinity);
    return dots
      .sort((a, b) => a.x - b.x)
      .map((dot) => {
        let row = last.findIndex((x) => dot.x - x >= step);
        if (row < 0) row = last.indexOf(Math.min(...last));
        last[row] = dot.x;
        return { ...dot, row };
      });
  };

  const say = (i, whole) => {
    const name = page.people.name(data.rows[i]);
    return `${name}, ${data.classes[data.y[i]]}: ${whole === undefined ? "" : write(data.of[whole][i], 3)}`;
  };

  // The body of a dot: in the plane each of three classes and more has its shape, a second cue.
  const SHAPES = ["circle", "square", "triangle", "diamond"];
  const shape = (k) => (data.classes.length > 2 ? SHAPES[k % SHAPES.length] : "circle");
  const bodyOf = (kind, { cx, cy, r }, more, title) => {
    const turn = kind === "square" ? 45 : -90,
      n = kind === "triangle" ? 3 : 4,
      corner = (_, i) => ((turn + (360 * i) / n) * Math.PI) / 180,
      at = (a) => [cx + 1.3 * r * Math.cos(a), cy + 1.3 * r * Math.sin(a)].map(page.draw.near),
      points = Array.from({ length: n }, corner).map(at).join(" ");
    if (kind === "circle") return svg("circle", { cx, cy, r, ...more }, title);
    return svg("polygon", { points, ...more }, title);
  };
  // The dot of a case, which chooses it; with a ring where it is a prototype, and another where it is chosen.
  const caseDot = (box, i, place, { kind, form = "circle", words, ringed, rings }) => {
    const row = data.rows[i],
      [prototype, pin] = rings,
      title = svg("title", {}, words),
      circle = bodyOf(form, place, { class: kind, "data-row": row }, title),
      around = { cx: place.cx, cy: place.cy };
    circle.addEventListener("click", () =>
      hub.set("person", hub.get("person") === row ? null : row),
    );
    box.append(circle);
    if (ringed.includes(row))
      box.append(svg("circle", { ...around, r: prototype, class: "prototype" }));
    if (hub.get("person") === row) box.append(svg("circle", { ...around, r: pin, class: "pin" }));
  };

  // Where the cases of a class stand on a strip, each above the others where they would cover it: [case, x, row].
  const piled = (values, mine, pos, { step, radius, rowsOf }) => {
    const zero = (i) => pos.place.zero && values[i] === 0,
      apart = {
        missing: mine.filter((i) => values[i] === null),
        zero: mine.filter(zero),
      },
      rest = mine
        .filter((i) => values[i] !== null && !zero(i))
        .map((i) => ({ i, x: pos.x(values[i]) }));
    const places = Object.entries(apart).flatMap(([key, list]) => {
      if (!pos.place[key]) return [];
      const [a, b] = pos.place[key],
        wide = Math.max(1, Math.floor((b - a - 4) / step)),
        many = Math.ceil(list.length / rowsOf), // of more than the place holds, columns of dots stand closer
        pace = many > wide ? (b - a - 2 * radius) / many : step;
      return list.map((i, q) => [i, a + radius + 1 + Math.floor(q / rowsOf) * pace, q % rowsOf]);
    });
    return [...places, ...dodge(rest, step, rowsOf).map((one) => [one.i, one.x, one.row])];
  };

  const cutOf = (box, column, pos, top, foot, width) => {
    const mark = (value, from, kind) => {
      box.append(line(kind, pos.x(value), pos.x(value), from, foot + 7));
    };
    if (column.steps.length <= 12) column.steps.forEach((value) => mark(value, foot - 5, "thin"));
    if (!column.cut) return;
    mark(column.cut.at, top - 22, "threshold");
    const x = pos.x(column.cut.at),
      near = x > width - 60 ? "end" : x < 60 ? "start" : "middle",
      words = (column.steps.length ? "" : "\u2248 ") + column.cut.text;
    box.append(text(x, top - 27, words, "strong halo", near));
  };

  // The sizes of a strip at a width: its dots, lanes and axis, and its bars where dots would cover each other.
  const stripAt = (column, values, width) => {
    const small = width < 420,
      radius = small ? 2.2 : 2.7,
      step = 2 * radius + 0.9,
      rowsOf = order.length > 2 ? 4 : 5,
      [top, gap, tall] = [40, 24, rowsOf * step],
      bins = binsOf(column),
      zeros = (k) => values.filter((v, i) => data.y[i] === k && v === 0).length,
      wide = Math.ceil(Math.max(...order.map(zeros)) / rowsOf) * step + 6,
      zeroWidth = bins ? 60 : Math.max(26, Math.min(wide, width / 2.2)),
      base = (lane) => top + tall + lane * (tall + gap);
    return {
      ...{ small, radius, step, rowsOf, top, tall, bins, base, width },
      pos: scale(column.axis, 2, width - 4, { zeroWidth, missingWidth: GONE }),
      foot: base(order.length - 1) + 7,
    };
  };
  const marked = (model, row) => model.ringed.includes(row) || hub.get("person") === row;
  const laneOf = (box, model, column, frame, k, lane) => {
    const { base, bins, pos, radius, step, tall, width } = frame,
      y = base(lane),
      values = data.of[column.whole],
      mine = data.y.map((_, i) => i).filter((i) => data.y[i] === k),
      look = {
        kind: hue[k],
        ringed: model.ringed,
        rings: [radius + 2, radius + 4],
      };
    box.append(text(width - 2, y - tall - 7, data.classes[k], `${hue[k]} halo strong`, "end"));
    if (bins) bars(box, column, bins, k, pos, y, tall);
    const dots = bins ? mine.filter((i) => marked(model, data.rows[i])) : mine; // of many those with a ring alone
    piled(values, dots, pos, frame).forEach(([i, x, row]) => {
      const place = { cx: near(x), cy: near(y - radius - row * step), r: radius };
      caseDot(box, i, place, { ...look, words: say(i, column.whole) });
    });
  };
  const strip = (model, column) => (width) => {
    const frame = stripAt(column, data.of[column.whole], width),
      { foot, pos, small, top } = frame,
      box = picture(width, foot + 32, describe(column));
    box.append(paint(column, pos, foot, 7, hue));
    cutOf(box, column, pos, top, foot, width);
    order.forEach((k, lane) => laneOf(box, model, column, frame, k, lane));
    foots(box, pos, foot, width, small);
    return box;
  };

  const foots = (box, pos, foot, width, small) => {
    const middle = ([a, b]) => (a + b) / 2;
    if (pos.place.zero) box.append(text(middle(pos.place.zero), foot + 21, "0", "soft", "middle"));
    if (pos.place.missing)
      box.append(text(middle(pos.place.missing), foot + 21, "missing", "soft", "middle"));
    let last = pos.place.zero ? pos.start - 20 : -Infinity;
    pos.ticks.forEach((value) => {
      const x = pos.x(value);
      if (x - last < (small ? 38 : 46)) return;
      last = x;
      box.append(
        line("axis", x, x, foot + 7, foot + 11),
        text(
          x,
          foot + 21,
          write(value),
          "soft",
          x > width - 16 ? "end" : x < 10 ? "start" : "middle",
        ),
      );
    });
  };

  // The cases of a lane in 48 parts of the axis, where it has more than 150 or dots would cover each other; else null.
  const [MOST, PARTS, PILE] = [150, 48, 10];
  const binsOf = (column) => {
    if (column.bins || !data.rows.length) return column.bins;
    const pos = scale(column.axis, 0, 1, { zeroWidth: 0, missing: false }),
      counts = data.classes.map(() => Array(PARTS).fill(0)),
      zero = data.classes.map(() => 0),
      part = (v) => ((pos.x(v) - pos.start) / (pos.to - pos.start)) * PARTS;
    data.of[column.whole].forEach((v, i) => {
      if (v === 0 && column.axis.zero) zero[data.y[i]] += 1;
      else if (v !== null) counts[data.y[i]][Math.min(Math.floor(part(v)), PARTS - 1)] += 1;
    });
    const many = Math.max(...data.sizes) > MOST || Math.max(...counts.flat()) > PILE;
    return many ? { counts, zero } : null;
  };

  // Mirrored: the positive class (and each lane of more) grows upwards, the other of two downwards. Cases at zero
  // and without a value are numbers, for they would press the others together.
  const bars = (box, column, bins, k, pos, y, tall) => {
    const most = Math.max(...bins.counts.flat(), 1),
      down = order.length === 2 && order.indexOf(k) === 1,
      each = (pos.to - pos.start) / bins.counts[k].length;
    bins.counts[k].forEach((n, i) => {
      const height = (n / most) * tall,
        top = down ? y - tall : y - height;
      if (n) box.append(rect(hue[k], pos.start + i * each, top, Math.max(each - 0.6, 0.4), height));
    });
    Object.entries({ zero: bins.zero[k], missing: column.counts.missing[k] }).forEach(
      ([key, n]) => {
        const [a, b] = pos.place[key] || [];
        if (b && n) box.append(text((a + b) / 2, y - tall / 2 + 4, String(n), "strong", "middle"));
      },
    );
  };

  // One counted block a category and class; of many categories those of most cases, for the table has them all.
  const MANY = 16;
  const sizeOf = (level) => level.counts.reduce((a, b) => a + b, 0);
  const counted = (n, c) => `${n} of ${data.sizes[c]} ${data.classes[c]}`;
  const blockOf = (level, y, { label, letters, tall, unit }) => {
    const high = order.length * tall;
    return [
      ...piece(level.moves, hue, label - 8, y, 5, high),
      wrapped(label - 14, y + high / 2 + 4, level.name, letters, "", "end"),
      ...order.flatMap((c, lane) => {
        const n = level.counts[c],
          wide = Math.max(n * unit, n ? 1 : 0),
          low = y + lane * tall;
        return [
          rect(hue[c], label, low + 1, wide, tall - 3),
          text(label + wide + 5, low + 11, counted(n, c), "soft small"),
        ];
      }),
    ];
  };
  const blocks = (column) => (width) => {
    const many = column.levels.length > MANY,
      levels = many
        ? [...column.levels].sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, MANY)
        : column.levels,
      most = Math.max(1, ...levels.flatMap((level) => level.counts)),
      room = 14 + 7.2 * Math.max(...order.map((c) => counted(data.sizes[c], c).length)),
      [tall, gap, label] = [15, 10, Math.min(150, width * 0.34)],
      letters = Math.floor((label - 14) / 7),
      lines = Math.max(...levels.map(({ name }) => page.draw.lines(name, letters).length)),
      each = Math.max(order.length * tall, 15 * lines) + gap,
      unit = Math.max(width - label - room, 40) / most,
      height = levels.length * each + (many ? 16 : 0),
      rest = `${column.levels.length - MANY} categories of fewer cases are in the table`,
      box = picture(width, height, describe(column));
    levels.forEach((level, i) =>
      box.append(...blockOf(level, i * each, { label, letters, tall, unit })),
    );
    if (many) box.append(text(label, height - 4, rest));
    return box;
  };

  const plainWords = (list) => list.map((one) => (typeof one === "string" ? one : one.t)).join("");
  const describe = (column) =>
    `${column.name}: values by class. ${plainWords(column.direction)} ${column.words}`;

  const squares = (column) => {
    if (!column.folds.length) return "";
    const span = make("span", "", "quiet"),
      marks = make("span", "", "squares");
    if (column.folds.length <= 30) {
      column.folds.forEach((read) => marks.append(make("span", "", read ? "on" : "")));
      marks.setAttribute("aria-hidden", "true");
      span.append(marks);
    }
    span.append(column.folds_words);
    return span;
  };

  const ifMissing = (column) =>
    column.missing
      ? [["mean answer if missing", ...order.map((k) => model().base[k] + column.missing[k])]]
      : [];
  const stretch = (ends, i) => {
    const [low, high] = [write(ends[i], 4), write(ends[i + 1], 4)];
    const last = i === ends.length - 2;
    if (i === 0) return last ? "at any value" : `below ${high}`; // ends lie beyond the data
    return last ? `from ${low}` : `from ${low} to ${high}`;
  };
  const rowsOf = (column) => {
    const side = (key) => order.map((k) => column.counts[key][k]),
      { cut } = column;
    if (column.kind === "category")
      return [
        ...column.levels.map((level) => [level.name, ...order.map((k) => level.counts[k])]),
        ["missing", ...side("missing")],
        ...ifMissing(column),
      ];
    const sides = cut
      ? [
          [`${cut.closed ? "from" : "above"} ${cut.text}`, ...side("above")],
          [`${cut.closed ? "below" : "at or below"} ${cut.text}`, ...side("below")],
        ]
      : [];
    return [
      ...sides,
      ["missing", ...side("missing")],
      ...ifMissing(column),
      ...column.moves.map((moves, i) => [
        `mean answer ${stretch(column.ends, i)}`,
        ...order.map((k) => model().base[k] + moves[k]),
      ]),
    ];
  };
  const tableOf = (column) =>
    table(
      `${column.name}: cases on either side, by class`,
      column.name,
      [column.kind === "category" ? "category" : "values", ...order.map((k) => data.classes[k])],
      () => rowsOf(column),
    );

  const model = () => data.models[hub.get("model")];

  const block = (one, column, alone) => {
    const row = make("div", "", alone ? "col alone" : "col"),
      words = make("div"),
      figure = make("figure");
    row.dataset.test = "value-column";
    row.dataset.column = figure.dataset.name = column.whole;
    const head = titled(column, "h3"),
      share = make("p", "", "small");
    share.append(
      column.share_words + (column.share_words && column.folds.length ? " · " : ""),
      squares(column),
    );
    words.append(head, share, told(parts(column.direction, hue)));
    if (column.words) words.append(told(column.words));
    if (column.missing_words.length) {
      const gone = told(parts(column.missing_words, hue));
      gone.dataset.test = "missing-words";
      words.append(gone);
    }
    if (column.rising_with.length) words.append(told(parts(column.rising_with), "small quiet"));
    figure.append(
      chart(column.kind === "category" ? blocks(column) : strip(one, column)),
      tableOf(column),
    );
    row.append(words, figure);
    return row;
  };

  // A surface of two columns as rectangles of what is called there, as wide as it is the same.
  const surface = (box, { plane: p }, cols, rows, y) =>
    rows.forEach(([y0, y1], i) => {
      let from = 0;
      cols.forEach((_, j) => {
        const k = called(p.chances[i][j]),
          last = j + 1 === cols.length || (p.axes[0].zero && j === 0);
        if (!last && called(p.chances[i][j + 1]) === k) return;
        const [left, right] = [cols[from][0], cols[j][1]],
          more = { "shape-rendering": "crispEdges" };
        box.append(rect(`${hue[k]} wash`, left, y(y1), right - left, y1 - y0, more));
        from = j + 1;
      });
    });
  // The calls, named where they are surest.
  const calls = (box, p, cols, rows, inside) =>
    data.classes.forEach((name, k) => {
      const [, col, row] = p.chances
        .flatMap((line, i) => line.map((chances, j) => [chances, cols[j], rows[i]]))
        .filter(([chances]) => called(chances) === k)
        .reduce((a, b) => (a.length && a[0][k] >= b[0][k] ? a : b), []);
      if (!col) return;
      const [cx, cy] = inside((col[0] + col[1]) / 2, (row[0] + row[1]) / 2);
      box.append(text(cx, cy, `called ${name}`, `${hue[k]} strong halo`, "middle"));
    });

  // Where the values of two columns stand in a plane of this width.
  const planeAt = ({ axes }, width) => {
    const [left, bottom, w] = [54, 44, Math.min(width, 640)],
      h = Math.min(w - 10, 470),
      across = scale(axes[0], left, w - 6, { zeroWidth: 46, missing: false }),
      up = scale(axes[1], 0, h - bottom - 8, { zeroWidth: 40, missing: false });
    return { left, low: h - bottom, w, h, across, up, y: (px) => h - bottom - px };
  };
  // Cases as dots, those at zero spread over its place.
  const planeDots = (box, one, { across, up, y }, radius) => {
    const [a, b] = one.columns,
      { axes } = one.plane,
      spread = (i, wide) => (((i * 7919) % 97) / 97 - 0.5) * wide;
    data.rows.forEach((_, i) => {
      const u = data.of[a.whole][i],
        v = data.of[b.whole][i];
      if (u === null || v === null) return;
      const cx = across.x(u) + (axes[0].zero && u === 0 ? spread(i, 36) : 0),
        cy = y(up.x(v) + (axes[1].zero && v === 0 ? spread(i + 13, 30) : 0)),
        words = `${say(i, a.whole)}, ${write(v)}`,
        [kind, form] = [`${hue[data.y[i]]} dot`, shape(data.y[i])],
        look = { kind, form, words, ringed: one.ringed, rings: [6.5, 8] };
      caseDot(box, i, { cx: near(cx), cy: near(cy), r: radius }, look);
    });
  };
  const planeAxes = ([a, b], { axes }, { across, up, y, low, left, w, h }) => {
    const lacking = (_, i) => [a, b].some((column) => data.of[column.whole][i] === null),
      gone = data.rows.filter(lacking).length,
      zero = (place) => (place[0] + place[1]) / 2;
    return [
      ...across.ticks.map((t) => text(across.x(t), low + 16, write(t), "soft", "middle")),
      ...up.ticks.map((t) => text(left - 6, y(up.x(t)) + 4, write(t), "soft", "end")),
      ...(axes[0].zero ? [text(zero(across.place.zero), low + 16, "0", "soft", "middle")] : []),
      ...(axes[1].zero ? [text(left - 6, y(up.x(0)) + 4, "0", "soft", "end")] : []),
      text(w - 8, h - 8, a.name, "strong", "end"),
      text(left + 4, 14, b.name + (gone ? ` \u00b7 ${gone} lack a value` : ""), "strong halo"),
    ];
  };
  // Two columns: the surface on which the model calls each class, at the threshold of the page.
  const plane = (one) => (width) => {
    const [a, b] = one.columns,
      p = one.plane,
      frame = planeAt(p, width),
      { across, up, y, low, left, w, h } = frame,
      places = (axis, pos, ends) => [
        ...(axis.zero ? [pos.place.zero] : []),
        ...ends.slice(1).map((end, i) => [pos.x(ends[i]), pos.x(end)]),
      ],
      cols = places(p.axes[0], across, p.ends[0]),
      rows = places(p.axes[1], up, p.ends[1]),
      words = `The cases on ${a.name} and ${b.name}, and what the model calls there`,
      box = picture(w, h, words);
    surface(box, one, cols, rows, y);
    planeDots(box, one, frame, width < 600 ? 3 : 4);
    box.append(...planeAxes(one.columns, p, frame));
    calls(box, p, cols, rows, (cx, cy) => [
      page.axis.clamp(cx, left + 60, w - 70),
      page.axis.clamp(y(cy), 34, low - 10),
    ]);
    return box;
  };

  const called = (raw) => {
    const chances = page.again.through(raw);
    if (chances.length === 2)
      return chances[data.positive] >= hub.get("threshold") ? data.positive : 1 - data.positive;
    return chances.indexOf(Math.max(...chances));
  };

  const others = (one) => {
    const box = make("div"),
      search = make("input"),
      label = make("label", "find a column "),
      scroll = make("div", "", "scroll tall");
    search.type = "search";
    search.dataset.test = "value-search";
    label.append(search);
    const element = make("table"),
      body = make("tbody"),
      kinds = ["", "", "", ""];
    element.dataset.test = "value-table";
    one.table.forEach((line) => {
      const name = titled(line, "th"),
        words = make("td");
      name.scope = "row";
      words.append(
        ...parts(
          [...line.direction, ...(line.missing_words.length ? [" ", ...line.missing_words] : [])],
          hue,
        ),
      );
      const share = line.share_words.replace(" of the importance", ""),
        counts = [line.words, line.folds_words].filter(Boolean).join(" ");
      body.append(page.row([name, share, words, counts], kinds));
    });
    search.addEventListener("input", () => {
      const wanted = search.value.trim().toLowerCase();
      [...body.rows].forEach((row, i) => {
        row.hidden = !(one.table[i].name + " " + one.table[i].whole).toLowerCase().includes(wanted);
      });
    });
    const top = make("thead");
    top.append(page.row(["column", "importance", "for whom", "cases"], kinds, true));
    element.append(top, body);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "The other columns");
    scroll.append(element);
    box.append(label, scroll);
    return box;
  };

  const links = (words, after) => {
    const p = told(words),
      known = Object.keys(data.models).filter((key) => data.models[key].columns.length);
    known.forEach((key, i) => {
      const button = make("button", key, "plain");
      button.type = "button";
      button.addEventListener("click", () => hub.set("model", key));
      p.append(i ? (i === known.length - 1 ? " or " : ", ") : "", button);
    });
    if (known.length) p.append(after);
    return p;
  };

  const planeFigure = (one, key) => {
    const figure = make("figure", "", "follows"),
      at = data.classes.length === 2 ? ", at the threshold above" : "",
      seen = data.rows.length ? " The model was fitted to these cases." : "",
      shapes = data.classes.map((name, k) => `${shape(k)} ${name}`).join(", "),
      cue = data.classes.length > 2 ? ` Cases: ${shapes}.` : "",
      words = `The surface is painted with the class that ${key} calls at each pair of values${at}.${seen}${cue}`;
    figure.dataset.test = "plane";
    figure.append(chart(plane(one), 600), told(words, "note"));
    return figure;
  };
  // A sample of the paint of a class, where a line is its second cue.
  const sample = (k) => {
    const box = svg("svg", { class: "sample", width: 22, height: 8, "aria-hidden": "true" }),
      moves = data.classes.map((_, c) => (c === k ? page.axis.reach : 0));
    box.append(...piece(moves, hue, 0, 0, 22, 8));
    return box;
  };
  const legend = (one, shown) => {
    const strips = shown.filter((column) => column.axis),
      counted = strips.filter(binsOf).length,
      rings = one.ringed.length
        ? ` Rings mark the ${one.ringed.length} prototypes of the model.`
        : "",
      bars = `Of more than ${MOST} cases a class, or where dots would cover each other, bars count them, to one height; those at 0 or without a value are numbers. `;
    return told(
      [
        counted < strips.length ? "Each dot is a case: " : "Cases by class: ",
        ...order.flatMap((k, i) => [
          i ? ", " : "",
          page.axis.coloured(data.classes[k], hue[k]),
          ...(order.length > 2 ? [" ", sample(k)] : []),
        ]),
        " in lanes from above. ",
        data.sampled || (counted ? bars : ""),
        one.painted,
        ` The deepest colour is a move of ${write(page.axis.reach, 2)}, on one scale for all models.`,
        rings,
      ],
      "note",
    );
  };
  // What opens and closes the columns beyond the first six.
  const moreButton = (one, many) => {
    const words = many ? "Hide them" : "Show the first six",
      button = make("button", open ? words : one.rest_words),
      p = make("p");
    button.type = "button";
    button.dataset.test = "value-more";
    button.setAttribute("aria-expanded", String(open));
    button.addEventListener("click", () => {
      open = !open;
      show();
      at("values-live").querySelector('[data-test="value-more"]').focus();
    });
    p.append(button);
    return p;
  };
  const show = () => {
    const one = model(),
      key = hub.get("model");
    if (!one || !one.columns.length) {
      const why = one
        ? one.lead
        : `${key} has no file in this study, so that its columns and values cannot be shown.`;
      host.replaceChildren(links(`${why} Choose `, " to see columns and values."));
      return;
    }
    const many = one.table.length > 0,
      drawn = many ? one.columns.slice(0, first) : one.columns,
      alone = one.columns.length === 1,
      shown = open ? drawn : drawn.slice(0, first);
    host.replaceChildren(
      ...[one.lead, ...one.notes].map((words) => told(words)),
      ...(one.plane ? [planeFigure(one, key)] : []),
      legend(one, shown),
      ...shown.map((column) => block(one, column, alone)),
      ...(one.rest_words && many && open ? [others(one)] : []),
      ...(one.rest_words ? [moreButton(one, many)] : []),
    );
    page.offerPictures(host);
  };

  hub.on("model", () => {
    open = false;
    show();
  });
  hub.on("person", () => again(host));
  ["threshold", "again"].forEach((key) =>
    hub.on(key, () => host.querySelectorAll('[data-test="plane"]').forEach((box) => again(box))),
  );
  at("values-first").hidden = true;
  host.hidden = false;
  show();
})();
