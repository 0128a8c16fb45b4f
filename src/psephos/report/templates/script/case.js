// A new case: typed or slid in, answered in the page by the chosen model, ballots and neighbours beside it.
(() => {
  const { at, hub, make, svg } = page,
    { line, picture, rect, text } = page.draw,
    data = page.data.case,
    study = page.data.values;
  if (!data || !study) return;
  const { chart, coloured, hues, paint, piece, scale, write } = page.axis;
  const host = at("case-live"),
    hue = hues(study.positive, study.classes.length),
    two = study.classes.length === 2;
  const models = {}; // by key, opened when they are first asked
  let open,
    calc,
    key,
    x = [],
    from = "",
    refresh = () => {};
  const wrong = new Map(); // fields whose text is no number: what is typed there
  let fixed = new Set(); // fields that are not changed where it is asked what would turn an answer

  const valuesOf = (whole) => study.of[whole] || data.of[whole];
  const rowsOf = () =>
    study.rows.map((_, i) => calc.fields.map((field) => valuesOf(field.whole)[i]));
  const told = (words, kind = "") => {
    const p = make("p", "", kind);
    p.append(...[words].flat().filter((one) => one !== ""));
    return p;
  };
  const button = (words, click, kind = "") => {
    const one = make("button", words, kind);
    one.type = "button";
    one.addEventListener("click", click);
    return one;
  };
  const { chance } = page.words;
  const percent = (share) =>
    share > 0 && share < 0.01
      ? "< 1 %"
      : share < 1 && share > 0.99
        ? "> 99 %"
        : `${Math.round(100 * share)} %`;
  const name = (k) => coloured(study.classes[k], hue[k]);
  const whole = (values) => {
    const all = Array(open.columns.length).fill(null);
    calc.fields.forEach((field, i) => {
      all[field.at] = values[i];
    });
    return all;
  };
  const answerOf = (values) => open.answer(whole(values));
  const columnsOf = () =>
    open.columns.map((one, j) => ({ ...one, ...calc.fields.find((field) => field.at === j) }));
  const chances = (values) => answerOf(values).probabilities;
  const called = (p) =>
    two
      ? p[study.positive] >= hub.get("threshold")
        ? study.positive
        : 1 - study.positive
      : p.indexOf(Math.max(...p));
  const person = (row) => page.people.name(row);
  const heldOut = (row) => page.people.heldOut(key, row);

  // ---- where to start from
  const begin = (where) => {
    from = where;
    const kind = where[0],
      n = Number(where.slice(1));
    wrong.clear();
    if (kind === "e") x = calc.fields.map(() => null);
    else if (kind === "t") x = [...calc.typical[n]];
    else if (kind === "r") {
      x = rowsOf()[study.rows.indexOf(n)];
      hub.set("person", n);
    }
    form();
  };

  const missed = () =>
    study.rows
      .map((row, i) => [row, i])
      .filter(([row, i]) => {
        const p = heldOut(row);
        return p && called(p) !== study.y[i];
      })
      .sort(([a, i], [b, j]) => heldOut(a)[study.y[i]] - heldOut(b)[study.y[j]]);

  const choices = () => {
    const select = make("select");
    select.id = "case-from";
    select.dataset.test = "case-from";
    const group = (label, list) => {
      if (!list.length) return;
      const box = make("optgroup");
      box.label = label;
      list.forEach(([value, words]) => {
        const option = make("option", words);
        option.value = value;
        box.append(option);
      });
      select.append(box);
    };
    const wrong = missed(),
      seen = new Set(wrong.map(([row]) => row));
    const line = ([row, i]) => [
      `r${row}`,
      `${person(row)} (${study.classes[study.y[i]]}, held out ${chance(heldOut(row)[two ? study.positive : study.y[i]])} for ${study.classes[two ? study.positive : study.y[i]]})`,
    ];
    group("Answered wrongly while held out, the surest first", wrong.map(line));
    group(
      "Typical",
      study.order
        .filter((k) => calc.typical[k])
        .map((k) => [`t${k}`, `${calc.typical_words} of ${study.classes[k]}`]),
    );
    group("Blank", [["e0", "nothing measured"]]);
    group(
      "Other cases of the study",
      study.rows
        .map((row, i) => [row, i])
        .filter(([row]) => !seen.has(row))
        .map(([row, i]) => [`r${row}`, `${person(row)} (${study.classes[study.y[i]]})`]),
    );
    if (from === "x") group("Yours", [["x", "typed in"]]);
    select.value = from;
    select.addEventListener("change", () => {
      begin(select.value);
      at("case-from").focus();
    });
    return select;
  };

  const edited = () => {
    if (from === "x") return;
    from = "x";
    at("case-from").replaceWith(choices());
  };

  // ---- the fields
  // Of categories: their choice, and a pip each in the colour of what it moves the answer to.
  const chooser = (one, i, column, set) => {
    const select = page.entry(one, `field-${i}`, (value) => set(value, select)),
      strip = make("span", "", "levels");
    const sync = () => {
      select.value = x[i] === null ? "" : `=${x[i]}`;
      [...strip.children].forEach((pip, k) =>
        pip.classList.toggle("chosen", column.levels[k].name === x[i]),
      );
    };
    if (!column || !column.levels) return [sync, select];
    strip.setAttribute("aria-hidden", "true"); // the choice says the same
    column.levels.forEach((level) => {
      const pip = make("span"),
        painted = svg("svg", { width: 18, height: 10 });
      painted.append(...piece(level.moves, hue, 0, 0, 18, 10));
      pip.append(painted, level.name);
      strip.append(pip);
    });
    return [sync, select, strip];
  };

  // Of numbers: a field to type in and a slider on the painted axis.
  const slider = (one, i, column, set) => {
    const number = page.entry(
        one,
        `field-${i}`,
        (value) => {
          judge(i, number, slide, "");
          set(value, number);
        },
        (words) => {
          judge(i, number, slide, words);
          edited();
          refresh();
        },
      ),
      slide = make("input"),
      track = make("div", "", "track"),
      under = make("div", "", "rule"),
      axis = column ? column.axis : one.axis,
      pos = scale({ ...axis, missing: true }, 0, 1000, { zeroWidth: 70 }),
      size = { viewBox: "0 0 1000 7", preserveAspectRatio: "none", "aria-hidden": "true" },
      bar = svg("rect", { x: 0, y: 2, width: 1000, height: 3, class: "plain-track" });
    Object.assign(slide, { type: "range", min: 0, max: 1000, step: 1 });
    slide.setAttribute("aria-label", `${one.name}, slide`);
    slide.addEventListener("input", () => {
      const px = Number(slide.value);
      judge(i, number, slide, "");
      set(px < pos.place.missing[1] + 4 ? null : pos.value(px), slide);
    });
    under.append(svg("svg", size, column ? paint(column, pos, 0, 7, hue) : bar));
    track.append(under, slide);
    const sync = (source) => {
      if (source !== number) number.value = x[i] === null ? "" : String(x[i]);
      if (source !== slide) slide.value = String(Math.round(pos.x(x[i])));
      slide.setAttribute("aria-valuetext", x[i] === null ? "not measured" : write(x[i], 4));
    };
    return [sync, number, track];
  };
  // A text that is no number has no answer: the slider waits, and the sentence stands where the answer was.
  const judge = (i, number, slide, error) => {
    page.mark(number, error, "case-wrong");
    slide.classList.toggle("idle", Boolean(error));
    if (error) wrong.set(i, number.value.trim());
    else wrong.delete(i);
  };
  const field = (one, i, columns) => {
    const row = make("div", "", "field"),
      label = page.axis.titled(one, "label"),
      far = make("span", "", "outside"),
      column = columns.find((other) => other.whole === one.whole);
    label.htmlFor = `field-${i}`;
    label.title = one.whole;
    Object.assign(row.dataset, { test: "field", column: one.whole });
    const shown = (source) => {
      sync(source);
      row.classList.toggle("gone", x[i] === null);
      far.textContent = outside(i);
    };
    const set = (value, source) => {
      x[i] = value;
      edited();
      shown(source);
      refresh();
    };
    const [sync, ...parts] = (one.levels ? chooser : slider)(one, i, column, set);
    row.append(label, ...parts, far);
    shown();
    return row;
  };

  // ---- the answer
  const answerBar = (p, width) => {
    const tall = two ? 34 : 36 * p.length,
      words = study.order.map((c) => `${study.classes[c]} ${chance(p[c])}`).join(", "),
      box = picture(width, tall, words);
    if (two) {
      const q = p[study.positive] * width,
        t = hub.get("threshold"),
        at = t * width,
        middle = Math.min(Math.max(at, 44), width - 44);
      box.append(
        rect(hue[study.positive], 0, 14, q, 11),
        rect(hue[1 - study.positive], q, 14, width - q, 11),
        line("threshold follows", at, at, 9, 31),
        text(middle, 8, `threshold ${page.words.threshold(t)}`, "soft follows", "middle"),
      );
    } else
      study.order.forEach((c, lane) => {
        const wide = p[c] * (width - 52),
          y = 36 * lane; // names stand above the bars, whole
        box.append(
          text(0, y + 13, study.classes[c], hue[c]),
          rect(hue[c], 0, y + 18, Math.max(wide, 0.6), 11),
          text(6 + wide, y + 28, chance(p[c])),
        );
      });
    return box;
  };
  const answerBox = (box, answer) => {
    const p = answer.probabilities,
      k = called(p),
      about = two ? study.positive : k;
    const used = calc.fields.filter((one) => !one.backup),
      known = used.filter((one) => x[calc.fields.indexOf(one)] !== null).length;
    // a threshold that was moved decides where classes are equal
    const decided = answer.why === "tie" && two && hub.get("threshold") !== 0.5,
      none = Boolean(answer.unanswered) && !decided,
      big = make("p", "", none ? "big" : `big ${hue[k]}`),
      call = make("span", `called ${study.classes[k]}`, two ? "call follows" : "call");
    big.dataset.test = "case-answer";
    big.dataset.probability = p[about];
    big.append(...(none ? ["No answer"] : [chance(p[about]), " ", call]));
    const row = from[0] === "r" ? Number(from.slice(1)) : null,
      i = row === null ? -1 : study.rows.indexOf(row),
      held = row === null ? null : heldOut(row);
    const named = row === null ? "" : person(row),
      truth =
        row === null
          ? ""
          : ` ${named[0].toUpperCase()}${named.slice(1)} is ${study.classes[study.y[i]]}.` +
            (held
              ? ` Its held-out answer, of models that were fitted without it, was ${chance(held[about])}.`
              : "") +
            " The answer here is of a model that was fitted to this case as well.";
    const say = told(
      [
        none
          ? `${known || "None"} of ${used.length} columns ${known === 1 ? "is" : "are"} measured.`
          : known
            ? `The ${page.again.map() ? "recalibrated probability" : calc.says} for ${study.classes[about]}, from ${known} of ${used.length} columns.`
            : "Nothing is measured: this is its answer where every value is missing.",
        make("span", truth, "quiet"),
      ],
      "say",
    );
    const tie = answer.why === "tie",
      why = told(tie ? answer.unanswered : answer.unanswered.split(";")[0], "refused"),
      needed = none && !tie ? page.near.waking({ calc, open, study, told, whole, x }) : [];
    why.dataset.test = "case-unanswered";
    box.replaceChildren(big, ...(none ? [why, ...needed] : likeThis(p, about)), ...beyond(), say);
    if (!none) box.append(chart((width) => answerBar(p, width)));
  };

  // What became of the held-out cases with the most similar answers, where they are five and more; before it the
  // recalibrated answer, where the model's own probabilities are worse than the class frequencies.
  const likeThis = (p, about) => {
    const m = page.data.missed && page.again.shown(key, page.data.missed.models[key]),
      curves = m && !m.absent ? (two ? m.curves : m.curves[about]) : null,
      groups = curves ? curves.cal : [],
      apart = (one) => Math.abs(one.at[0] - p[about]),
      like = groups.length ? groups.reduce((a, b) => (apart(b) < apart(a) ? b : a)) : null,
      again = page.again.advised(p),
      parts = [];
    if (again) {
      const words = `Recalibrated: ${chance(again[about])}. `,
        why = "The model\u2019s own probabilities are worse than the class frequencies.";
      parts.push(told([make("strong", words), why]));
      parts[0].dataset.test = "case-again";
    }
    if (like && Number(like.cells[1].replace(/\D/g, "")) >= 5) {
      const [mean, , hits, rate, span] = like.cells,
        words = `Of held-out cases answered like this (${mean} on average), ${hits}: ${rate} (95 % interval ${span}).`;
      parts.push(told(words));
      parts[parts.length - 1].dataset.test = "case-like";
    }
    return parts;
  };
  // The values that lie beyond all training cases.
  const outside = (i) => {
    const { range } = calc.fields[i];
    if (!range || typeof x[i] !== "number" || (x[i] >= range[0] && x[i] <= range[1])) return "";
    const side = x[i] < range[0] ? "below" : "above";
    return `${side} all training cases (${write(range[0], 4)} to ${write(range[1], 4)})`;
  };
  const beyond = () => {
    const far = calc.fields.filter((_, i) => outside(i));
    if (!far.length) return [];
    const names = far.flatMap((one, n) => [n ? ", " : "", page.axis.titled(one, "strong")]),
      said = told(["Beyond the training range: ", ...names, "."], "refused");
    said.dataset.test = "case-beyond";
    return [said];
  };

  // Weights by nearness: how near a training case must be to count.
  const kernel = () => {
    const local = calc.plain.weights,
      fitted = local.profile;
    if (!fitted || fitted.a === undefined || fitted.b === undefined) return [];
    const now = { a: fitted.a, b: fitted.b },
      box = make("details"),
      rows = {};
    box.dataset.test = "kernel";
    const set = (name, value) => {
      now[name] = value;
      rows[name].value = value;
      rows[name].nextSibling.textContent = write(value, 3);
      open = openModel({
        ...page.again.plain(calc.plain),
        weights: { ...local, profile: { ...fitted, ...now } },
      });
      refresh();
    };
    box.append(make("summary", "How near must a training case be to count? (a and b)"));
    [
      ["a", "a, the distance below which all count alike", 0, 1.5],
      ["b", "b, how fast the weight falls beyond", 0.25, 8],
    ].forEach(([name, words, low, high]) => {
      const p = make("p", "", "slide"),
        label = make("label", `${words} (fitted ${write(fitted[name], 3)})`),
        input = make("input");
      Object.assign(input, {
        type: "range",
        min: Math.min(low, fitted[name]),
        max: Math.max(high, fitted[name]),
        step: "any",
        value: fitted[name],
        id: `kernel-${name}`,
      });
      label.htmlFor = input.id;
      input.addEventListener("input", () => set(name, Number(input.value)));
      rows[name] = input;
      p.append(label, input, make("output", write(fitted[name], 3), "num"));
      box.append(p);
    });
    box.append(
      button("Back to the fitted", () => ["a", "b"].forEach((name) => set(name, fitted[name]))),
      told(
        "Other values are not the fitted model: nothing above was judged with them. \u2018psephos explorer\u2019 writes a page on what a and b do.",
        "note",
      ),
    );
    return [box];
  };

  const opened = () => {
    const place = page.again.map() ? `${key} recalibrated` : key;
    models[place] = models[place] || openModel(page.again.plain(calc.plain));
    return models[place];
  };

  // The fields, the most important first; of many the rest is folded.
  const fieldsBox = () => {
    const portrait = study.models[key],
      columns = portrait ? portrait.columns : [],
      fields = calc.fields.map((one, i) => field(one, i, columns)),
      used = calc.fields.filter((one) => !one.backup).length,
      top = used > 12 ? 10 : used,
      left = make("div", "", "fields"),
      rest = columns.slice(top).reduce((sum, one) => sum + (one.share || 0), 0),
      share = columns.length >= used && rest ? `, ${percent(rest)} of the importance` : "";
    left.append(...fields.slice(0, top));
    [
      [fields.slice(top, used), `${used - top} further columns${share}`],
      [
        fields.slice(used),
        `${fields.length - used} columns that are asked for only where another is missing`,
      ],
    ].forEach(([list, words]) => {
      if (list.length) left.append(page.folded(words, ...list));
    });
    return left;
  };
  // What takes no number stands in place of the answer.
  const refused = () => {
    const far = [...wrong.values()].some((text) => Math.abs(Number(text)) > 1e150),
      most = far ? " and of at most 1e150" : "";
    const texts = [...wrong].flatMap(([i, text], n) => [
      n ? "; " : "",
      page.axis.titled(calc.fields[i], "strong"),
      ` takes a number, written with a point as in 5.1${most}, or nothing where it was not measured: \u201c${text}\u201d is neither`,
    ]);
    const sentence = told([...texts, ", so that there is no answer."], "refused");
    sentence.id = sentence.dataset.test = "case-wrong";
    return sentence;
  };
  const answered = (answer, turn, votes, near) => {
    if (wrong.size) {
      answer.replaceChildren(refused());
      [turn, votes, near].forEach((part) => part.replaceChildren());
      return;
    }
    const now = answerOf(x),
      shared = { x, study, percent, told, two },
      self = from[0] === "r" ? study.rows.indexOf(Number(from.slice(1))) : -1,
      pin = (row) => hub.set("person", row),
      columns = columnsOf();
    answerBox(answer, now);
    const { plain } = calc;
    page.ballot.show(votes, now, { ...shared, columns, plain, x: whole(x), idle: idle(), hue });
    const how = { calc, rows: rowsOf(), chances, self, name, person, heldOut, chance, button, pin };
    page.near.show(near, { ...shared, ...how, answer: now, open, whole });
    const about = (p) => (two ? study.positive : called(p));
    page.turn.show(turn, { ...shared, ...how, about, called, fixed, open, whole });
  };

  const form = () => {
    open = opened();
    const left = fieldsBox();
    const answer = make("div", "", "answer"),
      turn = make("div"),
      votes = make("div"),
      near = make("div"),
      right = make("div"),
      box = make("div", "", "newcase");
    answer.setAttribute("aria-live", "polite");
    votes.dataset.test = "case-votes";
    near.dataset.test = "case-near";
    right.append(answer, turn, votes, ...kernel(), near);
    box.append(left, right);
    const pick = make("div", "", "pick"),
      label = make("label", "Start from");
    label.htmlFor = "case-from";
    pick.append(
      label,
      choices(),
      button("Empty all", () => begin("e0")),
    );
    host.replaceChildren(
      told(
        `Type or slide what was measured; leave empty what was not. Everything is worked out in this page with the saved model (${key}, fitted to all ${study.sizes.reduce((a, b) => a + b, 0)} cases of the study); nothing is sent. ${calc.rounding}`,
      ),
      ...(page.again.any ? [page.again.control()] : []),
      pick,
      box,
    );
    refresh = () => answered(answer, turn, votes, near);
    refresh();
  };

  // Voters of no column, and of one that say the same whatever it holds: at its ends, beyond them, at every
  // level and missing.
  const idle = () => {
    if (calc.idle) return calc.idle;
    const none = x.map(() => null),
      first = answerOf(none).ballots,
      said = (ballot) => String(ballot.votes);
    const alone = new Map(
      first
        .filter((ballot) => ballot.columns.length < 2)
        .map((ballot) => [ballot.voter, said(ballot)]),
    );
    const read = new Set(
      first.filter((ballot) => ballot.columns.length === 1).map((ballot) => ballot.columns[0]),
    );
    calc.fields.forEach((one, i) => {
      if (!read.has(one.at)) return;
      (one.levels || [-1e150, one.axis.low, one.axis.high, 1e150]).forEach((value) => {
        answerOf(none.map((_, j) => (j === i ? value : null))).ballots.forEach((ballot) => {
          if (alone.has(ballot.voter) && alone.get(ballot.voter) !== said(ballot))
            alone.delete(ballot.voter);
        });
      });
    });
    calc.idle = new Set(alone.keys());
    return calc.idle;
  };

  const links = (words) => {
    const p = told(words),
      known = Object.keys(data.models).filter((other) => data.models[other].plain);
    known.forEach((other, i) =>
      p.append(
        i ? (i === known.length - 1 ? " and " : ", ") : " ",
        button(other, () => hub.set("model", other), "plain"),
      ),
    );
    if (known.length) p.append(" can be asked here.");
    return p;
  };

  const show = () => {
    key = hub.get("model");
    calc = data.models[key];
    fixed = new Set();
    if (at("case-first"))
      at("case-first").hidden = Boolean(calc && calc.plain) || key !== page.data.first.model;
    if (!calc || !calc.plain) {
      refresh = () => {};
      host.replaceChildren(
        links(
          calc ? calc.why : `${key} has no file in this study, so that it cannot be asked here.`,
        ),
      );
      return;
    }
    const row = hub.get("person");
    begin(
      row !== null && study.rows.includes(row)
        ? `r${row}`
        : calc.typical[study.positive]
          ? `t${study.positive}`
          : "e0",
    );
  };

  hub.on("model", show);
  hub.on("again", () => {
    if (calc && calc.plain) {
      open = opened();
      at("case-from").replaceWith(choices());
      refresh();
    }
  });
  hub.on("threshold", () => {
    if (calc && calc.plain) {
      at("case-from").replaceWith(choices());
      refresh();
    }
  });
  hub.on("person", (row) => {
    if (calc && calc.plain && row !== null && from !== `r${row}` && study.rows.includes(row))
      begin(`r${row}`);
  });
  host.hidden = false;
  show();
})();
