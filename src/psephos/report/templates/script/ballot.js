// What the voters of a model say of a case, in true words, and how votes that ask the same are merged.
page.ballot = (() => {
  const { write } = page.axis;
  const svg = page.svg,
    make = page.make;
  const sum = (list) => list.reduce((a, b) => a + b, 0);

  // The classes that a vote is for, or against: of two the sign of the one number, of more the one that it moves
  // alone, the greatest, or those of the least where fewer are below the others than above; none where all are equal.
  const saysOf = (numbers) => {
    const same = (a, b) => Math.abs(a - b) <= 2 ** -41, // the rest is rounding
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

  // "Parvimonas micra = 1.88 > 0.023" as the page sets it: the name, and the rest in true signs.
  const inParts = (reason, columns) => {
    const named = columns.map((one) => one.name).sort((a, b) => b.length - a.length),
      parts = [];
    let rest = reason.replaceAll("<=", "\u2264").replaceAll(">=", "\u2265");
    while (rest) {
      const name = named.find((one) => rest.startsWith(`${one} = `));
      const cut = rest.indexOf(" and "),
        end = cut < 0 ? rest.length : cut + 5;
      if (name) {
        parts.push(
          make("span", name, columns.find((one) => one.name === name).italic ? "species" : ""),
          " ",
        );
        rest = rest.slice(name.length + 3);
      } else {
        parts.push(rest.slice(0, end));
        rest = rest.slice(end);
      }
    }
    return parts;
  };

  // A long sum is folded: the columns it reads, and the whole of it behind.
  const reasonOf = (one, columns) => {
    if (one.words.length <= 120) return inParts(one.words, columns);
    const like = one.words.startsWith("like ") ? one.words.slice(0, one.words.indexOf(":")) : "";
    const fold = make("details", "", "inline"),
      [first, second] = one.read.map((j) => columns[j].name),
      more = one.read.length - 2;
    fold.append(
      make(
        "summary",
        like ||
          (first
            ? `${first}${second ? `, ${second}` : ""}${more > 0 ? ` and ${more} more` : ""}`
            : "its reason"),
      ),
      ...inParts(one.words, columns),
    );
    return [fold];
  };

  // One line a question and answer, the heaviest first; voters that say the same whatever is measured are
  // summed into one line a class.
  const merged = (answer, { idle }) => {
    const lines = new Map();
    answer.ballots.forEach((ballot) => {
      const { contribution } = ballot,
        { of, against } = saysOf(contribution),
        k = of.length ? of[0] : -1,
        always = idle.has(ballot.voter);
      const words = always ? "always" : (ballot.name ? ballot.name + ": " : "") + ballot.reason,
        key = `${words}\u2192${against}${of}`;
      const line = lines.get(key) || {
        words,
        always,
        read: ballot.columns,
        k,
        of,
        against,
        n: 0,
        weight: 0,
        contribution: contribution.map(() => 0),
      };
      line.n += 1;
      line.weight += Math.abs(ballot.weight);
      line.contribution = line.contribution.map((v, i) => v + contribution[i]);
      lines.set(key, line);
    });
    const size = (line) => Math.max(...line.contribution.map(Math.abs));
    return [...lines.values()].sort((a, b) => a.always - b.always || size(b) - size(a));
  };

  // A bar from the middle: of two classes to the right for the positive one.
  const bar = (value, reach, kind) => {
    const half = 64,
      wide = Math.max(Math.min(Math.abs(value) / reach, 1) * half, value ? 0.8 : 0);
    return svg(
      "svg",
      {
        viewBox: "0 0 132 12",
        class: "diverge",
        preserveAspectRatio: "none",
        "aria-hidden": "true",
      },
      svg("line", { x1: 66, x2: 66, y1: 0, y2: 12, class: "axis" }),
      svg("rect", { x: value > 0 ? 66 : 66 - wide, y: 1, width: wide, height: 10, class: kind }),
    );
  };

  const signed = (v) => {
    const text = write(Number(v.toPrecision(3)), 3);
    return v > 0 ? `+${text}` : text;
  };

  const list = (items) => {
    const ul = make("ul", "", "votes");
    ul.append(...items);
    return ul;
  };
  const item = (parts, value, reach, kind, words) => {
    const li = make("li"),
      text = make("span");
    text.append(...parts);
    li.append(text, bar(value, reach, kind), make("span", words, "w num"));
    return li;
  };

  // A model that is one linear sum, of numbers that are all there: its start, what each column adds, and the score.
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

  const terms = ({ start, terms: list0 }, { columns, hue, study }) => {
    const sign = study.positive === 0 ? -1 : 1,
      kind = (v) => hue[v > 0 ? study.positive : 1 - study.positive];
    const rows = list0.map((one) => [
      [
        make("span", columns[one.j].name, columns[one.j].italic ? "species" : ""),
        ` ${write(one.value)} \u00d7 ${write(sign * one.by)}`,
      ],
      sign * one.by * one.value,
    ]);
    const all = [[["start, with every column at 0"], sign * start], ...rows].sort(
      (a, b) => Math.abs(b[1]) - Math.abs(a[1]),
    );
    const reach = Math.max(...all.map((one) => Math.abs(one[1])), 1e-12),
      whole = sum(all.map((one) => one[1]));
    const items = all.map(([parts, v]) => {
      const row = item(parts, v, reach, kind(v), signed(v));
      row.dataset.test = "case-term";
      row.dataset.value = v;
      return row;
    });
    const last = item(
      [make("strong", `sum: above 0 for ${study.classes[study.positive]}`)],
      0,
      1,
      "",
      signed(whole),
    );
    last.dataset.test = "case-sum";
    last.dataset.value = whole;
    return [make("h3", "How the sum came about"), list([...items, last])];
  };

  // A line of ballots that say the same for the same reason.
  const voteOf = (one, { study, hue, columns }, value, reach, size) => {
    const called = one.of.flatMap((k, i) => [
        i ? (one.against ? " and " : " or ") : "",
        page.axis.coloured(study.classes[k], hue[k]),
      ]),
      says = one.k < 0 ? ["nothing"] : [one.against ? "against " : "", ...called],
      voters = `${one.n} ${one.n === 1 ? "voter that says" : "voters that say"} `,
      many = one.n > 1 ? make("span", ` (${one.n} voters)`, "quiet") : "";
    const words = one.always
      ? [voters, ...says, " whatever is measured"]
      : [...reasonOf(one, columns), " \u2192 ", ...says, many];
    const row = item(words, value, reach, one.k < 0 ? "" : hue[one.k], size);
    Object.assign(row.dataset, { test: "case-vote", weight: one.weight });
    return row;
  };
  // How the weight is shared among the classes, and whether that is the answer.
  const sharesOf = (lines, answer, { study, percent, two }) => {
    if (answer.unanswered && answer.why !== "tie")
      return "No voter applies. Below is what voters fall back to where values are missing: it is not an answer.";
    const of = (k) =>
        sum(lines.filter((one) => one.k === k && !one.against).map((one) => one.weight)),
      by = study.order.map((k) => [k, of(k)]).filter(([, weight]) => weight > 0),
      positive = study.positive,
      stated = two && Math.abs(of(positive) - answer.probabilities[positive]) < 1e-9;
    const words = by.map(([k, weight], i) =>
      i
        ? `${percent(weight)} ${study.classes[k]}`
        : `${percent(weight)} of the weight says ${study.classes[k]}`,
    );
    if (!words.length) return "The weight is even between the classes.";
    return `${words.join(", ")}.${stated ? " That share is its answer." : ""}`;
  };

  const show = (box, answer, about) => {
    const { study, percent, told, two } = about,
      sums = two ? linear(about.plain, about.x) : null;
    if (sums) {
      box.replaceChildren(...terms(sums, about));
      return;
    }
    const lines = merged(answer, about),
      whole = sum(lines.map((one) => one.weight)),
      shares = Math.abs(whole - 1) < 1e-9;
    const sign = study.positive === 0 ? -1 : 1,
      value = ({ k, contribution }) =>
        two ? sign * contribution[0] : k < 0 ? Math.max(...contribution) : contribution[k];
    const reach = Math.max(...lines.map((one) => Math.abs(value(one))), 1e-12);
    const li = (one) =>
      voteOf(one, about, value(one), reach, shares ? percent(one.weight) : signed(value(one)));
    const parts = [
      make("h3", shares ? "Who voted, and with what weight" : "Who voted, and what each adds"),
      ...(shares ? [told(sharesOf(lines, answer, about), "note")] : []),
      list(lines.slice(0, 7).map(li)),
    ];
    const rest = lines.slice(7).map(li),
      others = sum(lines.slice(7).map((one) => one.n));
    if (rest.length)
      parts.push(page.folded(page.words.plural(others, "further voter"), list(rest)));
    const kept = box.querySelector("details[open]");
    box.replaceChildren(...parts);
    if (kept && box.querySelector("details")) box.querySelector("details").open = true;
  };

  return { inParts, merged, saysOf, show };
})();
