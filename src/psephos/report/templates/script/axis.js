// Axes of columns: positions of values, the coloured axis, words with classes in their colours.
page.axis = (() => {
  const { make, svg } = page,
    { line, rect } = page.draw;
  const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

  // A number as text: with `digits` significant digits and a typographic minus.
  const write = (x, digits = 3) => {
    if (x === null || x === undefined) return "missing";
    if (typeof x !== "number") return String(x);
    if (Number.isInteger(x) && Math.abs(x) < 1e15) return String(x).replace("-", "\u2212");
    const size = Math.abs(x),
      before = size >= 1 && size < 1e15 ? String(Math.round(size)).length : 0;
    return String(Number(x.toPrecision(Math.max(digits, before)))).replace("-", "\u2212");
  };

  // The colours of classes: two for the positive class and the other; one each if there are more.
  const hues = (positive, n) =>
    Array.from({ length: n }, (_, k) => (n === 2 ? (k === positive ? "pos" : "neg") : `c${k % 8}`));

  // parts of a sentence: words, {k, t}: words in the colour of class k, {i}: a species
  const parts = (list, of) =>
    list.map((one) => {
      if (typeof one === "string") return one;
      return one.i ? make("span", one.i, "species") : make("strong", one.t, of[one.k]);
    });
  // a name as an element
  const named = ({ name, italic }) => make("span", name, italic ? "species" : "");
  const titled = (one, tag, look = {}) => {
    const title = one.whole && one.whole !== one.name ? one.whole : "";
    return make(tag, named(one), { title, ...look });
  };

  // The positions of values between two pixels; missing values and, before a logarithmic axis, zero have separate areas.
  const scale = (axis, from, to, widths = {}) => {
    const { zeroWidth = 26, missing = axis.missing, missingWidth = 24 } = widths,
      place = {};
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
      [low, high] = [f(axis.low), f(axis.high)],
      middle = ([a, b]) => (a + b) / 2;
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

  // Round numbers on an axis.
  const ticks = ({ low, high, log }) => {
    const inside = (found) => found.filter((t) => t >= low && t <= high);
    if (log) {
      const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))],
        powers = Array.from({ length: last - first + 1 }, (_, k) => `1e${first + k}`);
      return inside(powers.flatMap((p) => (last - first < 4 ? [1, 2, 5] : [1]).map((a) => a * p)));
    }
    const raw = (high - low) / 5,
      size = 10 ** Math.floor(Math.log10(raw)),
      step = size * [1, 2, 5, 10].find((a) => a * size >= raw),
      multiple = (_, k) => Number(((Math.ceil(low / step) + k) * step).toPrecision(12));
    return inside(Array.from({ length: 7 }, multiple));
  };

  // The class that a value favours, and the effect; `moves` has one entry per class.
  const favours = (moves) => {
    const k = moves.indexOf(Math.max(...moves));
    return [k, moves[k]];
  };

  // The greatest effect in all models: one colour scale for the page.
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
  const reach = Math.max(1e-9, ...columns.flatMap(movesOf).map((moves) => favours(moves)[1]));

  // The colour of an effect: that of the favoured class; for three classes or more dashes of a line are a second cue.
  const DASHES = ["", "none", "1 4", "6 4", "12 4", "12 3 1 3", "2 1", "1 8"];
  const deep = (size, most) => (0.1 + 0.9 * Math.min(1, Math.max(size, 0) / most)).toFixed(3);
  const piece = (moves, hue, x, y, width, height) => {
    const [k, size] = favours(moves),
      look = { opacity: deep(size, reach), "shape-rendering": "crispEdges" },
      painted = rect(hue[k], x, y, width, height, look);
    if (hue.length < 3 || !DASHES[k % 8]) return [painted];
    const [cx, cy] = [x + width / 2, y + height / 2],
      ends = height > width ? [cx, cx, y, y + height] : [x, x + width, cy],
      cue = line("cue", ...ends);
    cue.setAttribute("stroke-dasharray", DASHES[k % 8]);
    return [painted, cue];
  };

  // The coloured axis.
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

  // A box that is drawn at its actual width, and redrawn when that changes.
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
  const again = (root, printed = false) =>
    boxes.forEach((known, box) => {
      if (!box.isConnected) {
        watcher.unobserve(box);
        boxes.delete(box);
      } else if (root.contains(box)) {
        known.width = 0;
        redraw(box, printed ? known.printed : undefined);
      }
    });
  addEventListener("beforeprint", () => again(document, true));
  addEventListener("afterprint", () => again(document));

  // A folded table of a chart's figures, filled when it is opened, also as a csv file.
  const table = (caption, name, heads, rows) => {
    const details = page.folded("Table");
    details.className = "data";
    details.addEventListener("toggle", () => {
      if (!details.open || details.querySelector("table")) return;
      const kinds = heads.map((_, i) => (i ? "num" : "")),
        box = page.table(
          caption,
          heads,
          rows().map((one) => page.row(one)),
          kinds,
          "",
        );
      details.append(box);
      page.offerTable(box.firstChild, name);
    });
    return details;
  };

  const words = { named, parts, table, titled, write };
  return { again, chart, clamp, deep, hues, paint, piece, reach, scale, ...words };
})();

// The name of a case (a row of the table), and its held-out probabilities, null without any.
page.people = (() => {
  const { missed, observed } = page.data,
    places = new Map(missed?.rows?.map((row, i) => [row, i])),
    ids = observed?.names || {}; // for a numeric target
  const name = (row) => ids[row] || missed?.names?.[places.get(row)] || `case ${row + 1}`;
  const heldOut = (key, row) => {
    const { q, P, said } = (missed && page.again.shown(key, missed.models[key])) || {},
      i = places.get(row);
    if (i === undefined || (q ? q[i] < 0 : !P || said[i] < 0)) return null;
    if (P) return P.map((answers) => answers[i] / 1e6);
    const p = q[i] / 1e6;
    return missed.positive === 1 ? [1 - p, p] : [p, 1 - p];
  };
  return { heldOut, name };
})();
