// Axes of columns: where a value stands, the paint beneath, words with classes in their colours.
page.axis = (() => {
  const { make, svg } = page,
    { line, rect } = page.draw;
  const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

  // A number for reading: so many figures, a true minus.
  const write = (x, digits = 3) => {
    if (x === null || x === undefined) return "missing";
    if (typeof x !== "number") return String(x);
    if (Number.isInteger(x) && Math.abs(x) < 1e15) return String(x).replace("-", "\u2212");
    const before = Math.abs(x) < 1e15 ? String(Math.round(Math.abs(x))).length : 0;
    return String(Number(x.toPrecision(Math.max(digits, Math.abs(x) >= 1 ? before : 0)))).replace(
      "-",
      "\u2212",
    );
  };

  // Classes in their colours: of two the positive one and the other; of more, one hue each.
  const hues = (positive, n) =>
    Array.from({ length: n }, (_, k) => (n === 2 ? (k === positive ? "pos" : "neg") : `c${k % 8}`));

  const coloured = (words, hue, tag = "strong") => make(tag, words, hue);
  // parts of a sentence: words, {k, t}: words in the colour of class k, {i}: a species
  const parts = (list, of) =>
    list.map((one) =>
      typeof one === "string"
        ? one
        : one.i
          ? make("span", one.i, "species")
          : coloured(one.t, of[one.k]),
    );
  // a name as the page sets it
  const titled = (one, tag, kind = "") => {
    const element = make(tag, "", kind);
    element.append(make("span", one.name, one.italic ? "species" : ""));
    if (one.whole && one.whole !== one.name) element.title = one.whole;
    return element;
  };

  // Where values stand between two pixels; missing ones and, before a logarithmic axis, zero have places of their own.
  const scale = (
    axis,
    from,
    to,
    { zeroWidth = 26, missing = axis.missing, missingWidth = 24 } = {},
  ) => {
    const place = {};
    let start = from;
    if (missing) {
      place.missing = [start, start + missingWidth];
      start += missingWidth + 8;
    }
    if (axis.zero) {
      place.zero = [start, start + zeroWidth];
      start += zeroWidth + 10;
    }
    const f = axis.log ? Math.log10 : (x) => x,
      low = f(axis.low),
      high = f(axis.high);
    const middle = ([a, b]) => (a + b) / 2;
    const x = (value) => {
      if (value === null) return place.missing ? middle(place.missing) : from;
      if (axis.log && value <= 0) return place.zero ? middle(place.zero) : start;
      return start + clamp((f(value) - low) / (high - low), 0, 1) * (to - start);
    };
    const value = (px) => {
      if (place.zero && px < start - 5) return 0;
      const t = low + clamp((px - start) / (to - start), 0, 1) * (high - low);
      return Number((axis.log ? 10 ** t : t).toPrecision(3));
    };
    return { x, value, start, to, place, ticks: ticks(axis) };
  };

  const ticks = (axis) => {
    const found = [];
    if (axis.log) {
      const low = Math.ceil(Math.log10(axis.low)),
        high = Math.floor(Math.log10(axis.high));
      const factors = high - low < 2 ? [1, 2, 5] : [1];
      for (let k = low - 1; k <= high; k += 1)
        factors.forEach((a) => found.push(Number((a * 10 ** k).toPrecision(1))));
    } else {
      const raw = (axis.high - axis.low) / 5,
        size = 10 ** Math.floor(Math.log10(raw));
      const step = size * [1, 2, 5, 10].find((a) => a * size >= raw);
      for (let k = Math.ceil(axis.low / step); k * step <= axis.high; k += 1)
        found.push(Number((k * step).toPrecision(12)));
    }
    return found.filter((t) => t >= axis.low && t <= axis.high);
  };

  // What a value moves the answer by, as the class it speaks for and how much; `moves` has one entry a class.
  const speaks = (moves) => {
    const k = moves.indexOf(Math.max(...moves));
    return [k, moves[k]];
  };

  // The greatest move of all models: one scale of depth for the page.
  const movesOf = (one) =>
    [
      ...(one.moves || []),
      ...(one.levels || []).map((level) => level.moves),
      one.zero,
      one.missing,
    ].filter(Boolean);
  const values = page.data.values,
    columns = values ? Object.values(values.models).flatMap((one) => one.columns) : [];
  if (values && values.classes.length === 2)
    columns
      .filter((one) => one.moves)
      .forEach((one) => {
        one.moves = one.moves.map((move) => (values.positive ? [-move, move] : [move, -move])); // what one class gains, the other loses
      });
  const reach = Math.max(1e-9, ...columns.flatMap(movesOf).map((moves) => speaks(moves)[1]));

  // What is painted where the answer moves so: the class it moves to, the deeper the more; of three classes and more
  // a line through the middle is a second cue, each class with dashes of its own.
  const DASHES = ["", "none", "1 4", "6 4", "12 4", "12 3 1 3", "2 1", "1 8"];
  const deep = (size, most) => (0.1 + 0.9 * Math.min(1, Math.max(size, 0) / most)).toFixed(3);
  const piece = (moves, hue, x, y, width, height) => {
    const [k, size] = speaks(moves),
      look = { opacity: deep(size, reach), "shape-rendering": "crispEdges" },
      painted = rect(hue[k], x, y, width, height, look);
    if (hue.length < 3 || !DASHES[k % 8]) return [painted];
    const [cx, cy] = [x + width / 2, y + height / 2],
      ends = height > width ? [cx, cx, y, y + height] : [x, x + width, cy],
      cue = line("cue", ...ends);
    cue.setAttribute("stroke-dasharray", DASHES[k % 8]);
    return [painted, cue];
  };

  // The painted axis.
  const paint = (column, at, y, height, hue) => {
    const group = svg("g", { class: "paint" }),
      add = (a, b, moves) =>
        moves && b - a >= 0.3 && group.append(...piece(moves, hue, a, y, b - a, height));
    if (at.place.missing) add(...at.place.missing, column.missing);
    if (at.place.zero) add(...at.place.zero, column.zero);
    (column.moves || []).forEach((moves, i) =>
      add(at.x(column.ends[i]), at.x(column.ends[i + 1]), moves),
    );
    return group;
  };

  // A box that is drawn at its real width, and again when that changes.
  const boxes = new Map();
  const watcher = new ResizeObserver((entries) =>
    requestAnimationFrame(() => entries.forEach((entry) => redraw(entry.target))),
  );
  const redraw = (box, width = Math.floor(box.clientWidth)) => {
    const known = boxes.get(box);
    if (!known || width < 40 || known.width === width) return;
    known.width = width;
    box.replaceChildren(known.draw(width));
  };
  const chart = (draw, printed = 440) => {
    const box = make("div", "", "chart-box");
    boxes.set(box, { draw, printed, width: 0 });
    watcher.observe(box);
    return box;
  };
  const again = (root) =>
    boxes.forEach((known, box) => {
      if (!box.isConnected) {
        watcher.unobserve(box);
        boxes.delete(box);
      } else if (root.contains(box)) {
        known.width = 0;
        redraw(box);
      }
    });
  addEventListener("beforeprint", () =>
    boxes.forEach((known, box) => {
      known.width = 0;
      redraw(box, known.printed);
    }),
  );
  addEventListener("afterprint", () =>
    boxes.forEach((known, box) => {
      known.width = 0;
      redraw(box);
    }),
  );

  // A closed table of a chart's figures, written when it is opened, and as a csv file.
  const table = (caption, name, head, rows) => {
    const details = make("details", "", "data");
    details.append(make("summary", "Table"));
    details.addEventListener("toggle", () => {
      if (!details.open || details.querySelector("table")) return;
      const element = make("table"),
        body = make("tbody"),
        title = make("caption");
      title.append(make("span", caption));
      const written = (v) => (typeof v === "number" ? write(v, 4) : (v ?? "\u2013"));
      rows().forEach((row) => {
        const line = page.row(row.map(written));
        row.forEach((v, i) => {
          if (typeof v === "number") line.cells[i].dataset.value = v;
        });
        body.append(line);
      });
      const headRow = make("thead");
      headRow.append(page.row(head, [""], true));
      element.append(title, headRow, body);
      const scroll = make("div", "", "scroll");
      scroll.tabIndex = 0;
      scroll.setAttribute("role", "region");
      scroll.setAttribute("aria-label", caption);
      scroll.append(element);
      details.append(scroll);
      page.offerTable(element, name);
    });
    return details;
  };

  return {
    again,
    chart,
    clamp,
    coloured,
    deep,
    hues,
    paint,
    parts,
    piece,
    reach,
    scale,
    table,
    titled,
    write,
  };
})();

// What the page calls a case (a row of the table), and the answer it got while held out: a probability
// a class, or null where it got none.
page.people = (() => {
  const told = page.data.missed,
    places = new Map(((told && told.rows) || []).map((row, i) => [row, i]));
  const ids = (page.data.observed || {}).names || {}; // of a study of numbers
  const name = (row) =>
    ids[row] ||
    (told && told.names && places.has(row) ? told.names[places.get(row)] : `case ${row + 1}`);
  const heldOut = (key, row) => {
    const model = told && page.again.shown(key, told.models[key]),
      i = places.get(row);
    if (!model || i === undefined) return null;
    if (model.q) {
      if (model.q[i] < 0) return null;
      const p = model.q[i] / 1e6;
      return told.positive === 1 ? [1 - p, p] : [p, 1 - p];
    }
    return model.P && model.said[i] >= 0 ? model.P.map((answers) => answers[i] / 1e6) : null;
  };
  return { heldOut, name };
})();
