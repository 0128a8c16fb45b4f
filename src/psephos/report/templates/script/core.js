"use strict";
// What every part of the page uses: the data, making elements, writing numbers, and the hub.
const page = (() => {
  const at = (id) => document.getElementById(id);
  const all = (query, from = document) => [...from.querySelectorAll(query)];
  const make = (tag, text = "", kind = "") => {
    const element = document.createElement(tag);
    element.textContent = text; // never markup: strings of the data stay strings
    if (kind) element.className = kind;
    return element;
  };
  const svg = (tag, attributes = {}, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    element.append(...children);
    return element;
  };

  // A line, words at a place, and the picture that holds them, with what it shows in words.
  const near = (v) => (typeof v === "number" ? Math.round(v * 100) / 100 : v);
  const draw = {
    near,
    line: (kind, x1, x2, y1, y2 = y1) =>
      svg("line", { class: kind, x1: near(x1), x2: near(x2), y1: near(y1), y2: near(y2) }),
    text: (x, y, words, kind = "soft", anchor = "start") =>
      svg("text", { class: kind, x: near(x), y: near(y), "text-anchor": anchor }, words),
    // Words in lines of so many letters, which end where words end.
    lines: (words, letters) =>
      words.match(new RegExp(`.{1,${letters}}(?:\\s|$)|.{1,${letters}}`, "g")) || [""],
    wrapped: (x, y, words, letters, kind, anchor) => {
      const lines = draw.lines(words, letters),
        box = draw.text(x, y, "", kind, anchor);
      lines.forEach((one, i) => {
        const dy = i ? 14 : -7 * (lines.length - 1); // around y
        box.append(svg("tspan", { x: near(x), dy }, one.trim()));
      });
      return box;
    },
    rect: (kind, x, y, width, height, more = {}) =>
      svg("rect", {
        class: kind,
        x: near(x),
        y: near(y),
        width: near(width),
        height: near(height),
        ...more,
      }),
    // The head of an arrow at a place, which points along (dx, dy): what is drawn ends beyond.
    tip: (x, y, dx, dy) =>
      svg("path", {
        class: "line",
        d: `M${near(x - 5 * dx - 3 * dy)} ${near(y - 5 * dy - 3 * dx)}L${near(x)} ${near(y)}L${near(x - 5 * dx + 3 * dy)} ${near(y - 5 * dy + 3 * dx)}`,
      }),
    picture: (width, height, label, more = {}) =>
      svg("svg", {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": label,
        ...more,
      }),
  };

  // A row of a table, of texts, elements or whole cells: the first is its head, or all of them are heads of columns.
  const row = (cells, kinds = [], heads = false) => {
    const one = make("tr");
    cells.forEach((cell, j) => {
      if (cell instanceof HTMLTableCellElement) return one.append(cell);
      const made = make(heads || !j ? "th" : "td", "", kinds[j] ?? (j ? "num" : ""));
      if (heads || !j) made.scope = heads ? "col" : "row";
      made.append(cell);
      return one.append(made);
    });
    return one;
  };

  const folded = (words, ...parts) => {
    const one = make("details");
    one.append(make("summary", words), ...parts);
    return one;
  };

  // The hub: what the reader has chosen. `hub.on("threshold", f)` calls f(value) at every change of
  // it; `hub.set("threshold", 0.3)` changes it. Keys: model (its key), threshold (0 to 1), person
  // (a row of the table of cases, or null), cls (the class that answers are about, of several).
  const data = JSON.parse(at("data").textContent);
  const chosen = { ...data.first };
  const listeners = {};
  const hub = {
    get: (key) => chosen[key],
    on: (key, call) => {
      (listeners[key] = listeners[key] || []).push(call);
    },
    set: (key, value) => {
      if (chosen[key] === value) return;
      chosen[key] = value;
      (listeners[key] || []).forEach((call) => call(value));
    },
  };
  // Marks a field whose text is not taken, with the id of the sentence that says why; "" takes that back.
  const mark = (field, words, id) => {
    field.setCustomValidity(words);
    ["aria-invalid", "aria-describedby"].forEach((name) => field.removeAttribute(name));
    if (!words) return;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", id);
  };
  // Says so beneath the field.
  const refuse = (field, words) => {
    const id = `${field.id}-wrong`;
    if (at(id)) at(id).remove();
    mark(field, words, id);
    if (!words) return;
    const note = make("span", words, "refused");
    note.id = id;
    note.setAttribute("role", "status");
    field.closest("p, .steer").append(note);
  };
  // What a column holds in a case, to type or to choose: `set(value)`, null for nothing, or `fail(words)`.
  const entry = ({ levels }, id, set, fail) => {
    const field = make(levels ? "select" : "input");
    field.id = id;
    ["", ...(levels || [])].slice(levels ? 0 : 1).forEach((level, k) => {
      const option = make("option", k ? level : "not measured");
      option.value = k ? `=${level}` : "";
      field.append(option);
    });
    if (!levels) Object.assign(field, { type: "text", inputMode: "decimal", autocomplete: "off" });
    if (!levels) field.placeholder = "empty";
    field.addEventListener("input", () => {
      if (levels) return set(field.value ? field.value.slice(1) : null);
      let value;
      try {
        value = openModel.number(field.value);
      } catch (error) {
        return fail(error.message);
      }
      return set(value);
    });
    return field;
  };
  // What was typed into a field of text, if the whole of it is a number from low to high; undefined if not, and the
  // field then says what it takes. A field of the type "number" drops a comma: 0,5 is 5 there.
  const typed = (field, low, high, { empty = "" } = {}) => {
    const word = field.value.trim(),
      value = Number(word);
    if (!word && empty) {
      refuse(field, "");
      return null;
    }
    const right = /^\+?(\d+(\.\d+)?|\.\d+)$/.test(word) && value >= low && value <= high;
    refuse(
      field,
      right
        ? ""
        : `This field takes a number from ${low} to ${high}, written with a point as in 0.5${empty ? `, or nothing for ${empty}` : ""}: until it has one, nothing is shown that would follow from it.`,
    );
    return right ? value : undefined;
  };
  // what must not be overlooked is folded on the screen, and open on paper
  const fold = (open) => () => all("details.printed").forEach((one) => (one.open = open));
  addEventListener("beforeprint", fold(true));
  addEventListener("afterprint", fold(false));
  fold(false)();
  return { data, at, all, make, svg, draw, row, entry, folded, hub, mark, refuse, typed };
})();
