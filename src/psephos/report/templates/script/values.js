// The thresholds of the chosen model by column, drawn from the study's figures.
(() => {
  const { at, button, hub, make, svg } = page,
    { circle, dodged, ground, line, picture, rect, text, wrapped } = page.draw,
    data = page.data.values;
  if (!data) return;
  const { again, chart, clamp, hues, paint, parts, piece, scale, table, titled, write } = page.axis,
    host = at("values-live"),
    hue = hues(data.positive, data.classes.length),
    { order } = data, // classes by lane: the positive one at the top
    FIRST = 6, // columns that are drawn at first
    GONE = 52; // width in pixels of the area of missing values, for its word
  let open = false;

  const say = (i, whole) =>
    `${page.people.name(data.rows[i])}, ${data.classes[data.y[i]]}: ${write(data.of[whole][i], 3)}`;

  // The shape of a dot: in the plane each of three classes or more has its own, a cue besides colour.
  const SHAPES = ["circle", "square", "triangle", "diamond"];
  const shape = (k) => (data.classes.length > 2 ? SHAPES[k % SHAPES.length] : "circle");
  const bodyOf = (form, cx, cy, r, look, title) => {
    const [turn, n] = { square: [45, 4], triangle: [-90, 3], diamond: [-90, 4] }[form] || [];
    if (!n) return svg("circle", { cx, cy, r, ...look }, title);
    const points = Array.from({ length: n }, (_, i) => {
      const a = ((turn + (360 * i) / n) * Math.PI) / 180;
      return [cx + 1.3 * r * Math.cos(a), cy + 1.3 * r * Math.sin(a)].map(page.draw.near);
    });
    return svg("polygon", { points: points.join(" "), ...look }, title);
  };
  // The dot of a case, which can be clicked; with a ring if it is a prototype, and another if it is chosen.
  const caseDot = (i, [x, y, r], { kind, form, words, ringed, rings }) => {
    const row = data.rows[i],
      pinned = hub.get("person") === row,
      dot = bodyOf(form, x, y, r, { class: kind, "data-row": row }, svg("title", {}, words));
    dot.addEventListener("click", () => hub.set("person", pinned ? null : row));
    return [
      dot,
      ...(ringed.includes(row) ? [circle("prototype", x, y, rings[0])] : []),
      ...(pinned ? [circle("pin", x, y, rings[1])] : []),
    ];
  };

  // The positions of the cases of a class on a strip, stacked where they would overlap: [case, x, row].
  const piled = (values, mine, pos, { step, radius, rowsOf }) => {
    const places = ["missing", "zero"].map((key) => pos.place[key]),
      apart = (i) => (values[i] === null ? 0 : values[i] === 0 && places[1] ? 1 : -1),
      rest = mine.filter((i) => apart(i) < 0),
      xs = rest.map((i) => pos.x(values[i]));
    const aside = places.flatMap((place, k) => {
      const list = place ? mine.filter((i) => apart(i) === k) : [],
        [a, b] = place || [],
        wide = Math.max(1, Math.floor((b - a - 4) / step)),
        many = Math.ceil(list.length / rowsOf), // if there are too many, columns of dots are closer
        pace = many > wide ? (b - a - 2 * radius) / many : step;
      return list.map((i, q) => [i, a + radius + 1 + Math.floor(q / rowsOf) * pace, q % rowsOf]);
    });
    return [...aside, ...dodged(xs, step, rowsOf).map(([, row], k) => [rest[k], xs[k], row])];
  };

  // The thresholds of a model on a strip: those of its voters, and the one where the mean prediction changes class.
  const cutOf = ({ steps, cut }, pos, top, foot, width) => {
    const mark = (value, from, kind) => line(kind, pos.x(value), pos.x(value), from, foot + 7),
      thin = steps.length <= 12 ? steps.map((value) => mark(value, foot - 5, "thin")) : [];
    if (!cut) return thin;
    const x = pos.x(cut.at),
      near = x > width - 60 ? "end" : x < 60 ? "start" : "middle",
      words = (steps.length ? "" : "\u2248 ") + cut.text;
    return [
      ...thin,
      mark(cut.at, top - 22, "threshold"),
      text(x, top - 27, words, "strong halo", near),
    ];
  };

  // The dimensions of a strip at a width: its dots, lanes and axis, and its bars if dots would overlap.
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
  const laneOf = (model, column, frame, k, lane) => {
    const { base, bins, pos, radius, step, tall, width } = frame,
      y = base(lane),
      values = data.of[column.whole],
      mine = data.y.flatMap((own, i) => (own === k ? [i] : [])),
      look = { kind: hue[k], ringed: model.ringed, rings: [radius + 2, radius + 4] },
      dots = bins ? mine.filter((i) => marked(model, data.rows[i])) : mine; // with bars only dots with a ring
    return [
      text(width - 2, y - tall - 7, data.classes[k], `${hue[k]} halo strong`, "end", width / 2),
      ...(bins ? bars(column, bins, k, pos, y, tall) : []),
      ...piled(values, dots, pos, frame).flatMap(([i, x, row]) =>
        caseDot(i, [x, y - radius - row * step, radius], { ...look, words: say(i, column.whole) }),
      ),
    ];
  };
  const strip = (model, column) => (width) => {
    const frame = stripAt(column, data.of[column.whole], width),
      { foot, pos, small, top } = frame,
      box = picture(width, foot + 32, describe(column));
    box.append(
      paint(column, pos, foot, 7, hue),
      ...cutOf(column, pos, top, foot, width),
      ...order.flatMap((k, lane) => laneOf(model, column, frame, k, lane)),
      ...foots(pos, foot, width, small),
    );
    return box;
  };

  const foots = (pos, foot, width, small) => {
    const below = (x, words, anchor = "middle") => text(x, foot + 21, words, "soft", anchor),
      names = { zero: "0", missing: "missing" },
      apart = Object.entries(pos.place).map(([key, [a, b]]) => below((a + b) / 2, names[key]));
    let last = pos.place.zero ? pos.start - 20 : -Infinity;
    const ticks = pos.ticks.flatMap((value) => {
      const x = pos.x(value),
        late = x > width - 16, // its words are to its left
        room = (late ? 11 : 7.5) * write(value).length;
      if (x - last < Math.max(small ? 38 : 46, room)) return [];
      last = x;
      const anchor = late ? "end" : x < 10 ? "start" : "middle";
      return [line("axis", x, x, foot + 7, foot + 11), below(x, write(value), anchor)];
    });
    return [...apart, ...ticks];
  };

  // The cases of each class in 48 parts of the axis, if one has more than 150 or dots would overlap; else null.
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

  // For two classes, bars of the other one extend downwards. Cases at zero and without a value are written as numbers.
  const bars = (column, bins, k, pos, y, tall) => {
    const most = Math.max(...bins.counts.flat(), 1),
      down = order.length === 2 && order.indexOf(k) === 1,
      each = (pos.to - pos.start) / bins.counts[k].length,
      wide = Math.max(each - 0.6, 0.4),
      apart = { zero: bins.zero[k], missing: column.counts.missing[k] };
    const drawn = bins.counts[k].flatMap((n, i) => {
      const height = (n / most) * tall,
        top = down ? y - tall : y - height;
      return n ? [rect(hue[k], pos.start + i * each, top, wide, height)] : [];
    });
    const numbers = Object.entries(pos.place).flatMap(([key, [a, b]]) =>
      apart[key]
        ? [text((a + b) / 2, y - tall / 2 + 4, String(apart[key]), "strong", "middle")]
        : [],
    );
    return [...drawn, ...numbers];
  };

  // One block of counted cases per category and class; if there are many categories, only the most frequent ones.
  const MANY = 16;
  const sizeOf = (level) => level.counts.reduce((a, b) => a + (Number(b) || 0), 0);
  const counted = (n, c) => `${n} of ${data.sizes[c]} ${data.classes[c]}`;
  const blockOf = (level, y, { label, letters, room, tall, unit }) => {
    const high = order.length * tall;
    return [
      ...piece(level.moves, hue, label - 8, y, 5, high),
      wrapped(label - 14, y + high / 2 + 4, level.name, letters, "", "end"),
      ...order.flatMap((c, lane) => {
        const n = level.counts[c],
          wide = n > 0 ? Math.max(n * unit, 1) : 0, // "< 10" is a word
          low = y + lane * tall;
        return [
          rect(hue[c], label, low + 1, wide, tall - 3),
          text(label + wide + 5, low + 11, counted(n, c), "soft small", "start", room),
        ];
      }),
    ];
  };
  const blocks = (column) => (width) => {
    const many = column.levels.length > MANY,
      levels = many
        ? [...column.levels].sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, MANY)
        : column.levels,
      top = Math.max(1, ...levels.flatMap((level) => level.counts.filter(Number))),
      [tall, gap, label] = [15, 10, Math.min(150, width * 0.34)],
      counts = order.map((c) => counted(data.sizes[c], c).length),
      room = Math.min(14 + 7.2 * Math.max(...counts), width - label - 40),
      letters = Math.floor((label - 14) / 7),
      lines = Math.max(...levels.map(({ name }) => page.draw.lines(name, letters).length)),
      each = Math.max(order.length * tall, 15 * lines) + gap,
      unit = Math.max(width - label - room, 40) / top,
      height = levels.length * each + (many ? 16 : 0),
      rest = `${column.levels.length - MANY} categories of fewer cases are in the table`,
      box = picture(width, height, describe(column));
    levels.forEach((level, i) =>
      box.append(...blockOf(level, i * each, { label, letters, room, tall, unit })),
    );
    if (many) box.append(text(label, height - 4, rest));
    return box;
  };

  const plainWords = (list) => list.map((one) => (typeof one === "string" ? one : one.t)).join("");
  const describe = (column) =>
    `${column.name}: values by class. ${plainWords(column.direction)} ${column.words}`;

  // The cases and mean predictions by value, in words.
  const stretch = (ends, i, zero) => {
    const [low, high] = [write(ends[i], 4), write(ends[i + 1], 4)],
      last = i === ends.length - 2;
    if (i === 0 && !zero) return last ? "at any value" : `below ${high}`; // the ends are outside the data
    return last ? `from ${low}` : `from ${low} to ${high}`;
  };
  const rowsOf = ({ counts, cut, ends, levels = [], missing, moves = [], zero }) => {
    const counted = (words, by) => [words, ...order.map((k) => String(by[k]))],
      mean = (words, by) => {
        const answers = order.map((k) => page.words.rate(model().base[k] + by[k]));
        return [`mean answer ${words}`, ...answers];
      },
      [above, below] = cut?.closed ? ["from", "below"] : ["above", "at or below"];
    return [
      ...levels.map((level) => counted(level.name, level.counts)),
      ...(cut ? [counted(`${above} ${cut.text}`, counts.above)] : []),
      ...(cut ? [counted(`${below} ${cut.text}`, counts.below)] : []),
      counted("missing", counts.missing),
      ...(missing ? [mean("if missing", missing)] : []),
      ...(zero ? [mean("at 0", zero)] : []),
      ...moves.map((by, i) => mean(stretch(ends, i, zero), by)),
    ];
  };
  const tableOf = (column) =>
    table(
      `${column.name}: cases by value and class`,
      column.name,
      [column.kind === "category" ? "category" : "values", ...order.map((k) => data.classes[k])],
      () => rowsOf(column),
    );

  const model = () => data.models[hub.get("model")];

  const block = (one, column, alone) => {
    const coloured = (list, look = "") => (list.length ? [make("p", parts(list, hue), look)] : []),
      share = [column.share_words, column.folds_words].filter(Boolean).join(" \u00b7 ");
    const words = make("div", [
      titled(column, "h3"),
      make("p", share, "small"),
      ...coloured(column.direction),
      make("p", column.words),
      ...coloured(column.missing_words, { data: { test: "missing-words" } }),
      ...coloured(column.rising_with, "small quiet"),
    ]);
    const draw = column.kind === "category" ? blocks(column) : strip(one, column),
      figure = make("figure", [chart(draw), tableOf(column)], { data: { name: column.whole } }),
      marks = { test: "value-column", column: column.whole };
    return make("div", [words, figure], { className: alone ? "col alone" : "col", data: marks });
  };

  // A surface of two columns as rectangles of the predicted class, as wide as it is the same.
  const called = (chances) => page.again.called(page.again.through(chances));
  const surface = ({ axes, chances }, cols, rows, y) =>
    rows.flatMap(([y0, y1], i) => {
      let from = 0;
      return cols.flatMap((_, j) => {
        const k = called(chances[i][j]),
          last = j + 1 === cols.length || (axes[0].zero && j === 0);
        if (!last && called(chances[i][j + 1]) === k) return [];
        const [left, right] = [cols[from][0], cols[j][1]],
          more = { "shape-rendering": "crispEdges" };
        from = j + 1;
        return [rect(`${hue[k]} wash`, left, y(y1), right - left, y1 - y0, more)];
      });
    });
  // The predicted classes, named where their probability is greatest.
  const calls = (p, cols, rows, inside, most) =>
    data.classes.flatMap((name, k) => {
      const [, col, row] = p.chances
        .flatMap((line, i) => line.map((chances, j) => [chances, cols[j], rows[i]]))
        .filter(([chances]) => called(chances) === k)
        .reduce((a, b) => (a.length && a[0][k] >= b[0][k] ? a : b), []);
      if (!col) return [];
      const half = Math.min(3.6 * name.length + 25, most / 2),
        [x, y] = inside((col[0] + col[1]) / 2, (row[0] + row[1]) / 2, half);
      return [text(x, y, `called ${name}`, `${hue[k]} strong halo`, "middle", most)];
    });
  // Cases as dots; those at zero are spread over its area.
  const planeDots = ({ columns: [a, b], plane: { axes }, ringed }, across, up, y, radius) => {
    const spread = (i, wide) => (((i * 7919) % 97) / 97 - 0.5) * wide;
    return data.rows.flatMap((_, i) => {
      const [u, v] = [a, b].map(({ whole }) => data.of[whole][i]);
      if (u === null || v === null) return [];
      const cx = across.x(u) + (axes[0].zero && u === 0 ? spread(i, 36) : 0),
        cy = y(up.x(v) + (axes[1].zero && v === 0 ? spread(i + 13, 30) : 0)),
        [kind, form] = [`${hue[data.y[i]]} dot`, shape(data.y[i])],
        words = `${say(i, a.whole)}, ${write(v)}`;
      return caseDot(i, [cx, cy, radius], { kind, form, words, ringed, rings: [6.5, 8] });
    });
  };
  // Two columns: the surface of predicted classes, at the threshold of the page.
  const plane = (one) => (width) => {
    const { columns, plane: p } = one,
      names = columns.map(({ name }) => name),
      [left, right] = [54, Math.min(width, 640) - 6],
      bottom = Math.min(right - 50, 424),
      across = scale(p.axes[0], left, right, { zeroWidth: 46, missing: false }),
      up = scale(p.axes[1], 0, bottom - 24, { zeroWidth: 40, missing: false }),
      y = (px) => bottom - px,
      places = ({ place, x }, ends) => [
        ...(place.zero ? [place.zero] : []),
        ...ends.slice(1).map((end, i) => [x(ends[i]), x(end)]),
      ],
      ticks = ({ place, x, ticks }) =>
        [...(place.zero ? [0] : []), ...ticks].map((v) => [x(v), write(v)]),
      lacks = (_, i) => columns.some(({ whole }) => data.of[whole][i] === null),
      gone = data.rows.filter(lacks).length,
      what = [names[0], names[1] + (gone ? ` \u00b7 ${gone} lack a value` : "")],
      [cols, rows] = [places(across, p.ends[0]), places(up, p.ends[1])],
      most = right - left, // of the width of words
      inside = (cx, cy, half) => [
        clamp(cx, left + half, right - half),
        clamp(y(cy), 34, bottom - 10),
      ],
      words = `The cases on ${names.join(" and ")}, and what the model calls there`,
      box = picture(right + 6, bottom + 48, words),
      upward = ticks(up).map(([px, one]) => [y(px), one]);
    box.append(
      ...surface(p, cols, rows, y),
      ...ground({ left, right, bottom }, ticks(across), upward, what),
      ...planeDots(one, across, up, y, width < 600 ? 3 : 4),
      ...calls(p, cols, rows, inside, most),
    );
    return box;
  };

  // The columns that are not drawn, with a search.
  const others = ({ table: lines }) => {
    const body = lines.map((line) => {
      const direction = [...line.direction, " ", ...line.missing_words],
        share = line.share_words.replace(" of the importance", ""),
        counts = [line.words, line.folds_words].filter(Boolean).join(" "),
        name = titled(line, "th", { scope: "row" });
      return page.row([name, share, make("td", parts(direction, hue)), counts], ["", "", "", ""]);
    });
    const plain = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " "); // 2581_at: 2581 at
    const oninput = ({ target }) => {
      const wanted = plain(target.value.trim());
      body.forEach((row, i) => {
        row.hidden = !plain(`${lines[i].name} ${lines[i].whole}`).includes(wanted);
      });
    };
    const search = make("input", "", { type: "search", oninput, data: { test: "value-search" } }),
      heads = ["column", "importance", "direction", "cases"],
      box = page.table("The other columns", heads, body, ["", "", "", ""], "");
    box.classList.add("tall");
    box.firstChild.dataset.test = "value-table";
    return [make("label", ["find a column ", search]), box];
  };

  const planeFigure = (one, key) => {
    const at = data.classes.length === 2 ? ", at the threshold above" : "",
      seen = data.rows.length ? " The model was fitted to these cases." : "",
      shapes = data.classes.map((name, k) => `${shape(k)} ${name}`).join(", "),
      cue = data.classes.length > 2 ? ` Cases: ${shapes}.` : "",
      words = `The surface is painted with the class that ${key} calls at each pair of values${at}.${seen}${cue}`,
      parts = [chart(plane(one), 600), make("p", words, "note")];
    return make("figure", parts, { className: "follows", data: { test: "plane" } });
  };
  // A sample of the colour of a class, with its line as a second cue.
  const sample = (k) => {
    const moves = data.classes.map((_, c) => (c === k ? page.axis.reach : 0)),
      look = { class: "sample", width: 22, height: 8, "aria-hidden": "true" };
    return svg("svg", look, ...piece(moves, hue, 0, 0, 22, 8));
  };
  const legend = (one, shown) => {
    const strips = shown.filter((column) => column.axis),
      counted = strips.filter(binsOf).length,
      rings = one.ringed.length
        ? ` Rings mark the ${one.ringed.length} prototypes of the model.`
        : "",
      bars = `With more than ${MOST} cases in a class, or where dots would overlap, bars count the cases, on one scale for all classes; those at 0 or without a value are numbers. `,
      names = order.flatMap((k, i) => [
        i ? ", " : "",
        make("strong", data.classes[k], hue[k]),
        ...(order.length > 2 ? [" ", sample(k)] : []),
      ]);
    const words = [
      counted < strips.length ? "Each dot is a case: " : "Cases by class: ",
      ...names,
      " in lanes from above. ",
      data.sampled || (counted ? bars : ""),
      one.painted,
      ` The strongest colour is a move of ${write(page.axis.reach, 2)}, on one scale for all models.`,
      rings,
    ];
    return make("p", words, "note");
  };
  // The button that shows and hides the columns after the first six.
  const moreButton = ({ rest_words: rest, table: lines }) => {
    const words = open ? (lines.length ? "Hide them" : "Show the first six") : rest;
    const press = () => {
      open = !open;
      show();
      host.querySelector('[data-test="value-more"]').focus();
    };
    const one = button(words, press, "", { test: "value-more" });
    one.ariaExpanded = String(open);
    return make("p", one);
  };
  const show = () => {
    const one = model(),
      key = hub.get("model");
    if (!one?.columns.length) {
      const why = one
          ? one.lead
          : `${key} has no file in this study, so that its columns and values cannot be shown.`,
        keys = Object.keys(data.models).filter((key) => data.models[key].columns.length);
      host.replaceChildren(page.links(`${why} Choose`, keys, "or", " to see columns and values."));
      return;
    }
    const many = one.table.length > 0,
      shown = open && !many ? one.columns : one.columns.slice(0, FIRST);
    host.replaceChildren(
      ...[one.lead, ...one.notes].map((words) => make("p", words)),
      ...(one.plane ? [planeFigure(one, key)] : []),
      legend(one, shown),
      ...shown.map((column) => block(one, column, one.columns.length === 1)),
      ...(one.rest_words && many && open ? others(one) : []),
      ...(one.rest_words ? [moreButton(one)] : []),
    );
    page.offerPictures(host);
  };

  hub.on("model", () => {
    open = false;
    show();
  });
  hub.on("person", () => again(host));
  ["threshold", "again"].forEach((key) =>
    hub.on(key, () => page.all('[data-test="plane"]', host).forEach((box) => again(box))),
  );
  at("values-first").hidden = true;
  host.hidden = false;
  show();
})();
