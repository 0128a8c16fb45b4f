// A new case: typed or slid in, answered in the page by the chosen model, ballots and neighbours beside it.
(() => {
  const { at, hub, make, svg } = page,
    data = page.data.case,
    study = page.data.values;
  if (!data || !study) return;
  const { chart, coloured, deep, hues, paint, reachOf, scale, speaks, write } = page.axis;
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
  const field = (one, i, reach, columns) => {
    const row = make("div", "", "field"),
      label = page.axis.titled(one, "label"),
      id = `field-${i}`;
    label.htmlFor = id;
    label.title = one.whole;
    row.dataset.test = "field";
    row.dataset.column = one.whole;
    const column = columns.find((other) => other.whole === one.whole);
    const set = (value, source) => {
      x[i] = value;
      edited();
      sync(source);
      refresh();
    };
    let sync;
    if (one.levels) {
      const select = make("select");
      select.id = id;
      [["", "not measured"], ...one.levels.map((level) => [level, level])].forEach(
        ([value, words], k) => {
          const option = make("option", words);
          option.value = k ? `=${value}` : "";
          select.append(option);
        },
      );
      select.addEventListener("change", () =>
        set(select.value ? select.value.slice(1) : null, select),
      );
      sync = () => {
        select.value = x[i] === null ? "" : `=${x[i]}`;
        row.classList.toggle("gone", x[i] === null);
      };
      row.append(label, select);
      if (column && column.levels) {
        const strip = make("span", "", "levels");
        column.levels.forEach((level) => {
          const [k, size] = speaks(level.moves),
            mark = svg(
              "svg",
              { viewBox: "0 0 10 10", class: hue[k], "aria-hidden": "true" },
              svg("rect", { width: 10, height: 10, opacity: deep(size, reach) }),
            );
          strip.append(mark);
        });
        row.append(strip);
      }
    } else {
      const number = make("input"),
        slide = make("input"),
        track = make("div", "", "track"),
        under = make("div", "", "rule");
      const axis = column ? column.axis : one.axis,
        pos = scale({ ...axis, missing: true }, 0, 1000, { zeroWidth: 70 });
      Object.assign(number, {
        type: "text",
        inputMode: "decimal",
        id,
        placeholder: "empty",
        autocomplete: "off",
      });
      Object.assign(slide, { type: "range", min: 0, max: 1000, step: 1 });
      slide.setAttribute("aria-label", `${one.name}, slide`);
      // a text that is no number has no answer: the slider waits, and the sentence stands where the answer was
      const judge = (error) => {
        number.setCustomValidity(error);
        [
          ["aria-invalid", "true"],
          ["aria-describedby", "case-wrong"],
        ].forEach(([name, to]) => {
          if (error) number.setAttribute(name, to);
          else number.removeAttribute(name);
        });
        slide.classList.toggle("idle", Boolean(error));
        if (error) wrong.set(i, number.value.trim());
        else wrong.delete(i);
      };
      number.addEventListener("input", () => {
        let value;
        try {
          value = openModel.number(number.value);
          judge("");
        } catch (error) {
          judge(error.message);
          edited();
          refresh();
          return;
        }
        set(value, number);
      });
      slide.addEventListener("input", () => {
        const px = Number(slide.value);
        judge("");
        set(px < pos.place.missing[1] + 4 ? null : pos.value(px), slide);
      });
      const picture = svg("svg", {
        viewBox: "0 0 1000 7",
        preserveAspectRatio: "none",
        "aria-hidden": "true",
      });
      if (column) picture.append(paint(column, pos, 0, 7, reach, hue));
      else
        picture.append(svg("rect", { x: 0, y: 2, width: 1000, height: 3, class: "plain-track" }));
      under.append(picture);
      track.append(under, slide);
      sync = (source) => {
        if (source !== number) number.value = x[i] === null ? "" : String(x[i]);
        if (source !== slide) slide.value = String(Math.round(pos.x(x[i])));
        slide.setAttribute("aria-valuetext", x[i] === null ? "not measured" : write(x[i], 4));
        row.classList.toggle("gone", x[i] === null);
      };
      row.append(label, number, track);
    }
    sync();
    return row;
  };

  // ---- the answer
  const answerBox = (box, answer) => {
    const p = answer.probabilities,
      k = called(p),
      about = two ? study.positive : k;
    const used = calc.fields.filter((one) => !one.backup),
      known = used.filter((one) => x[calc.fields.indexOf(one)] !== null).length;
    const big = make("p", "", `big ${hue[k]}`);
    big.dataset.test = "case-answer";
    big.dataset.probability = p[about];
    big.append(
      chance(p[about]),
      " ",
      make("span", `called ${study.classes[k]}`, two ? "call follows" : "call"),
    );
    const row = from[0] === "r" ? Number(from.slice(1)) : null,
      i = row === null ? -1 : study.rows.indexOf(row),
      held = row === null ? null : heldOut(row);
    const named = row === null ? "" : person(row),
      truth =
        row === null
          ? ""
          : ` ${named[0].toUpperCase()}${named.slice(1)} is ${study.classes[study.y[i]]}.` +
            (held
              ? ` While held out the answer was ${chance(held[about])}; the model asked here has seen this case.`
              : " The model asked here has seen this case.");
    const say = told(
      [
        known
          ? `The ${page.again.map() ? "recalibrated probability" : calc.says} for ${study.classes[about]}, from ${known} of ${used.length} columns.`
          : "Nothing is measured: this is its answer where every value is missing.",
        make("span", truth, "quiet"),
      ],
      "say",
    );
    // a threshold that was moved decides where classes are equal
    const decided = answer.why === "tie" && two && hub.get("threshold") !== 0.5;
    const none = told(answer.unanswered, "refused");
    none.dataset.test = "case-unanswered";
    box.replaceChildren(big, ...(answer.unanswered && !decided ? [none] : []), say);
    const bar = (width) => {
      const tall = two ? 34 : 36 * p.length,
        picture = svg("svg", {
          width,
          height: tall,
          viewBox: `0 0 ${width} ${tall}`,
          role: "img",
          "aria-label": study.order.map((c) => `${study.classes[c]} ${chance(p[c])}`).join(", "),
        });
      if (two) {
        const q = p[study.positive] * width,
          t = hub.get("threshold") * width;
        picture.append(
          svg("rect", { x: 0, y: 14, width: q, height: 11, class: hue[study.positive] }),
          svg("rect", {
            x: q,
            y: 14,
            width: width - q,
            height: 11,
            class: hue[1 - study.positive],
          }),
          svg("line", { x1: t, x2: t, y1: 9, y2: 31, class: "threshold follows" }),
          svg(
            "text",
            {
              x: Math.min(Math.max(t, 44), width - 44),
              y: 8,
              class: "soft follows",
              "text-anchor": "middle",
            },
            `threshold ${page.words.threshold(hub.get("threshold"))}`,
          ),
        );
      } else
        study.order.forEach((c, lane) => {
          const wide = p[c] * (width - 52),
            y = 36 * lane; // names stand above the bars, whole
          picture.append(
            svg("text", { x: 0, y: y + 13, class: hue[c] }, study.classes[c]),
            svg("rect", { x: 0, y: y + 18, width: Math.max(wide, 0.6), height: 11, class: hue[c] }),
            svg("text", { x: 6 + wide, y: y + 28, class: "soft" }, chance(p[c])),
          );
        });
      return picture;
    };
    box.append(chart(bar));
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

  const form = () => {
    open = opened();
    const portrait = study.models[key],
      columns = portrait ? portrait.columns : [],
      reach = reachOf(columns);
    const fields = calc.fields.map((one, i) => field(one, i, reach, columns)),
      used = calc.fields.filter((one) => !one.backup).length;
    const top = used > 12 ? 10 : used,
      left = make("div", "", "fields");
    left.append(...fields.slice(0, top));
    const folded = (list, words) => {
      if (!list.length) return;
      const more = make("details");
      more.append(make("summary", words), ...list);
      left.append(more);
    };
    const share =
      columns.length >= used
        ? columns.slice(top).reduce((sum, one) => sum + (one.share || 0), 0)
        : 0;
    folded(
      fields.slice(top, used),
      `${used - top} further columns${share ? `, ${percent(share)} of the importance` : ""}`,
    );
    folded(
      fields.slice(used),
      `${fields.length - used} columns that are asked for only where another is missing`,
    );
    const answer = make("div", "", "answer"),
      votes = make("div"),
      near = make("div"),
      right = make("div"),
      box = make("div", "", "newcase");
    answer.setAttribute("aria-live", "polite");
    votes.dataset.test = "case-votes";
    near.dataset.test = "case-near";
    right.append(answer, votes, ...kernel(), near);
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
    refresh = () => {
      if (wrong.size) {
        const texts = [...wrong].flatMap(([i, text], n) => [
          n ? "; " : "",
          page.axis.titled(calc.fields[i], "strong"),
          ` takes a number, written with a point as in 5.1${[...wrong.values()].some((text) => Math.abs(Number(text)) > 1e150) ? " and of at most 1e150" : ""}, or nothing where it was not measured: \u201c${text}\u201d is neither`,
        ]);
        const sentence = told([...texts, ", so that there is no answer."], "refused");
        Object.assign(sentence, { id: "case-wrong" });
        sentence.dataset.test = "case-wrong";
        answer.replaceChildren(sentence);
        [votes, near].forEach((part) => part.replaceChildren());
        return;
      }
      const now = answerOf(x);
      answerBox(answer, now);
      page.ballot.show(votes, now, {
        columns: columnsOf(),
        plain: calc.plain,
        x: whole(x),
        idle: idle(),
        hue,
        study,
        percent,
        told,
        two,
      });
      page.near.show(near, {
        calc,
        study,
        x,
        rows: rowsOf(),
        chances,
        self: from[0] === "r" ? study.rows.indexOf(Number(from.slice(1))) : -1,
        name,
        person,
        heldOut,
        chance,
        percent,
        told,
        two,
        button,
        pin: (row) => hub.set("person", row),
      });
    };
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
