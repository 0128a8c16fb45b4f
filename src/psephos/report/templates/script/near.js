// Who is near a new case among the cases of the study, and which measurement would tell most.
page.near = (() => {
  // Root mean square of differences over the columns both have, each in its standard deviations, times
  // the root of the number of columns: a category that differs counts 1.
  const distance = (spread, a, b) => {
    let sum = 0,
      both = 0;
    spread.forEach((size, j) => {
      if (a[j] === null || b[j] === null) return;
      const off = size > 0 ? (a[j] - b[j]) / size : Number(a[j] !== b[j]);
      sum += off * off;
      both += 1;
    });
    return both ? Math.sqrt((sum * spread.length) / both) : Infinity;
  };
  const shared = (a, b) => a.filter((v, j) => v !== null && b[j] !== null).length;

  // The cases of least distance: [position, distance, columns it rests on], none that is `self`, nor any that shares but
  // half of the columns that x has; of equals those that share more first.
  const nearest = (spread, x, rows, self, most = 5) => {
    const known = x.filter((v) => v !== null).length;
    return rows
      .map((row, i) => [i, distance(spread, x, row), shared(x, row)])
      .filter(([i, , both]) => i !== self && 2 * both > known)
      .sort((a, b) => a[1] - b[1] || b[2] - a[2])
      .slice(0, most);
  };

  // The share of the cases whose own nearest other is farther away than d.
  const farther = (own, d) => own.filter((other) => other > d).length / own.length;

  // By how much the answer moves if an empty column gets a value: the mean, over values like those of the training
  // cases, of half the sum of the changes of all probabilities (as `psephos predict --next-column`).
  const moves = (ask, x, j, [values, shares], before = ask(x)) =>
    values.reduce((sum, v, k) => {
      const after = ask(x.map((own, i) => (i === j ? v : own)));
      return (
        sum +
        ((shares ? shares[k] : 1 / values.length) *
          after.reduce((off, p, c) => off + Math.abs(p - before[c]), 0)) /
          2
      );
    }, 0);
  // The empty column that would move it most: [field, change]; of equals that which the model has first.
  const next = (ask, x, { fields, tried }) => {
    const before = ask(x),
      gaps = fields.map((_, i) => i).filter((i) => x[i] === null && tried[i][0].length);
    return gaps
      .map((i) => [i, moves(ask, x, i, tried[i], before)])
      .sort((a, b) => b[1] - a[1] || fields[a[0]].at - fields[b[0]].at)[0];
  };
  const MANY = 160; // empty columns, from which on the reader asks for it

  const show = (box, about) => {
    const {
      calc,
      study,
      x,
      rows,
      chances,
      self,
      name,
      person,
      heldOut,
      chance,
      percent,
      told,
      two,
      button,
      pin,
    } = about;
    const { make } = page,
      n = calc.spread.length,
      parts = [],
      used = calc.fields.map((_, i) => i).filter((i) => i < n);
    const gaps = used.filter((i) => x[i] === null),
      mine = x.slice(0, n);
    const empty = x.filter((v) => v === null).length,
      most = make("div");
    const tell = () => {
      const one = next(chances, x, calc);
      if (!one) return;
      const p = told(
        [
          make("strong", "Measure next: "),
          page.axis.titled(calc.fields[one[0]], "span"),
          `. It would move the answer by ${one[1] > 0 && one[1] < 0.005 ? "less than 0.01" : one[1].toFixed(2)} on average, over the values that the column had in the training cases (${calc.fields[one[0]].levels ? "its categories" : `ten quantiles${calc.rounding ? ", rounded here" : ""}`}).`,
        ],
        "note",
      );
      p.dataset.test = "measure-next";
      p.dataset.column = calc.fields[one[0]].whole;
      p.dataset.change = one[1];
      most.replaceChildren(p);
    };
    if (empty && !calc.tried)
      most.append(
        told(
          "What to measure next is not told here: \u2018psephos predict --next-column\u2019 says it.",
          "note",
        ),
      );
    else if (empty > MANY) most.append(button("What to measure next?", tell));
    else if (empty) tell();
    parts.push(most);
    const found = nearest(
      calc.spread,
      mine,
      rows.map((row) => row.slice(0, n)),
      self,
    );
    if (found.length && gaps.length < n) {
      const share = farther(calc.own, found[0][1]),
        seen = study.sampled ? ` of the ${study.rows.length} cases that the page carries` : "";
      const twin = rows.some((row, i) => i !== self && row.every((v, j) => v === x[j])),
        few = found.some(([, , both]) => both < n),
        all = `${n} column${n === 1 ? "" : "s"}`;
      const words = twin
        ? `${self < 0 ? "A" : "Another"} case of the study has the same values${calc.rounding ? ", as far as they are told here" : ""}${x.includes(null) ? ", and lacks the same ones" : ""}.`
        : share < 0.05
          ? `Unfamiliar: ${share === 0 ? "none" : `only ${percent(share)}`} of the cases themselves is as far from its nearest other.`
          : `${percent(share)} of the cases themselves are farther from their nearest other${seen}.`;
      const familiar = told(
        words + (found[0][2] < n ? ` That rests on ${found[0][2]} of ${all}.` : ""),
        "note",
      );
      familiar.dataset.test = "familiar";
      familiar.dataset.share = share;
      const table = make("table", "", "near"),
        head = make("tr"),
        body = make("tbody"),
        top = make("thead");
      [
        "case",
        "truth",
        two ? `held out, ${study.classes[study.positive]}` : "held out, its class",
        "distance",
        ...(few ? ["columns it rests on"] : []),
      ].forEach((text, i) => {
        const cell = make("th", text, i > 1 ? "num" : "");
        cell.scope = "col";
        head.append(cell);
      });
      found.forEach(([i, d, both]) => {
        const row = make("tr"),
          first = make("th"),
          truth = make("td"),
          held = heldOut(study.rows[i]);
        first.scope = "row";
        first.append(button(person(study.rows[i]), () => pin(study.rows[i]), "plain"));
        truth.append(name(study.y[i]));
        row.dataset.test = "near-person";
        row.dataset.row = study.rows[i];
        row.append(
          first,
          truth,
          make("td", held ? chance(held[two ? study.positive : study.y[i]]) : "–", "num"),
          make("td", page.axis.write(d, 2), "num"),
          ...(few ? [make("td", `${both} of ${n}`, "num")] : []),
        );
        body.append(row);
      });
      top.append(head);
      table.append(top, body);
      parts.push(
        make("h3", "The nearest cases of the study"),
        familiar,
        table,
        told(
          "Distance: over the columns both have, each divided by its standard deviation among the cases; a category that differs counts 1. Cases that share but half of the columns measured here, or fewer, are not looked at.",
          "note",
        ),
      );
    } else if (rows.length && gaps.length < n) {
      const alone = told(
        "No case of the study shares more than half of the columns measured here, so that none is called near.",
        "note",
      );
      alone.dataset.test = "none-near";
      parts.push(alone);
    }
    box.replaceChildren(...parts);
  };

  return { distance, farther, moves, nearest, next, show };
})();
