// The operation "trees": constants, stumps, trees, forests, rules and hypotheses; the first rule.

// sum over k of p_k code_k; for SAMME's codes in a form that keeps equal shares equal
function spokenShare(shares, code) {
  const k = code.length;
  const samme =
    k > 2 &&
    code.every(
      (row, i) => row.length === k && row.every((v, j) => v === (i === j ? 1 : -1 / (k - 1))),
    );
  if (samme) {
    const sum = total(shares);
    return shares.map((share) => (k * share - sum) / (k - 1));
  }
  return shares.reduce((out, share, i) => mix(out, share, code[i]), zeros(code[0].length));
}

class Branches {
  constructor(rules, columns, strict, single) {
    this.column = rules.column.map((f) => (f >= 0 ? columns[f] : -1));
    this.codes = spans(rules.code_ptr).map(([a, b]) => rules.code_branch.slice(a, b));
    this.rules = rules;
    this.strict = strict;
    this.round = single ? Math.fround : (value) => value;
  }
  branch(r, x) {
    const value = x[this.column[r]];
    const codes = this.codes[r];
    if (Number.isNaN(value)) return -1;
    if (codes.length) return value >= 0 && value < codes.length ? codes[Math.trunc(value)] : -1;
    const threshold = this.rules.threshold[r];
    const read = this.round(value);
    const first = threshold !== null && (this.strict ? read < threshold : read <= threshold);
    return first !== Boolean(this.rules.flip[r]) ? 0 : 1;
  }
  relation(first) {
    return (this.strict ? ["<", ">="] : ["<=", ">"])[first ? 0 : 1];
  }
  test(r, branch, x) {
    const column = this.column[r];
    const codes = this.codes[r];
    if (codes.length) {
      return test(
        column,
        "in",
        range(codes.length).filter((c) => codes[c] === branch),
        x[column],
      );
    }
    const threshold = this.rules.threshold[r];
    if (!Number.isFinite(threshold)) return test(column, "present", null, x[column]);
    const first = (branch === 0) !== Boolean(this.rules.flip[r]);
    const one = test(column, this.relation(first), threshold, x[column]);
    const rounded = this.round(x[column]);
    return rounded === x[column] ? one : { ...one, rounded };
  }
  way(r, branch) {
    const codes = this.codes[r];
    if (codes.length) return ["in", range(codes.length).filter((c) => codes[c] === branch)];
    const first = (branch === 0) !== Boolean(this.rules.flip[r]);
    return [this.relation(first), this.rules.threshold[r]];
  }
  absent(r, x) {
    const column = this.column[r];
    if (Number.isNaN(x[column])) return test(column, "missing", null, NaN);
    const known = range(this.codes[r].length).filter((c) => this.codes[r][c] >= 0);
    return test(column, "not in", known, x[column]);
  }
}

function firstShare(x, lower, threshold, upper) {
  if (x <= threshold) {
    if (x <= lower) return 1;
    const width = 0.5 * threshold - 0.5 * lower;
    return width > 0 ? 1 - 0.5 * ((0.5 * x - 0.5 * lower) / width) : 0.5;
  }
  if (x >= upper) return 0;
  const width = 0.5 * upper - 0.5 * threshold;
  return width > 0 ? 0.5 * ((0.5 * upper - 0.5 * x) / width) : 0.5;
}

