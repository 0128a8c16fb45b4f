// Changes that would alter the predicted class: the fewest columns, then the least change in training quantiles.
page.turn = (() => {
  const { button, hub, make } = page,
    { titled, write } = page.axis,
    MANY = 60, // the most important columns, each of which is tried
    PAIRED = 20, // columns whose pairs are tried
    ASKED = 3000, // maximum pairs that are predicted
    PARTS = 4; // parts of a tenth of the cases, if votes change between thresholds
  const { abs, max, min } = Math;
  // Values of a column and the shares of training cases below: the ends of its range, and its quantiles on the page.
  const knotsOf = ({ range: [low, high] }, [values]) => [
    [low, 0],
    ...values.map((v, k) => [min(max(v, low), high), (k + 0.5) / values.length]),
    [high, 1],
  ];
  // The share below a value: linear between knots; if several knots have the value, the middle of theirs.
  const below = (knots, v) => {
    const i = knots.findIndex(([at]) => at >= v),
      j = knots.findLastIndex(([at]) => at <= v);
    if (i < 0 || j < 0) return i < 0 ? 1 : 0;
    const [[a, low], [b, high]] = [knots[j], knots[i]];
    return i <= j ? (low + high) / 2 : low + ((high - low) * (v - a)) / (b - a);
  };
  // The intervals of a column on one side of a value, the nearest first, each with one value to try: between thresholds
  // of voters and, if votes change between these, between quantiles. `low` is the least change that reaches it, in
  // training quantiles; `from` is the value tried before.
  const pieces = (i, own, knots, cuts, up) => {
    const [start, end] = up
        ? [max(own, knots[0][0]), knots.at(-1)[0]]
        : [min(own, knots.at(-1)[0]), knots[0][0]],
      within = (v) => (up ? v > start && v < end : v < start && v > end),
      size = (v) => abs(below(knots, v) - below(knots, own)),
      parts = ([to], k) =>
        [1, 2, 3, PARTS].map((n) => knots[k][0] + ((to - knots[k][0]) * n) / PARTS),
      even = cuts.some(Number.isNaN) ? knots.slice(1).flatMap(parts) : [],
      ends = [...new Set([...cuts, ...even])].filter(within).sort((a, b) => (up ? a - b : b - a));
    if (!(up ? own < end : own > end)) return [];
    const found = start === own ? [] : [{ i, value: start, from: start, low: size(start), size }];
    [...ends, ...(start === end ? [] : [end])].forEach((to, k) => {
      const near = k ? ends[k - 1] : start,
        middle = near + (to - near) / 2,
        value = cuts.includes(to) && to !== end && middle !== near ? middle : to;
      found.push({ i, value, from: k ? found.at(-1).value : start, low: size(near), size });
    });
    return found;
  };
  const linesOf = ({ cuts }, x, { fields, tried }, i) => {
    const { levels } = fields[i],
      own = x[i];
    if (own === null) return []; // "Measure next" is about missing values
    const other = (value) => [{ i, value, from: value, low: 1, size: () => 1 }];
    if (levels) return levels.filter((v) => v !== own).map(other);
    if (!tried[i][0].length) return [];
    const [knots, at] = [knotsOf(fields[i], tried[i]), cuts(x, i)];
    return [true, false].map((up) => pieces(i, own, knots, at, up));
  };
  const changed = (x, change) => change.reduce((all, { i, value }) => all.with(i, value), x);
  // The last value of an interval that keeps the class, and the first that changes it, with the other `values` fixed.
  const edge = (turns, values, { i, value, from, size }, own) => {
    const at = (v) => turns(values.with(i, v));
    if (typeof value !== "number" || value === from) return { i, value, last: value, size };
    let [last, first] = [at(from) ? own : from, value];
    for (;;) {
      const middle = last + (first - last) / 2;
      if (middle === last || middle === first) return { i, value: first, last, size };
      if (at(middle)) first = middle;
      else last = middle;
    }
  };
  const sizeOf = (change) => change.reduce((sum, { value, size }) => sum + size(value), 0);
  const lowOf = (change) => change.reduce((sum, { low }) => sum + low, 0);
  const lesser = (a, b) => (a && sizeOf(a) <= sizeOf(b) ? a : b);
  // A change that alters the class, reduced until it just does: one column after the other, in both orders.
  const drawn = (turns, x, change) => {
    const back = (order) =>
      order.reduce(
        (done, n) => done.with(n, edge(turns, changed(x, done), change[n], x[change[n].i])),
        change,
      );
    return change.length === 1 ? back([0]) : lesser(back([0, 1]), back([1, 0]));
  };
  // The margin of each other class.
  const margins = ({ scores }, own) =>
    scores.length === 1
      ? [own === 1 ? -scores[0] : scores[0]]
      : scores.map((s, c) => (c === own ? -Infinity : s - scores[own]));
  // Pairs that may alter the class, from values that favour another class more than all nearer values of their column.
  const pairsOf = (lines, before) => {
    const kept = lines.flatMap((line) => {
      let most = before;
      return line.filter(({ margin }) => {
        const more = margin.some((m, c) => m > most[c]);
        most = most.map((m, c) => max(m, margin[c]));
        return more;
      });
    });
    return kept.flatMap((a) => kept.filter((b) => a.i < b.i).map((b) => [a, b]));
  };
  // The least change of one column, else of two, with which the model predicts another class, as {i, value, last}: the
  // value that just alters it and the last that does not; null if none is found. For two columns, those pairs are
  // tried whose effects add up to more than any tried before: if columns add up, no other pair can alter it.
  const least = (model, x, calc, fixed = new Set()) => {
    const own = model.ask(x),
      turns = (values) => model.ask(values).called !== own.called,
      before = margins(own, own.called),
      open = calc.fields.map((_, i) => i).filter((i) => i < MANY && !fixed.has(i)),
      lines = open.flatMap((i) => linesOf(model, x, calc, i));
    let top = before;
    const search = (changes, most, worth) => {
      let [best, left] = [null, most];
      const order = changes.map((change) => [lowOf(change), change]);
      for (const [low, change] of order.sort((a, b) => a[0] - b[0])) {
        if (!left || (best && low >= sizeOf(best))) break;
        if (!worth(change)) continue;
        const answer = model.ask(changed(x, change)),
          margin = margins(answer, own.called);
        left -= 1;
        if (answer.called !== own.called) best = lesser(best, drawn(turns, x, change));
        else top = top.map((m, c) => max(m, margin[c]));
        if (change.length === 1) change[0].margin = margin;
      }
      return best;
    };
    const single = search(
      lines.flat().map((one) => [one]),
      Infinity,
      () => true,
    );
    if (single) return single;
    const few = lines.filter((line) => line.length && line[0].i < PAIRED),
      adds = ([a, b]) => a.margin.some((m, c) => m + b.margin[c] - before[c] > top[c]);
    return search(pairsOf(few, before).filter(adds), ASKED, adds);
  };

  // "at least 0.0247": with the fewest digits for which it is true; `says` returns whether a value alters the class.
  const bound = ({ value, last }, up, says) => {
    const whole = String(Math.round(abs(value))).length,
      [at, beyond] = up ? ["at least", "above"] : ["at most", "below"];
    for (let digits = max(4, min(whole, 16)); digits < 17; digits += 1) {
      const near = Number(last.toPrecision(digits)),
        unit = 10 ** (Math.floor(Math.log10(abs(last) || 1)) - digits + 1),
        ahead = up ? near >= last : near <= last,
        to = ahead ? near : Number((near + (up ? unit : -unit)).toPrecision(digits));
      if (Number(value.toPrecision(digits)) === value) return [at, value, digits];
      if (to === last || says(to)) return [to === last ? beyond : at, to, digits];
    }
    return [at, value, 17];
  };
  const boundOf = ({ model, x, calc }, change, one) => {
    const { i, value } = one;
    if (typeof value !== "number") return ` were ${value} (here ${x[i]})`;
    const [low, high] = calc.fields[i].range,
      values = changed(x, change),
      { called } = model.ask(values),
      says = (v) => v >= low && v <= high && model.ask(values.with(i, v)).called === called,
      [words, to, digits] = bound(one, value > x[i], says),
      apart = [digits, 9, 13].find((n) => value > x[i] === Number(x[i].toPrecision(n)) < to) || 17;
    return ` were ${words} ${write(to, 17)} (here ${write(x[i], apart)})`;
  };
  const sentence = (about, change) => {
    const { calc, x, model, phrase } = about,
      answer = model.ask(changed(x, change));
    const parts = change.flatMap((one, n) => [
      n ? " and " : "",
      titled(calc.fields[one.i], "strong"),
      boundOf(about, change, one),
    ]);
    const data = { test: "turned", class: answer.called };
    return make("p", ["If ", ...parts, ": ", ...phrase(answer), "."], { data });
  };
  // The nearest case of the study with another predicted class.
  const other = ({ calc, x, rows, study, called, chances, person }) => {
    if (!rows) return [];
    const n = calc.spread.length,
      own = called(chances(x)),
      away = rows.flatMap((row, i) => (called(chances(row)) === own ? [] : [i])),
      cases = away.map((i) => rows[i].slice(0, n)),
      [near] = page.near.nearest(calc.spread, x.slice(0, n), cases, -1, 1);
    if (!near) return [];
    const row = study.rows[away[near[0]]],
      link = button(person(row), () => hub.set("person", row), "plain");
    return [
      make("p", ["The nearest case that this model answers otherwise is ", link, "."], "note"),
    ];
  };
  // Boxes to tick for columns that cannot be changed, such as age.
  const fixedOf = ({ calc, fixed }, change) => {
    const boxes = calc.fields.slice(0, MANY).map((field, i) => {
      const onchange = ({ target }) => {
        fixed[target.checked ? "add" : "delete"](i);
        change();
      };
      const box = make("input", "", { type: "checkbox", checked: fixed.has(i), onchange });
      return make("label", [box, " ", field.name], "fixed");
    });
    return page.folded("Columns that cannot change", ...boxes);
  };
  const MEANT =
    "it passes the fewest training cases on the way, within their range. It describes the model; it is not advice to act.";
  const wordsOf = (change, n) => {
    const many = n > MANY ? ` (the ${MANY} most important were tried)` : "";
    if (!change)
      return `No change of one column that can change${many} is enough within the training range, and of two none was found.`;
    return change.length === 1
      ? `This is the least change of one column${many}: ${MEANT}`
      : `No change of one column${many} is enough. This is the least found of two: ${MEANT}`;
  };
  // `ask(answer)` has the scores of an answer and the class, or side, on which it is; `phrase` has it in words.
  const show = (box, about) => {
    const { calc, x, open, whole, goal } = about;
    const unanswered = ["values", "weight"].includes(open.answer(whole(x)).why);
    if (!calc.tried || unanswered || x.every((v) => v === null)) return box.replaceChildren();
    const ask = (values) => about.ask(open.answer(whole(values)));
    const model = { ask, cuts: (values, i) => open.cuts(whole(values), calc.fields[i].at) },
      [found, result] = [make("div"), make("div")];
    const search = () => {
      const change = least(model, x, calc, about.fixed);
      result.replaceChildren(
        ...(change ? [sentence({ ...about, model }, change)] : []),
        make("p", wordsOf(change, calc.fields.length), change ? "note" : ""),
        ...other(about),
      );
      if (!fold.isConnected) found.append(result, fold);
    };
    const fold = fixedOf(about, search); // stays open while its boxes are ticked
    const press = button("What would turn this answer?", search, "", { test: "turn" });
    return box.replaceChildren(...(goal ? [goal(press, found)] : []), press, found);
  };
  return { least, show };
})();
