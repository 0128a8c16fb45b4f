// What the voters of a model say of a case, in true words, and how votes that ask the same are merged.
page.ballot = (() => {
  const { write } = page.axis;
  const holds = { "<=": (a, b) => a <= b, "<": (a, b) => a < b, ">": (a, b) => a > b, ">=": (a, b) => a >= b };
  const mark = { "<=": "≤", ">=": "≥", "<": "<", ">": ">" };

  // A value and a bound with just enough digits that the relation holds as printed.
  const compared = (value, relation, bound) => {
    for (const digits of [3, 4, 6, 9, 12, 17]) {
      const a = Number(value.toPrecision(digits)), b = Number(bound.toPrecision(digits));
      if (holds[relation](a, b) && (a === b) === (value === bound)) return [write(a, digits), write(b, digits)];
    }
    return [String(value), String(bound)];
  };

  // One test of a path: [name, words, what is asked].
  const test = (one, names) => {
    const { column, relation, bound, value } = one, name = names[column] ?? column;
    if (value === null || value === undefined) return [name, "not measured", `${name}|missing`];
    if (relation in holds) {
      const [a, b] = compared(value, relation, bound);
      return [name, `${a} ${mark[relation]} ${b}`, `${name}|${relation}|${bound}`];
    }
    if (relation === "within") return [name, `${write(value)} between ${write(bound[0])} and ${write(bound[1])}`, `${name}|within|${bound}`];
    if (Array.isArray(bound)) { // of several categories, which the case's is one of, or none of
      const some = bound.length > 1 ? ` ${bound.length}` : "", asked = relation === "in" ? (some ? `, one of${some}` : "") : some ? `, none of${some}` : `, not ${bound[0]}`;
      return [name, `is ${value}${asked}`, `${name}|${relation}|${bound}`];
    }
    return [name, write(value), `${name}|${relation}`];
  };

  // The same column asked twice on a path keeps the nearest bounds.
  const nearest = (tests) => {
    const kept = new Map();
    tests.forEach((one) => {
      const side = one.relation[0] === ">" ? "low" : one.relation[0] === "<" ? "high" : one.relation, key = `${one.column}|${side}`, known = kept.get(key);
      if (!known || (side === "low" && one.bound > known.bound) || (side === "high" && one.bound < known.bound)) kept.set(key, one);
    });
    return [...kept.values()];
  };

  const svg = page.svg, make = page.make;
  const sum = (list) => list.reduce((a, b) => a + b, 0);

  // The class that a vote is for: of two the sign of the one number, of more the greatest; -1 for none.
  const classOf = (numbers) => {
    if (numbers.length === 1) return numbers[0] === 0 ? -1 : numbers[0] > 0 ? 1 : 0;
    const top = Math.max(...numbers);
    return numbers.filter((v) => v === top).length > 1 ? -1 : numbers.indexOf(top);
  };

  const wordsOf = (ballot, names) => {
    const reason = ballot.reason;
    if (typeof reason === "string") return [[reason], reason];
    const tests = reason.tests || (reason.told && reason.told.tests);
    if (tests && tests.length) {
      const written = nearest(tests).map((one) => test(one, names));
      const parts = written.flatMap(([name, words], i) => [...(i ? [" and "] : []), make("i", name, "name"), " ", make("span", words, "nw")]);
      return [parts, written.map((one) => one[2]).join("&")];
    }
    const words = ballot.words || reason.words || reason.name || "";
    return [[words], words];
  };

  // One line a question and answer, the heaviest first; voters that say the same whatever is measured are
  // summed into one line a class.
  const merged = (answer, { columns, idle }) => {
    const names = columns.map((one) => one.name), lines = new Map();
    answer.ballots.forEach((ballot) => {
      const contribution = ballot.contribution || (ballot.votes || []).map((v) => v * ballot.weight), k = classOf(contribution);
      const always = idle.has(ballot.voter) || (ballot.reason && ballot.reason.kind === "constant");
      const [parts, asked] = always ? [[], "always"] : wordsOf(ballot, names), key = `${asked}→${k}`;
      const line = lines.get(key) || { parts, always, k, n: 0, weight: 0, contribution: contribution.map(() => 0) };
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
    const half = 64, wide = Math.max(Math.min(Math.abs(value) / reach, 1) * half, value ? 0.8 : 0);
    return svg("svg", { viewBox: "0 0 132 12", class: "diverge", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("line", { x1: 66, x2: 66, y1: 0, y2: 12, class: "axis" }), svg("rect", { x: value > 0 ? 66 : 66 - wide, y: 1, width: wide, height: 10, class: kind }));
  };

  const signed = (v) => { const text = write(Number(v.toPrecision(3)), 3); return v > 0 ? `+${text}` : text; };

  const list = (items) => { const ul = make("ul", "", "votes"); ul.append(...items); return ul; };
  const item = (parts, value, reach, kind, words) => {
    const li = make("li"), text = make("span");
    text.append(...parts);
    li.append(text, bar(value, reach, kind), make("span", words, "w num"));
    return li;
  };

  // A single sum of terms: its start, what each column adds, and the score.
  const terms = (ballot, { columns, fields, hue, study, told }) => {
    const reason = ballot.reason, two = reason.scores.length === 1, k = two ? 0 : reason.scores.indexOf(Math.max(...reason.scores));
    const sign = two && study.positive === 0 ? -1 : 1, about = two ? study.positive : k, kind = (v) => two ? hue[v > 0 ? study.positive : 1 - study.positive] : hue[k];
    const named = (column) => columns[column] ? columns[column].name : column;
    const rows = reason.terms.map((one) => [[make("i", named(one.column), "name"), ` ${write(one.value)}${one.coef && one.coef.length ? ` × ${write(sign * one.coef[k])}` : ""}`], sign * one.added[k]]);
    const all = [[["start, with every column at 0"], sign * reason.constant[k]], ...rows].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const reach = Math.max(...all.map((one) => Math.abs(one[1])), 1e-12), total = sign * reason.scores[k];
    const items = all.map(([parts, v]) => item(parts, v, reach, kind(v), signed(v)));
    items.push(item([make("b", `score for ${study.classes[about]}`)], 0, 1, "", signed(total)));
    return [make("h3", "How the sum came about"), list(items)];
  };

  const show = (box, answer, about) => {
    const { study, hue, percent, told, two } = about, [only] = answer.ballots;
    if (answer.ballots.length === 1 && only.reason && only.reason.terms && only.reason.constant && only.reason.constant.length && only.reason.terms.every((one) => one.added.length)) {
      box.replaceChildren(...terms(only, about));
      return;
    }
    const lines = merged(answer, about), whole = sum(lines.map((one) => one.weight)), shares = Math.abs(whole - 1) < 1e-9;
    const sign = study.positive === 0 ? -1 : 1, value = (one) => two ? sign * one.contribution[0] : Math.max(...one.contribution);
    const reach = Math.max(...lines.map((one) => Math.abs(value(one))), 1e-12);
    const li = (one) => {
      const says = one.k < 0 ? ["nothing"] : [page.axis.coloured(study.classes[one.k], hue[one.k])];
      const words = one.always ? [`${one.n} ${one.n === 1 ? "voter that says" : "voters that say"} `, ...says, " whatever is measured"] : [...one.parts, " → ", ...says, one.n > 1 ? make("span", ` (${one.n} voters)`, "quiet") : ""];
      const row = item(words, value(one), reach, one.k < 0 ? "" : hue[one.k], shares ? percent(one.weight) : signed(value(one)));
      row.dataset.test = "case-vote";
      row.dataset.weight = one.weight;
      return row;
    };
    const parts = [make("h3", shares ? "Who voted, and with what weight" : "Who voted, and what each adds")];
    if (shares) {
      const by = study.order.map((k) => [k, sum(lines.filter((one) => one.k === k).map((one) => one.weight))]).filter(([, w]) => w > 0);
      const stated = two && Math.abs((by.find(([k]) => k === study.positive) || [0, 0])[1] - answer.probabilities[study.positive]) < 1e-9;
      parts.push(told(by.map(([k, w], i) => `${i ? ", " : ""}${percent(w)}${i ? "" : " of the weight"} ${i ? "" : "says "}${study.classes[k]}`).join("") + "." + (stated ? " That share is the stated probability." : ""), "note"));
    }
    parts.push(list(lines.slice(0, 7).map(li)));
    if (lines.length > 7) {
      const more = make("details");
      more.append(make("summary", `${lines.length - 7} lighter ballots`), list(lines.slice(7).map(li)));
      parts.push(more);
    }
    const kept = box.querySelector("details[open]");
    box.replaceChildren(...parts);
    if (kept && box.querySelector("details")) box.querySelector("details").open = true;
  };

  return { classOf, compared, merged, nearest, show, test };
})();
