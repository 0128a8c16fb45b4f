// Trees with two branches in flat arrays, with any number, and groups of trees that are forests.

// sum over k of p_k code_k; of SAMME's codes so that equal shares stay equal
function spokenShare(shares, code) {
  const k = code.length;
  const samme = k > 2 && code.every((row, i) =>
    row.length === k && row.every((v, j) => v === (i === j ? 1 : -1 / (k - 1))));
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
    const first = this.strict ? read < threshold : read <= threshold;
    return first !== Boolean(this.rules.flip[r]) ? 0 : 1;
  }
  relation(first) {
    return (this.strict ? ["<", ">="] : ["<=", ">"])[first ? 0 : 1];
  }
  test(r, branch, x) {
    const column = this.column[r];
    const codes = this.codes[r];
    if (codes.length) {
      return test(column, "in", range(codes.length).filter((c) => codes[c] === branch), x[column]);
    }
    const threshold = this.rules.threshold[r];
    if (!Number.isFinite(threshold)) return test(column, "present", null, x[column]);
    const first = (branch === 0) !== Boolean(this.rules.flip[r]);
    return test(column, this.relation(first), threshold, this.round(x[column]));
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

class Trees {
  constructor(nodes, columns, root, value, second) {
    this.nodes = nodes;
    this.root = root;
    this.value = value;
    this.second = second; // of binary trees; else children stand side by side
    this.rules = new Branches(nodes, columns, nodes.strict, nodes.single);
    this.surrogates = new Branches(nodes.surrogates, columns, nodes.strict, nodes.single);
    const ptr = nodes.surrogates.ptr;
    this.reads = spans([...root, nodes.child.length]).map(([a, b]) => sorted([
      ...this.rules.column.slice(a, b), ...this.surrogates.column.slice(ptr[a], ptr[b]),
    ].filter((j) => j >= 0)));
  }
  child(node, branch) {
    if (this.second) return (branch ? this.second : this.nodes.child)[node];
    return this.nodes.child[node] + branch;
  }
  // [branch, part of the case, test] of every branch that a case takes
  steps(node, x) {
    const { nodes, rules, surrogates } = this;
    if (nodes.lower && !rules.codes[node].length) {
      const value = x[rules.column[node]];
      const [low, up] = [nodes.lower[node], nodes.upper[node]];
      const threshold = nodes.threshold[node];
      if (value > low && (value < up || value <= threshold) && low < up) {
        const below = firstShare(value, low, threshold, up);
        const one = test(rules.column[node], "within", [low, up], value);
        return [[0, below, one], [1, 1 - below, one]];
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
    const shares = nodes.share.slice(first, first + nodes.n_children[node]).map((s) => Math.max(s, 0));
    const sum = total(shares);
    return shares.map((share, b) => [b, share / sum, { ...one, sent: rules.way(node, b) }])
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
        todo.push([this.child(node, b), part * share, [...way, one]]);
      }
    }
    return found;
  }
  vote(t, x) {
    const ends = this.ends(t, x);
    if (ends.length === 1) return this.value[ends[0][0]];
    return ends.reduce(
      (out, [node, part]) => mix(out, part, this.value[node]), zeros(this.value[0].length));
  }
  reason(t, x, words) {
    if (!this.nodes.n_children[this.root[t]]) return "a tree of one leaf";
    const ends = this.ends(t, x);
    if (ends.length === 1) return pathWords(ends[0][2], words);
    const order = [...ends].sort((a, b) => b[1] - a[1]);
    const parts = order.slice(0, 6).map(([node, part, tests]) => {
      const said = words.say ? ` → ${words.say(this.value[node])}` : "";
      return `${percent(part)}: ${pathWords(tests, words)}${said}`;
    });
    const more = order.length - parts.length;
    return parts.join("; ") + (more > 0 ? `; and ${more} smaller parts` : "");
  }
}

VOTERS["branching tree voters"] = class extends Trees {
  constructor(part) {
    const { value } = part.nodes;
    const said = part.code === null ? value : value.map((row) => spokenShare(row, part.code));
    super(part.nodes, part.columns, part.root, said);
  }
  votes(x) {
    return this.root.map((_, t) => this.vote(t, x));
  }
  reasons(x, words) {
    return this.root.map((_, t) => this.reason(t, x, words));
  }
};

// the nodes of binary trees written as those of branching ones
function asBranching(part) {
  const ptr = part.category_ptr;
  const inner = part.feature.map((f) => f >= 0);
  const codes = part.feature.map((_, i) =>
    ptr.length ? part.category_left.slice(ptr[i], ptr[i + 1]).map((c) => (c ? 0 : 1)) : []);
  const starts = [0];
  codes.forEach((own) => starts.push(starts.at(-1) + own.length));
  const none = { column: [], threshold: [], flip: [], code_ptr: [0], code_branch: [] };
  return {
    column: part.feature, threshold: part.threshold, flip: part.feature.map(() => 0),
    code_ptr: starts, code_branch: codes.flat(), child: part.first,
    n_children: inner.map((i) => (i ? 2 : 0)),
    missing: inner.map((i, n) => (part.abstains || !i ? -2 : 1 - part.missing_left[n])),
    share: [], strict: false, single: part.single,
    surrogates: { ...none, ptr: zeros(part.feature.length + 1) },
  };
}

VOTERS["tree voters"] = class extends Trees {
  constructor(part) {
    const { answer, value } = part;
    const said = answer.length ? answer.map((a) => value[Math.max(a, 0)]) : value;
    super(asBranching(part), part.columns, part.root, said, part.second);
    this.abstains = part.abstains;
  }
  gaps(t, x) {
    return this.abstains ? this.reads[t].filter((j) => Number.isNaN(x[j])) : [];
  }
  votes(x) {
    return this.root.map((_, t) =>
      this.gaps(t, x).length ? zeros(this.value[0].length) : this.vote(t, x));
  }
  reasons(x, words) {
    return this.root.map((_, t) => {
      const gaps = this.gaps(t, x);
      return gaps.length ? missingWords(gaps, words) : this.reason(t, x, words);
    });
  }
};

VOTERS["forest voters"] = class {
  constructor(part) {
    this.trees = new VOTERS["tree voters"](part.trees);
    this.part = part;
    this.group = spans(part.group);
    this.reads = this.group.map(([a, b]) => sorted(this.trees.reads.slice(a, b).flat()));
  }
  gaps(t, x) {
    return this.part.abstains ? this.reads[t].filter((j) => Number.isNaN(x[j])) : [];
  }
  votes(x) {
    const { says, value: code } = this.part;
    return this.group.map(([a, b], t) => {
      if (this.gaps(t, x).length) return zeros(says === "value" ? 1 : code[0].length);
      let sum = zeros(this.trees.value[0].length);
      for (let tree = a; tree < b; tree++) sum = mix(sum, 1, this.trees.vote(tree, x));
      const shares = sum.map((one) => one / (b - a));
      if (says === "value") return shares;
      return says === "answer" ? code[best(shares)] : spokenShare(shares, code);
    });
  }
  reasons(x, words) {
    return this.group.map(([a, b], t) => {
      const gaps = this.gaps(t, x);
      if (gaps.length) return missingWords(gaps, words);
      return `${b - a} tree${b - a === 1 ? "" : "s"} on ${words.cells(x, this.reads[t])}`;
    });
  }
};
