// The fields of a case: numbers are typed or set by a slider on the axis of the column; categories are chosen.
page.fields = (() => {
  const { make, svg } = page,
    { paint, piece, scale, titled, write } = page.axis,
    TOP = 12; // fields; if there are more, ten are shown and the rest is folded

  // For categories: the choice, and a dot for each level in the colour of the class that it favours.
  const chooser = (one, id, { column, hue, set }) => {
    const select = page.entry(one, id, (value) => set(value, select)),
      pips = (column?.levels || []).map(({ name, moves }) => {
        const look = { width: 18, height: 10 };
        return make("span", [svg("svg", look, ...piece(moves, hue, 0, 0, 18, 10)), name]);
      }),
      strip = make("span", pips, { className: "levels", ariaHidden: "true" }); // the choice has the same information
    const sync = (value) => {
      select.value = value === null ? "" : `=${value}`;
      pips.forEach((pip, k) => pip.classList.toggle("chosen", column.levels[k].name === value));
    };
    return [sync, select, ...(pips.length ? [strip] : [])];
  };

  // For numbers: a text field, and a slider on the axis, which is coloured if the effect of values is known.
  const slider = (one, id, { column, hue, set, refuse }) => {
    const pos = scale((column || one).axis, 0, 1000, { zeroWidth: 70, missing: false }),
      size = { viewBox: "0 0 1000 7", preserveAspectRatio: "none", "aria-hidden": "true" },
      bar = page.draw.rect("plain-track", 0, 2, 1000, 3),
      under = svg("svg", size, column ? paint(column, pos, 0, 7, hue) : bar);
    const mark = (words) => {
      page.mark(number, words, "case-wrong");
      slide.classList.toggle("idle", Boolean(words)); // the slider is inactive while the text is invalid
    };
    const typed = (value) => {
        mark("");
        set(value, number);
      },
      refused = (words) => {
        mark(words);
        refuse(number.value.trim());
      },
      oninput = () => {
        mark("");
        set(pos.value(Number(slide.value)), slide);
      };
    const number = page.entry(one, id, typed, refused),
      range = { type: "range", min: 0, max: 1000, step: 1, ariaLabel: `${one.name}, slide` },
      slide = make("input", "", { ...range, oninput });
    const sync = (value, source) => {
      if (source !== number) number.value = value ?? "";
      if (source !== slide) slide.value = Math.round(pos.x(value));
      slide.ariaValueText = value === null ? "not measured" : write(value, 4);
    };
    return [sync, number, make("div", [make("div", under, "rule"), slide], "track")];
  };

  // The note on a value outside the range of the training cases.
  const outside = ({ range }, value) => {
    if (!range || typeof value !== "number" || (value >= range[0] && value <= range[1])) return "";
    const side = value < range[0] ? "below" : "above";
    return `${side} all training cases (${write(range[0], 4)} to ${write(range[1], 4)})`;
  };

  // The fields of a model, the most important first: their values in `x`, texts that are not numbers in `wrong`.
  const fields = (calc, { x, wrong, columns = [], hue, share = "", changed }) => {
    const field = (one, i) => {
      const column = columns.find(({ whole }) => whole === one.whole),
        far = make("span", "", "outside"),
        id = `field-${i}`,
        set = (value, source) => {
          wrong.delete(i);
          x[i] = value;
          show(source);
          changed();
        },
        refuse = (text) => {
          wrong.set(i, text);
          changed();
        },
        [sync, ...parts] = (one.levels ? chooser : slider)(one, id, { column, hue, set, refuse }),
        label = titled(one, "label", { htmlFor: id, title: one.whole }),
        look = { className: "field", data: { test: "field", column: one.whole } },
        says = one.direction ? [make("span", one.direction, "levels")] : [],
        row = make("div", [label, ...parts, ...says, far], look);
      const show = (source) => {
        sync(x[i], source);
        row.classList.toggle("gone", x[i] === null);
        far.textContent = outside(one, x[i]);
      };
      show();
      return row;
    };
    const every = calc.fields.map(field),
      used = calc.fields.filter((one) => !one.backup).length,
      top = used > TOP ? 10 : used,
      folds = [
        [every.slice(top, used), `${used - top} further columns${share}`],
        [
          every.slice(used),
          `${every.length - used} columns that are read only where another is missing`,
        ],
      ].filter(([list]) => list.length);
    const rest = folds.map(([list, words]) => page.folded(words, ...list));
    return make("div", [...every.slice(0, top), ...rest], "fields");
  };

  // Shown in place of the prediction if a text is not a number.
  const refused = (calc, wrong) => {
    const far = [...wrong.values()].some((text) => Math.abs(Number(text)) > 1e150),
      most = far ? " and of at most 1e150" : "";
    const texts = [...wrong].flatMap(([i, text], n) => [
      n ? "; " : "",
      titled(calc.fields[i], "strong"),
      ` takes a number, written with a point as in 5.1${most}, or nothing where it was not measured: \u201c${text}\u201d is neither`,
    ]);
    const look = { className: "refused", id: "case-wrong", data: { test: "case-wrong" } };
    return make("p", [...texts, ", so there is no answer."], look);
  };

  // The names of fields whose values are outside the range of the training cases.
  const beyond = (calc, x) => {
    const far = calc.fields.filter((one, i) => outside(one, x[i]));
    if (!far.length) return [];
    const names = far.flatMap((one, n) => [n ? ", " : "", titled(one, "strong")]),
      look = { className: "refused", data: { test: "case-beyond" } };
    return [make("p", ["Beyond the training range: ", ...names, "."], look)];
  };

  // The values of fields at the model's columns; columns without a field are missing.
  const whole = (calc, open, values) => {
    const row = Array(open.columns.length).fill(null);
    calc.fields.forEach(({ at }, i) => (row[at] = values[i]));
    return row;
  };
  return { beyond, fields, refused, whole };
})();
