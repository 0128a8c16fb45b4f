// What would turn an answer: the fewest columns to change, then the least change in training quantiles.
page.turn = (() => {
  const { make } = page,
    MANY = 60, // columns of which each is tried, the most important
    MOST = 8; // columns of which pairs are tried
  // The values a field may be changed to, within the training range, each with the size of the change: the share
  // of the training quantiles between, of categories 1.
  const stepsOf = (own, { levels }, [values]) => {
    if (own === null) return []; // of a missing value "Measure next" speaks
    if (levels) return levels.filter((v) => v !== own).map((v) => [v, 1]);
    const below = (v) => values.filter((one) => one < v).length;
    return [...new Set(values)]
      .filter((v) => v !== own)
      .map((v) => [v, Math.abs(below(v) - below(own)) / values.length]);
  };
  // Every change of some fields, as [[field, value, size], ...], from the least change upwards.
  const sizeOf = (change) => change.reduce((sum, [, , size]) => sum + size, 0);
  const changesOf = (steps, n) => {
    const single = steps.flatMap((own, i) => own.map(([value, size]) => [[i, value, size]]));
    const every =
      n === 1
        ? single
        : single.flatMap(([a]) => single.filter(([b]) => a[0] < b[0]).map(([b]) => [a, b]));
    return every.sort((a, b) => sizeOf(a) - sizeOf(b));
  };
  const changed = (x, change) => {
    const values = [...x];
    change.forEach(([i, value]) => {
      values[i] = value;
    });
    return values;
  };
  // The least change of one field, else of two, with which `call` says another class; null where none does.
  const least = (call, x, { fields, tried }, fixed = new Set()) => {
    const own = call(x),
      tries = (i) => i < MANY && !fixed.has(i),
      steps = fields.map((field, i) => (tries(i) ? stepsOf(x[i], field, tried[i]) : [])),
      pairs = steps.map((one, i) => (i < MOST ? one : []));
    const turns = (change) => call(changed(x, change)) !== own;
    return changesOf(steps, 1).find(turns) || changesOf(pairs, 2).find(turns) || null;
  };

  const sentence = ({ calc, x, told, name, called, chances, about }, change) => {
    const values = changed(x, change),
      p = chances(values),
      k = called(p);
    const parts = change.flatMap(([i, value], n) => [
      n ? " and " : "",
      page.axis.titled(calc.fields[i], "strong"),
      ` were ${page.axis.write(value, 4)} (here ${page.axis.write(x[i], 4)})`,
    ]);
    const one = told([
      "If ",
      ...parts,
      `: ${page.words.number(p[about(p)], 3)}, called `,
      name(k),
      ".",
    ]);
    Object.assign(one.dataset, { test: "turned", class: k });
    return one;
  };
  // The nearest case of the study that the model calls another class.
  const other = ({ calc, x, rows, study, called, chances, person, pin, button, told }) => {
    const n = calc.spread.length,
      own = called(chances(x)),
      away = rows.map((row, i) => [row, i]).filter(([row]) => called(chances(row)) !== own),
      near = page.near.nearest(
        calc.spread,
        x.slice(0, n),
        away.map(([row]) => row.slice(0, n)),
        -1,
        1,
      );
    if (!near.length) return [];
    const row = study.rows[away[near[0][0]][1]],
      link = button(person(row), () => pin(row), "plain");
    return [told(["The nearest case with another answer is ", link, "."], "note")];
  };
  // The columns that may not be changed, such as age, as boxes to tick.
  const fixedOf = ({ calc, fixed }, change) => {
    const boxes = calc.fields.slice(0, MANY).map((field, i) => {
      const label = make("label", "", "fixed"),
        box = make("input");
      Object.assign(box, { type: "checkbox", checked: fixed.has(i) });
      box.addEventListener("change", () => {
        if (box.checked) fixed.add(i);
        else fixed.delete(i);
        change();
      });
      label.append(box, " ", field.name);
      return label;
    });
    return page.folded("Columns that cannot change", ...boxes);
  };
  const NONE = `None of the changes that were tried turns it: ten quantiles of each column, alone and in pairs of the ${MOST} most important columns, without those that cannot change.`;
  const show = (box, about) => {
    const { calc, x, told, button, called, chances } = about;
    if (!calc.tried || x.every((v) => v === null)) return box.replaceChildren();
    const found = make("div"),
      search = () => {
        const change = least((values) => called(chances(values)), x, calc, about.fixed);
        found.replaceChildren(
          change ? sentence(about, change) : told(NONE),
          ...other(about),
          told(
            "This is the least of the changes tried (ten quantiles a column, within the training range). It describes the model; it is no advice to act.",
            "note",
          ),
          fixedOf(about, search),
        );
      };
    const ask = button("What would turn this answer?", search);
    ask.dataset.test = "turn";
    return box.replaceChildren(ask, found);
  };
  return { least, show };
})();