VOTERS["trees"] = class {
  constructor(part) {
    const { nodes, columns, root } = part;
    this.part = part;
    this.nodes = nodes;
    this.root = root;
    this.row = part.row.length ? part.row : range(nodes.child.length);
    this.grouped = part.group.length > 0;
    this.group = spans(this.grouped ? part.group : range(root.length + 1));
    const voted = this.grouped ? part.value : part.value.map((v) => this.voteOf(v));
    this.value = this.row.map((r) => voted[Math.max(r, 0)]);
    this.rules = new Branches(nodes, columns, nodes.strict, nodes.single);
    this.surrogates = new Branches(nodes.surrogates, columns, nodes.strict, nodes.single);
    const { ptr } = nodes.surrogates;
    const first = [...root, nodes.child.length];
    this.reads = this.group.map(([start, end]) =>
      sorted(
        [
          ...this.rules.column.slice(first[start], first[end]),
          ...this.surrogates.column.slice(ptr[first[start]], ptr[first[end]]),
        ].filter((j) => j >= 0),
      ),
    );
    const every = sorted(this.reads.flat());
    if (part.each === "rule") this.reads = this.reads.map((own) => (own.length ? own : every));
    this.alike = spans(first).map(([start, end], t) => this.always(t, start, end));
  }
  voteOf(value) {
    const { says, code } = this.part;
    if (says === "value") return value;
    return says === "answer" ? code[best(value)] : spokenShare(value, code);
  }
  // the reason of a tree that votes the same on every case; "" if it does not
  always(t, start, end) {
    const { each, name, abstains } = this.part;
    const { n_children: number, missing } = this.nodes;
    if (end - start === 1) {
      if (each === "constant") return name;
      if (each === "rule") return "default rule";
      if (each !== "hypothesis") return "a tree of one leaf";
      return this.row[start] === 1
        ? "the empty hypothesis, which holds for no case"
        : "no test: it holds for every case";
    }
    const ends = range(end - start)
      .map((i) => start + i)
      .filter((n) => !number[n] || missing[n] < 0)
      .map((n) => this.value[n]);
    const same = ends.every((vote) => vote.every((v, k) => v === ends[0][k]));
    return same && !abstains ? "always" : "";
  }
  // [branch, share of the case, test] for every branch that a case takes
  steps(node, x) {
    const { nodes, rules, surrogates } = this;
    if (nodes.lower && !rules.codes[node].length) {
      const value = x[rules.column[node]];
      const [low, up] = [nodes.lower[node], nodes.upper[node]];
      const threshold = nodes.threshold[node];
      if (value > low && (value < up || value <= threshold) && low < up) {
        const below = firstShare(value, low, threshold, up);
        const one = test(rules.column[node], "within", [low, up], value);
        return [
          [0, below, one],
          [1, 1 - below, one],
        ];
      }
    }
    const own = rules.branch(node, x);
    if (own >= 0) return [[own, 1, rules.test(node, own, x)]];
    const ptr = nodes.surrogates.ptr;
    for (let r = ptr[node]; r < ptr[node + 1]; r++) {
      const other = surrogates.branch(r, x);
      if (other >= 0) {
        return [[other, 1, { ...surrogates.test(r, other, x), instead: rules.column[node] }]];
      }
    }
    const one = rules.absent(node, x);
    const way = nodes.missing[node];
    if (way >= 0) return [[way, 1, one]];
    if (way !== -1) return [];
    const first = nodes.child[node];
    const shares = nodes.share
      .slice(first, first + nodes.n_children[node])
      .map((s) => Math.max(s, 0));
    const sum = total(shares);
    return shares
      .map((share, b) => [b, share / sum, { ...one, sent: rules.way(node, b) }])
      .filter(([b]) => shares[b] > 0);
  }
  ends(t, x) {
    const found = [];
    const todo = [[this.root[t], 1, []]];
    while (todo.length) {
      const [node, part, way] = todo.pop();
      const inner = this.nodes.n_children[node] > 0;
      const steps = inner ? this.steps(node, x) : [];
      if (!steps.length) {
        found.push([node, part, inner ? [...way, this.rules.absent(node, x)] : way]);
        continue;
      }
      for (const [b, share, one] of steps.reverse()) {
        todo.push([this.nodes.child[node] + b, part * share, [...way, one]]);
      }
    }
    return found;
  }
  voted(t, x) {
    const { nodes, rules } = this;
    let [node, way] = [this.root[t], nodes.lower ? -1 : 0]; // the case's branch, if there is one
    while (way >= 0 && nodes.n_children[node]) {
      way = rules.branch(node, x);
      node = nodes.child[node] + way;
    }
    if (way >= 0) return this.value[node];
    const ends = this.ends(t, x);
    if (ends.length === 1) return this.value[ends[0][0]];
    return ends.reduce(
      (out, [node, part]) => mix(out, part, this.value[node]),
      zeros(this.value[0].length),
    );
  }
  // thresholds of a column, on all paths that the case can take by its value there
  cuts(x, j) {
    const { nodes, rules, surrogates } = this;
    const [found, todo] = [[], [...this.root]];
    while (todo.length) {
      const node = todo.pop();
      const number = nodes.n_children[node];
      if (!number) continue;
      const own = rules.column[node] === j;
      const way = own ? -1 : rules.branch(node, x);
      const { ptr } = nodes.surrogates;
      if (own) found.push(rules.rules.threshold[node]);
      if (own && nodes.lower) found.push(nodes.lower[node], nodes.upper[node], NaN);
      range(ptr[node + 1] - ptr[node])
        .map((r) => ptr[node] + r)
        .filter((r) => way < 0 && surrogates.column[r] === j)
        .forEach((r) => found.push(surrogates.rules.threshold[r]));
      const ways = way < 0 ? range(number) : [way];
      todo.push(...ways.map((b) => nodes.child[node] + b));
    }
    return found;
  }
  last(t) {
    let node = this.root[t];
    while (this.nodes.n_children[node]) node = this.nodes.child[node];
    return node;
  }
  holds(t, x) {
    return this.ends(t, x)[0][0] === this.last(t);
  }
  gaps(t, x) {
    return this.part.abstains ? gapsOf(this.reads[t], x) : [];
  }
  votes(x) {
    return this.group.map(([start, end], t) => {
      if (this.gaps(t, x).length) return zeros((this.part.code ?? this.value)[0].length);
      if (!this.grouped) return this.voted(start, x);
      let sum = zeros(this.value[0].length);
      for (let tree = start; tree < end; tree++) sum = mix(sum, 1, this.voted(tree, x));
      return this.voteOf(sum.map((one) => one / (end - start)));
    });
  }
  reasons(x, words) {
    return this.group.map((_, t) => this.reason(t, x, words));
  }
  reason(t, x, words) {
    const [start, end] = this.group[t];
    const gaps = this.gaps(t, x);
    if (gaps.length) return missingWords(gaps, words);
    if (this.grouped) {
      return `${end - start} tree${end - start === 1 ? "" : "s"} on ${words.cells(x, this.reads[t])}`;
    }
    if (this.alike[start]) return this.alike[start];
    const ends = this.ends(start, x);
    const chain = this.part.each === "rule" || this.part.each === "hypothesis";
    if (chain && ends[0][0] !== this.last(start)) {
      const voted = sentence([this.failing(start, ends[0][0], x)], words);
      return this.part.each === "rule" ? `rule ${t + 1} does not apply (${voted})` : voted;
    }
    if (ends.length === 1) return pathWords(ends[0][2], words);
    const order = [...ends].sort((a, b) => b[1] - a[1]);
    const parts = order.slice(0, 6).map(([node, part, tests]) => {
      const voted = words.say ? ` → ${words.say(this.value[node])}` : "";
      return `${percent(part)}: ${pathWords(tests, words)}${voted}`;
    });
    const more = order.length - parts.length;
    return parts.join("; ") + (more > 0 ? `; and ${more} smaller parts` : "");
  }
  // the test of a rule that fails, as the opposite, which holds
  failing(t, end, x) {
    let node = this.root[t];
    while (this.nodes.child[node] + 1 !== end) node = this.nodes.child[node];
    if (Number.isNaN(x[this.rules.column[node]])) return this.rules.absent(node, x);
    const one = this.rules.test(node, 0, x);
    return { ...one, relation: OPPOSITE[one.relation] };
  }
};

WEIGHTS["first match"] = class {
  constructor(part) {
    this.rules = new VOTERS["trees"](part.rules);
    this.order = orderBy(part.rank.length, (t) => part.rank[t]);
    this.leaves = part.leaves;
  }
  cuts(x, j) {
    return this.rules.cuts(x, j);
  }
  // the reasons of the models in leaves, after the tests that lead to the leaf
  because(x, reasons, words) {
    if (!this.leaves) return reasons;
    return reasons.map((reason, t) => {
      const [[end, , tests]] = this.rules.ends(t, x);
      if (end !== this.rules.last(t)) {
        return `another leaf (${sentence([this.rules.failing(t, end, x)], words)})`;
      }
      return `in this leaf (${pathWords(tests, words)}): ${reason}`;
    });
  }
  weights(x) {
    const first = this.order.find((t) => this.rules.holds(t, x));
    return [this.order.map((_, t) => (t === first ? 1 : 0)), 0];
  }
};
