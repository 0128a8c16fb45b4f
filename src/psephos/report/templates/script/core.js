"use strict";
// Shared by all parts of the page: the data, functions that make elements and drawings, and the hub.
const page = (() => {
  const at = (id) => document.getElementById(id);
  const all = (query, from = document) => [...from.querySelectorAll(query)];
  // An element with its content; strings of the data are never markup. `look` is its class, or its properties.
  const make = (tag, inside = "", look = "") => {
    const { data = {}, ...own } = typeof look === "string" ? { className: look } : look,
      element = Object.assign(document.createElement(tag), own);
    Object.assign(element.dataset, data);
    element.append(...[inside].flat().filter((one) => one !== ""));
    return element;
  };
  const button = (words, onclick, className = "", data = {}) =>
    make("button", words, { type: "button", onclick, className, data });
  const near = (v) => (typeof v === "number" ? Math.round(v * 100) / 100 : v);
  const svg = (tag, attributes = {}, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, near(value)));
    element.append(...children);
    return element;
  };

  const pen = document.createElement("canvas").getContext("2d"); // only to measure words
  pen.font = `600 12.5px ${getComputedStyle(document.documentElement).getPropertyValue("--sans")}`;
  // Parts of pictures, and the picture itself, with its description.
  const draw = {
    line: (kind, x1, x2, y1, y2 = y1) => svg("line", { class: kind, x1, x2, y1, y2 }),
    wide: (words) => pen.measureText(words).width,
    // Words at a position. If they are wider than `room`, their middle is left out, as long names often differ at
    // the end, and a title has them all.
    text: (x, y, words, kind = "soft", anchor = "start", room = Infinity) => {
      const all = [...words];
      let [half, shown] = [all.length / 2, words];
      while (half > 2 && draw.wide(shown) > room) {
        half -= 1;
        shown = [...all.slice(0, half), "\u2026", ...all.slice(-half)].join("");
      }
      const whole = shown === words ? [] : [svg("title", {}, words)];
      return svg("text", { class: kind, x, y, "text-anchor": anchor }, shown, ...whole);
    },
    circle: (kind, cx, cy, r, more = {}, ...inside) =>
      svg("circle", { class: kind, cx, cy, r, ...more }, ...inside),
    rect: (kind, x, y, width, height, more = {}) =>
      svg("rect", { class: kind, x, y, width, height, ...more }),
    path: (kind, d, more = {}) => svg("path", { class: kind, d, ...more }),
    through: (points) =>
      points.length ? `M${points.map((one) => one.map(near).join(" ")).join("L")}` : "",
    // The lowest free row of each dot: [x, row]. If all rows are full, x is shifted.
    dodged: (xs, step, rows) => {
      const [last, places] = [Array(rows).fill(-Infinity), []];
      const order = xs.map((_, i) => i).sort((a, b) => xs[a] - xs[b] || a - b);
      order.forEach((i) => {
        const free = last.findIndex((x) => xs[i] - x >= step),
          row = free < 0 ? last.indexOf(Math.min(...last)) : free;
        last[row] = Math.max(xs[i], last[row] + step);
        places[i] = [last[row], row];
      });
      return places;
    },
    // The bounding box of words at a position, and the area by which boxes overlap.
    box: (x, y, anchor, width, half = 0) => {
      const left = x - { start: 0, middle: width / 2, end: width }[anchor];
      return [left, y - 10 - half, left + width, y + 3 + half];
    },
    overlap: (a, b) =>
      Math.max(Math.min(a[2], b[2]) - Math.max(a[0], b[0]), 0) *
      Math.max(Math.min(a[3], b[3]) - Math.max(a[1], b[1]), 0),
    // Words in lines of at most so many letters, broken between words.
    lines: (words, letters) =>
      words.match(new RegExp(`.{1,${letters}}(?:\\s|$)|.{1,${letters}}`, "g")) || [""],
    wrapped: (x, y, words, letters, kind, anchor, room) => {
      const box = draw.text(x, y, words, kind, anchor, room),
        lines = draw.lines(box.firstChild.data, letters);
      box.firstChild.remove();
      lines.forEach((one, i) => {
        const dy = i ? 14 : -7 * (lines.length - 1); // centred at y
        box.append(svg("tspan", { x, dy }, one.trim()));
      });
      return box;
    },
    // The head of an arrow at a position, pointing along (dx, dy): the drawing continues outside.
    tip: (x, y, dx, dy) => {
      const barb = (side) => [x - 5 * dx + 3 * side * dy, y - 5 * dy + 3 * side * dx];
      return draw.path("line", draw.through([barb(-1), [x, y], barb(1)]));
    },
    // The background of a chart: ticks [position, words] of both axes, and their labels.
    ground: ({ left, right, bottom }, across, up, [below, above]) => [
      ...up.flatMap(([y, words]) => [
        draw.line("grid", left, right, y),
        draw.text(left - 8, y + 4, words, "soft", "end"),
      ]),
      ...across.flatMap(([x, words]) => [
        draw.line("axis", x, x, bottom, bottom + 5),
        draw.text(x, bottom + 20, words, "soft", "middle"),
      ]),
      draw.line("axis", left, right, bottom),
      draw.text(right, bottom + 42, below, "soft", "end"),
      draw.text(0, 14, above),
    ],
    picture: (width, height, label, more = {}) =>
      svg("svg", {
        ...{ width, height, viewBox: `0 0 ${width} ${height}` },
        ...{ role: "img", "aria-label": label, ...more },
      }),
  };

  // A row of a table, from texts, elements or cells: the first is its header, or all are headers of columns.
  const row = (cells, kinds = [], heads = false) => {
    const made = cells.map((cell, j) => {
      if (cell instanceof HTMLTableCellElement) return cell;
      const look = { className: kinds[j] ?? (j ? "num" : "") };
      if (heads || !j) return make("th", cell, { ...look, scope: heads ? "col" : "row" });
      return make("td", cell, look);
    });
    return make("tr", made);
  };
  // A table in a box that scrolls.
  const table = (caption, heads, rows, kinds = [], look = "fit") => {
    const parts = [
        make("caption", make("span", caption)),
        make("thead", row(heads, kinds, true)),
        make("tbody", rows),
      ],
      scroll = { className: "scroll", tabIndex: 0, role: "region", ariaLabel: caption };
    return make("div", make("table", parts, look), scroll);
  };
  const fillBody = (id, rows) => at(id)?.tBodies[0].replaceChildren(...rows);
  const folded = (words, ...parts) => make("details", [make("summary", words), ...parts]);

  // The hub: the choices of the reader. `hub.on("threshold", f)` calls f(value) at every change of
  // it; `hub.set("threshold", 0.3)` changes it. Keys: model (its key), threshold (0 to 1), person
  // (a row of the table of cases, or null), cls (the class that figures are about, if there are several).
  const data = JSON.parse(at("data").textContent);
  const chosen = { ...data.first };
  const listeners = {};
  const hub = {
    get: (key) => chosen[key],
    on: (key, call) => (listeners[key] ??= []).push(call),
    set: (key, value) => {
      if (chosen[key] === value) return;
      chosen[key] = value;
      (listeners[key] || []).forEach((call) => call(value));
    },
  };
  // Sentences that end in buttons to choose a model.
  const links = (words, keys, last, after) => {
    const chooses = keys.flatMap((key, i) => [
      i ? (i === keys.length - 1 ? ` ${last} ` : ", ") : " ",
      button(key, () => hub.set("model", key), "plain"),
    ]);
    return make("p", [words, ...chooses, keys.length ? after : ""]);
  };
  // Marks a field whose text is invalid, with the id of the sentence that explains why; "" removes the mark.
  const mark = (field, words, id) => {
    field.setCustomValidity(words);
    field.ariaInvalid = words ? "true" : null;
    if (words) field.setAttribute("aria-describedby", id);
    else field.removeAttribute("aria-describedby");
  };
  // Shows the explanation below the field.
  const refuse = (field, words) => {
    const id = `${field.id}-wrong`;
    at(id)?.remove();
    mark(field, words, id);
    const note = make("span", words, { id, className: "refused", role: "status" });
    if (words) field.closest("p, .steer").append(note);
  };
  // A field for the value of a column, to type or to choose: calls `set(value)`, null if empty, or `fail(words)`.
  const entry = ({ levels }, id, set, fail) => {
    if (levels) {
      const options = levels.map((level) => make("option", level, { value: `=${level}` })),
        none = make("option", "not measured", { value: "" }),
        oninput = ({ target }) => set(target.value ? target.value.slice(1) : null);
      return make("select", [none, ...options], { id, oninput });
    }
    const oninput = ({ target }) => {
      let value;
      try {
        value = openModel.number(target.value);
      } catch (error) {
        return fail(error.message);
      }
      return set(value);
    };
    const kind = { type: "text", inputMode: "decimal", autocomplete: "off", placeholder: "empty" };
    return make("input", "", { id, oninput, ...kind });
  };
  // The number from low to high that is typed into a text field, else undefined. A field of type "number" drops commas.
  const typed = (field, low, high, empty = "") => {
    const word = field.value.trim(),
      value = Number(word),
      none = !word && empty,
      right = /^\+?(\d+(\.\d+)?|\.\d+)$/.test(word) && value >= low && value <= high,
      or = empty ? `, or nothing for ${empty}` : "",
      takes = `This field takes a number from ${low} to ${high}, written with a point as in 0.5${or}: until it has one, nothing is shown that would follow from it.`;
    refuse(field, none || right ? "" : takes);
    if (none) return null;
    return right ? value : undefined;
  };
  // The mark whose middle is nearest to a click, if one is within some pixels.
  const nearest = (marks, { clientX, clientY }, most = 14) => {
    const far = (mark) => {
      const { x, y, width, height } = mark.getBoundingClientRect();
      return Math.hypot(x + width / 2 - clientX, y + height / 2 - clientY);
    };
    const [[size, mark] = []] = marks.map((one) => [far(one), one]).sort((a, b) => a[0] - b[0]);
    return size <= most ? mark : undefined;
  };
  // Merges the calls of one frame into one.
  const soon = (call) => {
    let waiting = 0;
    return () => {
      waiting ||= requestAnimationFrame(() => {
        waiting = 0;
        call();
      });
    };
  };
  // important notes are folded on the screen, and open on paper
  const fold = (open) => () => all("details.printed").forEach((one) => (one.open = open));
  addEventListener("beforeprint", fold(true));
  addEventListener("afterprint", fold(false));
  fold(false)();
  const words = { entry, fillBody, folded, links, mark, nearest, refuse, row, soon, table, typed };
  return { data, at, all, make, button, svg, draw, hub, ...words };
})();
