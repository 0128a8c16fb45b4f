// The votes of a model on a case in words; voters with the same reason and vote are merged.
page.ballot = (() => {
  const { make, svg } = page,
    { line, rect } = page.draw,
    { named, write } = page.axis;
  const { percent, signs } = page.words;
  const sum = (list) => list.reduce((a, b) => a + b, 0);

  // The classes that a vote is for, or against: for two classes by the sign of its number; for more the only class that
  // it changes, else the greatest, or the least ones if they are fewer than the greatest; none if all are equal.
  const saysOf = (numbers) => {
    const same = (a, b) => Math.abs(a - b) <= 2 ** -41, // up to rounding
      at = (size) => numbers.flatMap((v, k) => (same(v, size) ? [k] : []));
    if (numbers.length === 1)
      return { of: same(numbers[0], 0) ? [] : [Number(numbers[0] > 0)], against: false };
    const top = at(Math.max(...numbers)),
      low = at(Math.min(...numbers)),
      moved = numbers.flatMap((v, k) => (same(v, 0) ? [] : [k]));
    if (top.length === numbers.length) return { of: [], against: false };
    if (moved.length === 1) return { of: moved, against: numbers[moved[0]] < 0 };
    const against = top.length > 1 && low.length < top.length;
    return { of: against ? low : top, against };
  };

  // "Parvimonas micra = 1.88 > 0.023" as elements: the name, and the rest with typographic signs.
  const inParts = (reason, columns) => {
    const known = [...columns].sort((a, b) => b.name.length - a.name.length),
      parts = [];
    let rest = reason.replaceAll("<=", "\u2264").replaceAll(">=", "\u2265");
    while (rest) {
      const one = known.find(({ name }) => rest.startsWith(`${name} = `)),
        cut = rest.indexOf(" and "),
        end = one ? one.name.length + 3 : cut < 0 ? rest.length : cut + 5;
      parts.push(...(one ? [named(one), " "] : [signs(rest.slice(0, end))]));
      rest = rest.slice(end);
    }
    return parts;
  };

  // A long sum is folded: the columns that it reads; the whole sum is shown when it is opened.
  const reasonOf = ({ name, words, read }, columns) => {
    const parts = inParts(words, columns);
    if (words.length <= 120) return parts;
    const two = read.slice(0, 2).map((j) => columns[j].name),
      more = read.length > 2 ? ` and ${read.length - 2} more` : "",
      like = words.startsWith("like ") ? words.slice(0, words.indexOf(":")) : "",
      head = like || two.join(", ") + more || "its reason",
      fold = page.folded(name ? `${name}: ${head}` : head, ...parts);
    fold.className = "inline";
    return [fold];
  };

  // One line per reason and vote, the largest contribution first; one per class for votes that never change.
  const merged = (answer, { idle }) => {
    const lines = new Map();
    answer.ballots.forEach(({ voter, name, reason, columns: read, contribution, weight }) => {
      const { of, against } = saysOf(contribution),
        always = idle.has(voter),
        words = always ? "always" : `${name ? `${name}: ` : ""}${reason}`,
        key = `${words}\u2192${against}${of}`,
        none = { n: 0, weight: 0, contribution: contribution.map(() => 0) },
        old = lines.get(key) || none;
      lines.set(key, {
        ...{ name, words, always, read, k: of[0] ?? -1, of, against, n: old.n + 1 },
        weight: old.weight + Math.abs(weight),
        contribution: old.contribution.map((v, i) => v + contribution[i]),
      });
    });
    const size = (line) => Math.max(...line.contribution.map(Math.abs));
    return [...lines.values()].sort((a, b) => a.always - b.always || size(b) - size(a));
  };

  // A bar from the middle; for two classes it extends to the right for the positive one.
  const bar = (value, reach, kind) => {
    const wide = Math.max(Math.min(Math.abs(value) / reach, 1) * 64, value ? 0.8 : 0),
      look = { class: "diverge", preserveAspectRatio: "none", "aria-hidden": "true" };
    return svg(
      "svg",
      { viewBox: "0 0 132 12", ...look },
      line("axis", 66, 66, 0, 12),
      rect(kind, value > 0 ? 66 : 66 - wide, 1, wide, 10),
    );
  };

  const signed = (v) => {
    const text = write(Number(v.toPrecision(3)), 3);
    return v > 0 ? `+${text}` : text;
  };

  const list = (items) => make("ul", items, "votes");
  const item = (parts, value, reach, kind, words, data = {}) =>
    make("li", [make("span", parts), bar(value, reach, kind), make("span", words, "w num")], {
      data,
    });

  // A model that is one linear sum without missing values: intercept, the contribution of each column, and the score.
  const linear = (plain, x) => {
    const part = plain.voters;
    if (part.kind !== "scores" || part.coef?.length !== 1 || part.constant.length !== 1)
      return null;
    const terms = part.coef[0].map((by, i) => {
      const j = part.columns[part.position[i]];
      return { by, j, value: x[j] };
    });
    if (terms.some((one) => typeof one.value !== "number")) return null;
    return { start: part.constant[0][0], terms };
  };

  const terms = ({ start, terms: read }, { columns, hue, study }) => {
    const sign = study.positive === 0 ? -1 : 1,
      kind = (v) => hue[v > 0 ? study.positive : 1 - study.positive],
      first = [["start, with every column at 0"], sign * start];
    const rows = read.map(({ by, j, value }) => [
      [named(columns[j]), ` ${write(value)} \u00d7 ${write(sign * by)}`],
      sign * by * value,
    ]);
    const all = [first, ...rows].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])),
      reach = Math.max(...all.map(([, v]) => Math.abs(v)), 1e-12),
      value = sum(all.map(([, v]) => v)),
      whole = [make("strong", `sum: above 0 for ${study.classes[study.positive]}`)];
    return [
      make("h3", "Terms of the sum"),
      list([
        ...all.map(([parts, v]) =>
          item(parts, v, reach, kind(v), signed(v), { test: "case-term", value: v }),
        ),
        item(whole, 0, 1, "", signed(value), { test: "case-sum", value }),
      ]),
    ];
  };

  // A line for ballots with the same vote for the same reason.
  const voteOf = (one, { study, hue, columns }, value, reach, size) => {
    const called = one.of.flatMap((k, i) => [
        i ? (one.against ? " and " : " or ") : "",
        make("strong", study.classes[k], hue[k]),
      ]),
      says = one.k < 0 ? ["nothing"] : [one.against ? "against " : "", ...called],
      voters = `${one.n} ${one.n === 1 ? "voter that says" : "voters that say"} `,
      many = one.n > 1 ? make("span", ` (${one.n} voters)`, "quiet") : "";
    const words = one.always
      ? [voters, ...says, " whatever is measured"]
      : [...reasonOf(one, columns), " \u2192 ", ...says, many];
    const data = { test: "case-vote", weight: one.weight };
    return item(words, value, reach, one.k < 0 ? "" : hue[one.k], size, data);
  };
  // The weight of the voters for each class, and how it differs from the prediction.
  const sharesOf = (lines, answer, { study, says }) => {
    if (answer.unanswered && answer.why !== "tie")
      return "No voter applies to these values: the model has no answer. Below are the votes of voters whose values are missing.";
    const { classes, order } = study,
      own = (k) => lines.filter((one) => one.k === k && !one.against),
      of = (k) => Number(sum(own(k).map((one) => one.weight)).toFixed(9)), // without rounding errors
      stated = order.every((k) => Math.abs(of(k) - answer.probabilities[k]) < 1e-9),
      more = `. The ${says} is another number: in it a voter also counts by how strongly it predicts its class`,
      same = says === "share of the vote" && (stated ? `: that is the ${says}` : more);
    const words = order
      .filter((k) => of(k) > 0)
      .map((k, i) => `${percent(of(k))} ${i ? "" : "of the weight predict "}${classes[k]}`);
    if (!words.length) return "The weight is even between the classes.";
    return `Voters with ${words.join(", ")}${same || ""}.`;
  };

  const show = (box, answer, about) => {
    const { study, two } = about,
      sums = two ? linear(about.plain, about.x) : null;
    if (sums) return box.replaceChildren(...terms(sums, about));
    const lines = merged(answer, about),
      whole = sum(lines.map((one) => one.weight)),
      shares = Math.abs(whole - 1) < 1e-9,
      sign = study.positive === 0 ? -1 : 1,
      value = ({ k, contribution }) =>
        two ? sign * contribution[0] : k < 0 ? Math.max(...contribution) : contribution[k],
      reach = Math.max(...lines.map((one) => Math.abs(value(one))), 1e-12),
      size = (one) => (shares ? percent(one.weight) : signed(value(one))),
      li = (one) => voteOf(one, about, value(one), reach, size(one)),
      [top, rest] = [lines.slice(0, 7), lines.slice(7)],
      others = page.words.plural(sum(rest.map((one) => one.n)), "further voter"),
      kept = box.querySelector("details[open]");
    box.replaceChildren(
      make("h3", shares ? "Who voted, and with what weight" : "Who voted, and what each adds"),
      ...(shares
        ? [make("p", `${sharesOf(lines, answer, about)} Bars show what each adds.`, "note")]
        : []),
      list(top.map(li)),
      ...(rest.length ? [page.folded(others, list(rest.map(li)))] : []),
    );
    const fold = box.querySelector("details");
    if (kept && fold) fold.open = true;
    return undefined;
  };

  return { item, list, reasonOf, saysOf, show };
})();
