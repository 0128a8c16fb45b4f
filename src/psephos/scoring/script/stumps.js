// Constants, stumps, rules and hypotheses.

VOTERS["constant voters"] = class {
  constructor(part) {
    this.values = part.values;
    this.name = part.name;
    this.reads = part.values.map(() => []);
  }
  votes() {
    return this.values;
  }
  reasons() {
    return this.values.map(() => this.name);
  }
};

VOTERS["stump voters"] = class {
  constructor(part) {
    this.column = part.feature.map((f) => part.columns[f]);
    this.codes = spans(part.category_ptr).map(([a, b]) => part.category_left.slice(a, b));
    this.part = part;
    this.reads = this.column.map((j) => [j]);
  }
  holds(t, x) {
    const value = x[this.column[t]];
    const codes = this.codes[t];
    if (Number.isNaN(value)) return Boolean(this.part.missing_left[t]);
    if (!codes.length) return value <= this.part.threshold[t];
    const known = value >= 0 && value < codes.length;
    return Boolean(known ? codes[Math.trunc(value)] : this.part.missing_left[t]);
  }
  votes(x) {
    return this.column.map((_, t) => (this.holds(t, x) ? this.part.left : this.part.right)[t]);
  }
  reasons(x, words) {
    return this.column.map((_, t) => sentence([this.test(t, x)], words));
  }
  test(t, x) {
    const [column, codes, met] = [this.column[t], this.codes[t], this.holds(t, x)];
    const value = x[column];
    const threshold = this.part.threshold[t];
    if (Number.isNaN(value)) return test(column, "missing", null, value);
    if (codes.length && !(value >= 0 && value < codes.length)) {
      return test(column, "not in", range(codes.length), value);
    }
    if (codes.length) {
      const side = range(codes.length).filter((c) => codes[c]);
      return test(column, met ? "in" : "not in", side, value);
    }
    if (threshold === Infinity) return test(column, "present", null, value);
    return test(column, met ? "<=" : ">", threshold, value);
  }
};

// the first test that does not hold, as what holds instead; all tests where all hold
function failing(tests, words) {
  for (const one of tests) {
    if (Number.isNaN(one.value)) return sentence([test(one.column, "missing", null, NaN)], words);
    if (!holds(one)) return sentence([{ ...one, relation: OPPOSITE[one.relation] }], words);
  }
  return pathWords(tests, words);
}

VOTERS["rule voters"] = class {
  constructor(part) {
    const ops = ["<=", ">", "in"];
    const tests = part.feature.map((f, c) => ({
      column: part.columns[f],
      relation: ops[part.op[c]],
      bound: part.op[c] === 2 ? [part.bound[c]] : part.bound[c],
    }));
    this.value = part.value;
    this.tests = spans(part.ptr).map(([a, b]) =>
      tests.slice(a, b).sort((one, other) => one.column - other.column));
    const every = sorted(tests.map((one) => one.column));
    this.reads = this.tests.map((own) => (own.length ? sorted(own.map((o) => o.column)) : every));
  }
  holds(t, x) {
    return this.tests[t].every((one) => holds({ ...one, value: x[one.column] }));
  }
  votes(x) {
    return this.value.map((vote, t) => (this.holds(t, x) ? vote : zeros(vote.length)));
  }
  reasons(x, words) {
    return this.tests.map((own) => {
      if (!own.length) return "no test: what the other rules leave";
      return failing(own.map((one) => ({ ...one, value: x[one.column] })), words);
    });
  }
};

WEIGHTS["first match"] = class {
  constructor(part) {
    this.rules = new VOTERS["rule voters"](part.rules);
    this.order = orderBy(part.rank.length, (t) => part.rank[t]);
  }
  weights(x) {
    const first = this.order.find((t) => this.rules.holds(t, x));
    return [this.order.map((_, t) => (t === first ? 1 : 0)), 0];
  }
};

VOTERS["hypotheses"] = class {
  constructor(part) {
    this.part = part;
    const { columns } = part.space;
    this.reads = part.low.map((row, t) =>
      part.empty[t] ? [] : columns.filter((_, i) => row[i] >= 0));
    if (!part.low.length) this.reads = part.empty.map(() => []);
  }
  tests(t, x) {
    const { space, low, high } = this.part;
    const found = [];
    space.columns.forEach((j, i) => {
      const [a, b] = [low[t][i], high[t][i]];
      if (a < 0) return;
      if (space.is_category[i]) found.push(test(j, "in", [a], x[j]));
      else {
        if (a > 0) found.push(test(j, ">", space.cuts[i][a - 1], x[j]));
        if (b < space.size[i] - 1) found.push(test(j, "<=", space.cuts[i][b], x[j]));
      }
    });
    return found;
  }
  held(t, x) {
    return !this.part.empty[t] && this.tests(t, x).every(holds);
  }
  votes(x) {
    return this.part.empty.map((_, t) => (this.held(t, x) ? this.part.yes : this.part.no));
  }
  reasons(x, words) {
    return this.part.empty.map((empty, t) => {
      if (empty) return "the empty hypothesis, which holds for no case";
      const tests = this.tests(t, x);
      return tests.length ? failing(tests, words) : "no test: it holds for every case";
    });
  }
};
