// The cases of the study nearest to a new case, and the measurement with the greatest expected effect.
page.near = (() => {
  const { button, hub, make } = page,
    { titled } = page.axis;
  // Root mean square of differences, in standard deviations, over the columns that both cases have, times
  // the square root of the number of columns (different categories count 1), and how many both have.
  const distance = (spread, a, b) => {
    let sum = 0,
      both = 0;
    spread.forEach((size, j) => {
      if (a[j] === null || b[j] === null) return;
      const off = size > 0 ? (a[j] - b[j]) / size : Number(a[j] !== b[j]);
      sum += off * off;
      both += 1;
    });
    return [both ? Math.sqrt((sum * spread.length) / both) : Infinity, both];
  };

  // The nearest cases with more than half of the columns of x, without the group of the case `self` (or -1):
  // [position, distance, common columns].
  const nearest = (spread, x, rows, self, most = 5, groups = rows.map((_, i) => i)) => {
    const known = x.filter((v) => v !== null).length;
    return rows
      .map((row, i) => [i, ...distance(spread, x, row)])
      .filter(([i, , both]) => groups[i] !== groups[self] && 2 * both > known)
      .sort((a, b) => a[1] - b[1] || b[2] - a[2])
      .slice(0, most);
  };

  // The share of the cases whose nearest neighbour is farther away than d.
  const farther = (own, d) => own.filter((other) => other > d).length / own.length;

  // The expected change of the prediction if an empty column gets a value: the mean, over values of the training
  // cases, of half the sum of the changes of all probabilities (as `psephos predict --next-column`).
  const moves = (ask, x, j, [values, shares], before) =>
    values.reduce((sum, v, k) => {
      const off = ask(x.with(j, v)).map((p, c) => Math.abs(p - before[c])),
        share = shares ? shares[k] : 1 / values.length;
      return sum + (share * off.reduce((a, b) => a + b, 0)) / 2;
    }, 0);
  // The empty column with the greatest expected change: [field, change]; among ties the model's first column.
  const next = (ask, x, { fields, tried }) => {
    const before = ask(x),
      gaps = x.flatMap((v, i) => (v === null && tried[i][0].length ? [i] : []));
    return gaps
      .map((i) => [i, moves(ask, x, i, tried[i], before)])
      .sort((a, b) => b[1] - a[1] || fields[a[0]].at - fields[b[0]].at)[0];
  };
  const MANY = 160; // if more columns are empty, the search starts at a click

  // The smallest set of empty columns with which a further voter applies, among ties the set whose voters
  // have the greatest weight, then the first by rank: [columns, number of voters, their weight]; null if all apply.
  const wakes = ([reads, all], weights, empty, rank = (j) => j) => {
    const gaps = reads.map((own) => own.filter(empty)),
      asleep = (own, t) => own.length && (all[t] || own.length === reads[t].length),
      sets = gaps.flatMap((own, t) =>
        !asleep(own, t) ? [] : all[t] ? [own] : own.map((one) => [one]),
      ),
      least = Math.min(...sets.map((set) => set.length)),
      few = new Map(sets.filter((set) => set.length === least).map((set) => [String(set), set])),
      woken = (set) =>
        gaps.flatMap((own, t) => {
          const has = (one) => set.includes(one);
          return asleep(own, t) && (all[t] ? own.every(has) : own.some(has)) ? [t] : [];
        });
    const weighed = [...few.values()].map((set) => {
      const who = woken(set);
      return [set, who.length, who.reduce((sum, t) => sum + weights[t], 0)];
    });
    const ranks = ([set]) => set.reduce((sum, j) => sum + rank(j), 0);
    weighed.sort((a, b) => b[2] - a[2] || ranks(a) - ranks(b));
    return weighed[0] || null;
  };

  const named = (fields) =>
    fields.flatMap((field, i) => [
      i ? (i + 1 < fields.length ? ", " : " and ") : "",
      titled(field, "span"),
    ]);
  // The sentence on the next measurement, with `data`.
  const measure = (words, data) =>
    make("p", [make("strong", "Measure next: "), ...words], { className: "note", data });

  // If no single column changes the prediction: the fewest with which a further voter applies.
  const waking = ({ calc, open, study, whole, x }) => {
    const row = whole(x),
      typical = calc.typical[study.positive] || calc.typical.find(Boolean),
      { ballots } = open.answer(whole(typical || x)),
      weights = ballots.map((one) => Math.abs(one.weight)),
      place = (j) => calc.fields.findIndex((field) => field.at === j),
      found = wakes(open.needs, weights, (j) => row[j] === null, place);
    if (!found) return [];
    const [set, n] = found,
      fewer = set.length > 1 ? " With fewer columns none does." : "",
      voters = n === 1 ? "1 voter applies that does" : `${n} voters apply that do`,
      names = named(set.map((j) => calc.fields[place(j)]));
    return [
      measure([...names, `. Then ${voters} not now.${fewer}`], { test: "wakes", columns: set }),
    ];
  };

  // The empty column to measure next, or the command that finds it.
  const advice = (about) => {
    const { calc, x, chances, answer } = about,
      most = make("div"),
      none = answer.why === "values" || answer.why === "weight",
      empty = x.filter((v) => v === null).length;
    const tell = () => {
      const [at, change] = next(chances, x, calc) || [];
      if (at === undefined) return;
      if (!change) {
        most.replaceChildren(...waking(about));
        return;
      }
      const field = calc.fields[at],
        size = change < 0.005 ? "less than 0.01" : change.toFixed(2),
        quantiles = `ten quantiles${calc.rounding ? ", rounded here" : ""}`,
        values = field.levels ? "its categories" : quantiles,
        words = `. It would move the answer by ${size} on average, over the values that the column had in the training cases (${values}).`,
        data = { test: "measure-next", column: field.whole, change };
      most.replaceChildren(measure([titled(field, "span"), words], data));
    };
    const where =
      "What to measure next is not shown here: use \u2018psephos predict --next-column\u2019.";
    if (none || !empty) return most; // the columns that are needed are shown with the prediction
    if (!calc.tried) most.append(make("p", where, "note"));
    else if (empty > MANY) most.append(button("What to measure next?", tell));
    else tell();
    return most;
  };

  // The familiarity of a case, from its nearest cases.
  const familiarity = ({ calc, study, x, rows, self, name }, found) => {
    const n = calc.spread.length,
      share = farther(calc.own, found[0][1]),
      some = share === 0 ? "none" : `only ${page.words.percent(share)}`,
      neighbour = study.groups ? "case of another group" : "case",
      seen = study.sampled ? ` (the ${study.rows.length} that the page carries)` : "",
      twins = rows.map((row, i) => i !== self && row.every((v, j) => v === x[j])),
      of = study.classes.map((_, k) => study.y.filter((one, i) => twins[i] && one === k).length),
      same = of.reduce((sum, one) => sum + one, 0);
    const nearer = 1 - share - calc.own.filter((d) => d === found[0][1]).length / calc.own.length,
      [than, part, far] =
        nearer > share ? ["less", nearer, "nearer to"] : ["more", share, "farther from"];
    let words = `This case is ${than} typical than ${page.words.percent(part)} of the study's cases${seen}: they are ${far} their nearest ${neighbour} than it is ${far.split(" ")[1]} its own.`;
    if (same)
      words = `${page.words.plural(same, self < 0 ? "case" : "other case")} of the study${seen} ${same === 1 ? "has" : "have"} the same values${calc.rounding ? ", to the digits shown here" : ""}${x.includes(null) ? ", with the same columns missing" : ""}: ${of.flatMap((k, c) => (k ? [`${k} ${name(c).textContent}`] : [])).join(", ")}.`;
    else if (share < 0.05 && found[0][1])
      words = `Unfamiliar: of the study's cases${seen} ${some} are as far from their nearest ${neighbour} as this one is from its own.`;
    if (found[0][2] < n)
      words += ` That rests on ${found[0][2]} of ${page.words.plural(n, "column")}.`;
    return make("p", words, { className: "note", data: { test: "familiar", share } });
  };

  const tableOf = ({ calc, study, name, person, heldOut, two }, found) => {
    const n = calc.spread.length,
      few = found.some(([, , both]) => both < n),
      shown = (cells) => (few ? cells : cells.slice(0, 4)),
      held = two ? `held out, ${study.classes[study.positive]}` : "held out, its class",
      heads = shown(["case", "truth", held, "distance", "columns it rests on"]);
    const lines = found.map(([i, d, both]) => {
      const own = study.rows[i],
        answer = heldOut(own),
        line = page.row(
          shown([
            button(person(own), () => hub.set("person", own), "plain"),
            name(study.y[i]),
            answer ? page.words.chance(answer[two ? study.positive : study.y[i]]) : "\u2013",
            page.words.rate(d),
            `${both} of ${n}`,
          ]),
          ["", ""],
        );
      Object.assign(line.dataset, { test: "near-person", row: own });
      return line;
    });
    return page.table("The nearest cases of the study", heads, lines, ["", ""], "near");
  };

  const show = (box, about, first = make("div")) => {
    const { calc, x, rows, self, study } = about,
      n = calc.spread.length,
      mine = x.slice(0, n),
      cases = rows.map((row) => row.slice(0, n)),
      groups = study.groups || undefined,
      found = nearest(calc.spread, mine, cases, self, 5, groups),
      measured = mine.filter((v) => v !== null).length,
      few = `How familiar this case is, is not given: ${measured} of ${page.words.plural(n, "column")} are measured, fewer than half.`,
      how =
        "Distance: over the columns both have, each divided by its standard deviation among the cases; a category that differs counts 1; scaled up where columns are missing. Cases that share half or fewer of the columns filled in here are left out.",
      own = groups && self >= 0 ? " So are those of its own group." : "",
      none =
        "No case of the study shares more than half of the columns measured here, so none is near.";
    let parts = [];
    if (found.length)
      parts = [
        tableOf(about, found),
        2 * measured < n
          ? make("p", few, { className: "note", data: { test: "unfamiliar" } })
          : familiarity(about, found),
        make("p", how + own, "note"),
      ];
    else if (measured && rows.length)
      parts = [make("p", none, { className: "note", data: { test: "none-near" } })];
    first.replaceChildren(advice(about));
    box.replaceChildren(...parts);
  };

  return { nearest, show, wakes, waking };
})();
