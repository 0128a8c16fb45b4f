// A new case: its values are typed or set by sliders; the page shows the chosen model's prediction, ballots and neighbours.
(() => {
  const { at, button, hub, make } = page,
    { line, picture, rect, text } = page.draw,
    data = page.data.case,
    study = page.data.values;
  if (!data || !study) return;
  const { chart, hues, write } = page.axis,
    { beyond, fields, refused, whole } = page.fields,
    { chance, percent } = page.words,
    { called } = page.again,
    { classes, positive } = study,
    host = at("case-live"),
    hue = hues(positive, classes.length),
    two = classes.length === 2,
    models = {}, // by key, read when first chosen
    wrong = new Map(); // the text of fields that is not a number
  let open,
    calc,
    key,
    x = [],
    from = "",
    base = null, // the case from which the values started
    refresh = () => {},
    fixed = new Set(); // fields that stay fixed in the search for a change of the prediction

  const rowsOf = () => {
    const columns = calc.fields.map((field) => study.of[field.whole] || data.of[field.whole]);
    return study.rows.map((_, i) => columns.map((values) => values[i]));
  };
  const name = (k) => make("strong", classes[k], hue[k]);
  const wholeOf = (values) => whole(calc, open, values);
  const answerOf = (values) => open.answer(wholeOf(values));
  const chances = (values) => answerOf(values).probabilities;
  const sideOf = (p) => (two ? page.words.beside(p, hub.get("threshold")) : chance(p));
  const person = (row) => page.people.name(row);
  const heldOut = (row) => page.people.heldOut(key, row);
  const rowFrom = () => (from[0] === "r" ? Number(from.slice(1)) : null);

  // ---- initial values
  const begin = (where) => {
    from = where;
    base = rowFrom();
    const n = Number(where.slice(1));
    wrong.clear();
    if (where[0] === "e") x = calc.fields.map(() => null);
    else if (where[0] === "t") x = [...calc.typical[n]];
    else if (where[0] === "r") {
      x = rowsOf()[study.rows.indexOf(n)];
      hub.set("person", n);
    }
    form();
  };
  const choices = () => {
    const every = study.rows.map((row, i) => ({ row, own: study.y[i], held: heldOut(row) })),
      wrong = every
        .filter(({ own, held }) => held && called(held) !== own)
        .sort((a, b) => a.held[a.own] - b.held[b.own]),
      about = (own) => (two ? positive : own),
      starts = (list, words) =>
        list.map((one) => [`r${one.row}`, `${person(one.row)} (${words(one)})`]),
      heldWords = ({ own, held }) =>
        `${classes[own]}, held out ${chance(held[about(own)])} for ${classes[about(own)]}`,
      others = every.filter((one) => !wrong.includes(one)),
      typical = study.order
        .filter((k) => calc.typical[k])
        .map((k) => [`t${k}`, `${calc.typical_words} of ${classes[k]}`]);
    const groups = [
      ["Answered wrongly while held out, the surest first", starts(wrong, heldWords)],
      ["Typical", typical],
      ["Blank", [["e0", "nothing measured"]]],
      ["Other cases of the study", starts(others, ({ own }) => classes[own])],
      ["Yours", from === "x" ? [["x", "typed in"]] : []],
    ].filter(([, list]) => list.length);
    const boxes = groups.map(([label, list]) =>
      make(
        "optgroup",
        list.map(([value, words]) => make("option", words, { value })),
        { label },
      ),
    );
    const onchange = ({ target }) => {
      begin(target.value);
      at("case-from").focus();
    };
    const select = make("select", boxes, {
      id: "case-from",
      onchange,
      data: { test: "case-from" },
    });
    select.value = from;
    return select;
  };

  // ---- the prediction
  const answerBar = (p, width) => {
    const tall = two ? 34 : 36 * p.length,
      words = study.order.map((c) => `${classes[c]} ${chance(p[c])}`).join(", "),
      box = picture(width, tall, words);
    if (two) {
      const q = p[positive] * width,
        t = hub.get("threshold"),
        middle = Math.min(Math.max(t * width, 44), width - 44);
      box.append(
        rect(hue[positive], 0, 14, q, 11),
        rect(hue[1 - positive], q, 14, width - q, 11),
        line("threshold follows", t * width, t * width, 9, 31),
        text(middle, 8, `threshold ${page.words.threshold(t)}`, "soft follows", "middle"),
      );
      return box;
    }
    const bars = study.order.flatMap((c, lane) => {
      const wide = p[c] * (width - 52),
        y = 36 * lane; // names are above the bars
      return [
        text(0, y + 13, classes[c], hue[c], "start", width),
        rect(hue[c], 0, y + 18, Math.max(wide, 0.6), 11),
        text(6 + wide, y + 28, chance(p[c])),
      ];
    });
    box.append(...bars);
    return box;
  };
  // The class of a case of the study, and its two predictions: of the saved model, if it has one, and held out.
  const truthOf = (row, p) => {
    const of = classes[from.slice(1)],
      unlike = from[0] === "t" && p && classes[called(p)] !== of;
    if (unlike)
      return ` These values are the ${calc.typical_words} of each column among the cases that are ${of}: no case need have them, and the model calls them ${classes[called(p)]}.`;
    if (row === null) return "";
    const named = person(row),
      held = heldOut(row),
      own = classes[study.y[study.rows.indexOf(row)]],
      says = (q) => `${classes[called(q)]} (${chance(q[called(q)])})`,
      fold = page.data.missed?.times > 1 ? "models of its folds" : "model of its fold",
      now = p && `The saved model, fitted to all cases, predicts ${says(p)}`,
      before = held && `the ${fold}, which did not see this case, predicted ${says(held)}`,
      both = [now, before].filter(Boolean).join("; "),
      end = now && before ? ": the second counts in the accuracy above." : ".";
    return ` ${named[0].toUpperCase()}${named.slice(1)} is ${own}. ${both && both[0].toUpperCase() + both.slice(1) + end}`;
  };
  const kind = () => (page.again.map() ? "recalibrated probability" : calc.says);
  const answerBox = (answer) => {
    const p = answer.probabilities,
      k = called(p),
      about = two ? positive : k,
      used = calc.fields.filter((one) => !one.backup).length,
      known = x.slice(0, used).filter((v) => v !== null).length,
      tie = answer.why === "tie",
      // for equal classes a changed threshold decides
      none = Boolean(answer.unanswered) && !(tie && two && hub.get("threshold") !== 0.5);
    let says = x.some((v) => v !== null)
      ? "Its columns are missing: others, whose values are under them, stand in for these."
      : "Nothing is measured: this is its answer where every value is missing.";
    if (none) {
      says = `Measured: ${known} of ${page.words.plural(used, "column")}.`;
    } else if (known) {
      says = `The ${kind()} for ${classes[about]}, from ${known} of ${page.words.plural(used, "column")}.`;
    }
    const words = `${classes[about]}: called ${classes[k]}`,
      call = make("span", words, two ? "call follows" : "call"),
      why = tie ? answer.unanswered : (answer.unanswered || "").split(";")[0],
      refusal = { className: "refused", data: { test: "case-unanswered" } },
      needed = none && !tie ? page.near.waking({ calc, open, study, whole: wholeOf, x }) : [];
    return [
      make("p", none ? "No answer" : [sideOf(p[about]), " ", call], {
        className: none ? "big" : `big ${hue[k]}`,
        data: { test: "case-answer", probability: p[about] },
      }),
      ...(none ? [make("p", why, refusal), ...needed] : likeThis(p, about)),
      ...beyond(calc, x),
      make("p", [says, make("span", truthOf(rowFrom(), none ? null : p), "quiet")], "say"),
      ...(none ? [] : [chart((width) => answerBar(p, width))]),
    ];
  };

  // The recalibrated prediction where it is advised, and the classes of the held-out cases with the nearest answers.
  const likeThis = (p, about) => {
    const missed = page.data.missed,
      m = (missed && page.again.shown(key, missed.models[key])) || {},
      runs = (two ? m.curves : m.curves?.[about])?.like || [],
      apart = (one) => Math.abs(one.at - p[about]),
      [like] = [...runs].sort((a, b) => apart(a) - apart(b)),
      again = page.again.advised(p),
      rows = rowsOf(),
      lacks = (i) => 2 * rows.filter((row) => row[i] === null).length > rows.length,
      gone = calc.fields.filter((one, i) => !one.backup && x[i] === null && !lacks(i)).length,
      [n, between, hits, rate, span] = like?.cells || [],
      all = `Of the ${n} held-out cases with the nearest answers for ${classes[about]}, ${between}, ${hits}: ${rate} (95 % interval ${span}).`,
      few = `Held-out cases with such answers are not counted: they had values in ${page.words.plural(gone, "column")} empty here.`,
      why = "In the folds its own probabilities were worse than the class frequencies.",
      say = (words, test) => make("p", words, { data: { test } });
    return [
      again && say([make("strong", `Recalibrated: ${chance(again[about])}. `), why], "case-again"),
      like && say(gone ? few : all, "case-like"),
    ].filter(Boolean);
  };

  // Weights by distance: how close a training case must be to count.
  const kernel = () => {
    const local = calc.plain.weights,
      fitted = local.profile;
    if (fitted?.a === undefined || fitted.b === undefined) return [];
    const now = { a: fitted.a, b: fitted.b };
    const reopen = () => {
      const weights = { ...local, profile: { ...fitted, ...now } };
      open = openModel({ ...page.again.plain(calc.plain), weights });
      refresh();
    };
    const rows = [
      ["a", "a, the distance below which all count alike", 0, 1.5],
      ["b", "b, how fast the weight falls beyond", 0.25, 8],
    ].map(([name, words, low, high]) => {
      const value = fitted[name],
        id = `kernel-${name}`,
        ends = { min: Math.min(low, value), max: Math.max(high, value), step: "any", value },
        output = make("output", write(value, 3), "num"),
        oninput = ({ target }) => {
          now[name] = Number(target.value);
          output.textContent = write(now[name], 3);
          reopen();
        },
        label = make("label", `${words} (fitted ${write(value, 3)})`, { htmlFor: id });
      return make(
        "p",
        [label, make("input", "", { type: "range", ...ends, id, oninput }), output],
        "slide",
      );
    });
    const back = () => {
      page.all("input", box).forEach((one) => {
        one.value = fitted[one.id.at(-1)];
        one.oninput({ target: one });
      });
      Object.assign(now, { a: fitted.a, b: fitted.b }); // not rounded by the sliders
      reopen();
    };
    const note = "Other values are not the fitted model: nothing above was evaluated with them.",
      head = "How near must a training case be to count? (a and b)",
      box = page.folded(head, ...rows, button("Back to the fitted", back), make("p", note, "note"));
    box.dataset.test = "kernel";
    return [box];
  };

  const opened = () => {
    const place = page.again.map() ? `${key} recalibrated` : key;
    return (models[place] ??= openModel(page.again.plain(calc.plain)));
  };
  const answered = (answer, turn, next, votes, near) => {
    if (wrong.size) {
      answer.replaceChildren(refused(calc, wrong));
      [turn, next, votes, near].forEach((part) => part.replaceChildren());
      return;
    }
    const now = answerOf(x),
      shared = { x, study, two, calc, open, whole: wholeOf, chances, name, person },
      named = (one, j) => ({ ...one, ...calc.fields.find((field) => field.at === j) }),
      columns = open.columns.map(named),
      own = { columns, plain: calc.plain, x: wholeOf(x), idle: idle(), hue, says: kind() },
      rows = rowsOf(),
      self = study.rows.indexOf(base),
      about = (p) => (two ? positive : called(p));
    answer.replaceChildren(...answerBox(now));
    page.ballot.show(votes, now, { ...shared, ...own });
    page.near.show(near, { ...shared, rows, self, heldOut, answer: now }, next);
    const ask = ({ scores, probabilities: chances }) => ({
        scores,
        chances,
        called: called(chances),
      }),
      phrase = ({ chances: p, called: k }) => [
        `${sideOf(p[about(p)])} ${classes[about(p)]}, called `,
        name(k),
      ];
    page.turn.show(turn, { ...shared, rows, called, fixed, ask, phrase });
  };

  const form = () => {
    open = opened();
    const box = (test) => make("div", "", { data: { test } }),
      answer = make("div", "", { className: "answer", ariaLive: "polite" }),
      [turn, next] = [make("div"), make("div")],
      [votes, near] = [box("case-votes"), box("case-near")],
      columns = study.models[key]?.columns || [],
      used = calc.fields.filter((one) => !one.backup).length,
      rest = columns.slice(used > 12 ? 10 : used).reduce((sum, one) => sum + (one.share || 0), 0),
      share = columns.length >= used && rest ? `, ${percent(rest)} of the importance` : "";
    refresh = () => answered(answer, turn, next, votes, near);
    const changed = () => {
      if (from !== "x") {
        from = "x";
        at("case-from").replaceWith(choices());
      }
      refresh();
    };
    const how = `Type or slide what was measured; leave empty what was not. Everything is worked out in this page with the saved model (${key}, fitted to all ${study.n} cases of the study); nothing is sent. ${calc.rounding}`,
      label = make("label", "Start from", { htmlFor: "case-from" }),
      empty = button("Empty all", () => begin("e0")),
      stuck = make("div", [answer, turn, next], "stuck"),
      right = make("div", [stuck, votes, ...kernel(), near]);
    host.replaceChildren(
      make("p", how),
      ...(page.again.any ? [page.again.control()] : []),
      make("div", [label, choices(), empty], "pick"),
      make("div", [fields(calc, { x, wrong, columns, hue, share, changed }), right], "newcase"),
    );
    refresh();
  };

  // Voters without a column, and those of one column with the same vote everywhere on it and if it is missing.
  const idle = () => {
    if (calc.idle) return calc.idle;
    const none = x.map(() => null),
      first = answerOf(none).ballots,
      alone = new Map(
        first.filter((one) => one.columns.length < 2).map((one) => [one.voter, String(one.votes)]),
      ),
      read = new Set(first.flatMap(({ columns }) => (columns.length === 1 ? columns : [])));
    calc.fields.forEach((one, i) => {
      if (!read.has(one.at)) return;
      (one.levels || [-1e150, one.axis.low, one.axis.high, 1e150]).forEach((value) => {
        answerOf(none.with(i, value)).ballots.forEach(({ voter, votes }) => {
          if (alone.get(voter) !== String(votes)) alone.delete(voter);
        });
      });
    });
    calc.idle = new Set(alone.keys());
    return calc.idle;
  };

  const show = () => {
    key = hub.get("model");
    calc = data.models[key];
    fixed = new Set();
    if (!calc?.plain) {
      refresh = () => {};
      const why = calc
          ? calc.why
          : `${key} has no file in this study, so it cannot be evaluated here.`,
        keys = Object.keys(data.models).filter((other) => data.models[other].plain);
      host.replaceChildren(page.links(why, keys, "and", " can be evaluated here."));
      return;
    }
    const row = hub.get("person"),
      typical = calc.typical[positive] ? `t${positive}` : "e0";
    begin(row !== null && study.rows.includes(row) ? `r${row}` : typical);
  };
  const follow = () => {
    if (!calc?.plain) return;
    open = opened();
    at("case-from").replaceWith(choices());
    refresh();
  };
  hub.on("model", show);
  ["again", "threshold"].forEach((what) => hub.on(what, follow));
  hub.on("person", (row) => {
    if (calc?.plain && from !== `r${row}` && study.rows.includes(row)) begin(`r${row}`);
  });
  page.all("#case-first").forEach((one) => (one.hidden = true)); // shown only without script
  host.hidden = false;
  show();
})();
