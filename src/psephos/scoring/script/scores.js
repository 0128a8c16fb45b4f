// Voters that score: scores, support vector machines, soft trees.

class Scoring extends Part {
  constructor(part) {
    super(part);
    this.code = part.value;
    this.says = part.says;
    this.model = part.called;
    this.spans = spans(part.ptr);
    this.reads = this.spans.map(([a, b]) => part.position.slice(a, b).map((i) => part.columns[i]));
    this.starts = [0];
  }
  cast(scores) {
    if (this.says === "answer") return this.code[best(scores)];
    return expShares(scores).reduce(
      (out, share, k) => mix(out, share, this.code[k]),
      zeros(this.code[0].length),
    );
  }
  gaps(t, x) {
    const gaps = gapsOf(this.reads[t], x);
    if (this.part.fill) return [];
    if (gaps.length && !this.part.abstains) {
      throw new Error(`${this.kind} need every value: give the missing one`);
    }
    return gaps;
  }
  votes(x) {
    const none = zeros(this.says === "value" ? 1 : this.code[0].length);
    return this.reads.map((_, t) => (this.gaps(t, x).length ? none : this.cast(this.scores(t, x))));
  }
  reasons(x, words) {
    return this.reads.map((_, t) => {
      const gaps = this.gaps(t, x);
      return gaps.length ? missingWords(gaps, words) : this.reason(t, x, words);
    });
  }
  reason(t, x, words) {
    return `${words.cells(x, this.reads[t])}: ${this.model}${this.sums(this.shown(t, x), words)}`;
  }
  shown(t, x) {
    return this.scores(t, x);
  }
  sums(scores, words) {
    let scale = Math.max(0, ...scores.map(Math.abs));
    if (this.says === "probability") scale = Math.max(scale, 1);
    if (scores.length === 1) return ` (score ${inWords(scores[0], scale)})`;
    const order = orderBy(scores.length, (k) => -scores[k]).slice(0, 3);
    const label = words.classes?.length === scores.length ? words.classes : null;
    const named = order.map(
      (k) => `${label ? label[k] : `class ${k + 1}`} ${inWords(scores[k], scale)}`,
    );
    return ` (score of ${named.join(", ")})`;
  }
}

VOTERS["scores"] = class extends Scoring {
  constructor(part) {
    super(part);
    this.kind = `voters by ${part.called}`;
    this.spans.forEach(([a, b]) => this.starts.push(this.starts.at(-1) + (b - a) ** 2));
  }
  // the contribution of each column to the scores of a voter
  added(t, x) {
    const { coef, centre, variance } = this.part;
    return this.reads[t].map((j, i) => {
      const at = this.spans[t][0] + i;
      if (coef) return coef.map((row) => row[at] * this.entered(at, x[j]));
      return centre.map((row, k) => {
        const spread = variance[k][at];
        const gap = x[j] - row[at];
        return -0.5 * ((gap * gap) / spread + Math.log(2 * Math.PI * spread));
      });
    });
  }
  entered(at, value) {
    return Number.isNaN(value) && this.part.fill ? this.part.fill[at] : value;
  }
  scores(t, x) {
    const constant = this.part.constant[t];
    if (this.part.whitening) return constant.map((c, k) => this.quadratic(t, x, k) + c);
    const sums = this.added(t, x).reduce((all, one) => mix(all, 1, one), zeros(constant.length));
    return sums.map((sum, k) => sum + constant[k]);
  }
  quadratic(t, x, k) {
    const [[a, b], start, { centre, whitening }] = [this.spans[t], this.starts[t], this.part];
    const gap = this.reads[t].map((j, i) => x[j] - centre[k][a + i]);
    let score = 0;
    for (let i = 0; i < b - a; i++) {
      let length = 0;
      for (let j = 0; j <= i; j++) length += whitening[k][start + i * (b - a) + j] * gap[j];
      score -= 0.5 * length * length;
    }
    return score;
  }
  cast(scores) {
    const { slope } = this.part;
    if (this.says === "value") return scores;
    if (this.says === "answer" && scores.length === 1) return this.code[scores[0] > 0 ? 1 : 0];
    const odds = this.says === "answer" ? scores : scores.map((z) => Math.max(slope * z, -1e300));
    return super.cast(scores.length === 1 ? [0, ...odds] : odds);
  }
  reason(t, x, words) {
    const [read, scores] = [this.reads[t], this.scores(t, x)];
    if (!read.length) return `${this.model} that reads no column${this.sums(scores, words)}`;
    if (this.part.whitening) return super.reason(t, x, words);
    const added = this.added(t, x);
    const base = scores.length === 1 ? [0] : [];
    const spread = added.map((one) => Math.max(...base, ...one) - Math.min(...base, ...one));
    const order = orderBy(read.length, (i) => -spread[i]);
    const ordered = order.map((i) => read[i]);
    if (scores.length > 1)
      return `${words.cells(x, ordered)}: ${this.model}${this.sums(scores, words)}`;
    return this.line(t, x, words, order, added.flat(), scores[0]);
  }
  // 0.5 × 42 (age) - 1.2 × 3 (dose) + 0.3 = 17.7 > 0
  line(t, x, words, order, added, sum) {
    const [read, coef] = [this.reads[t], this.part.coef[0].slice(this.spans[t][0])];
    const constant = this.part.constant[t][0];
    const scale = Math.max(...added.map(Math.abs), Math.abs(constant));
    const digits = sumDigits(10 * scale, sum);
    const parts = order.slice(0, 6).map((i, place) => {
      const sign = coef[i] < 0 ? "- " : place ? "+ " : "";
      const value = this.entered(this.spans[t][0] + i, x[read[i]]);
      const entered = words.entered ? words.entered(read[i], value) : value;
      const gap = Number.isNaN(x[read[i]]) ? " missing" : "";
      const [by, into] = [Math.abs(coef[i]), inWords(entered, words.unit, digits)];
      return `${sign}${inWords(by, 0, digits)} × ${into} (${words.term(read[i]) ?? words.name(read[i]) + gap})`;
    });
    const more = order.slice(6);
    const signed = (value) => `${value < 0 ? "-" : "+"} ${inWords(Math.abs(value), scale, digits)}`;
    if (more.length)
      parts.push(`${signed(total(more.map((i) => added[i])))} (${more.length} more)`);
    if (inWords(constant, scale) !== "0") parts.push(signed(constant));
    const above = this.says === "value" ? "" : sum > 0 ? " > 0" : " <= 0";
    const second = words.classes?.length === 2 ? words.classes[1] : "the second class";
    const odds = this.says === "probability" && this.part.slope === 1;
    const unit = odds ? `log-odds of ${second}: ` : "";
    return `${unit}${parts.join(" ")} = ${inWords(sum, scale)}${above}`;
  }
};

VOTERS["kernel voters"] = class extends Scoring {
  kind = "support vector machines";
  constructor(part) {
    super(part);
    this.rows = spans(part.rows);
    this.spans.forEach(([a, b], t) => {
      this.starts.push(this.starts.at(-1) + (b - a) * (this.rows[t][1] - this.rows[t][0]));
    });
  }
  kernel(t, z, first) {
    const { support, kernel, gamma } = this.part;
    if (kernel === "linear") return z.reduce((sum, v, i) => sum + v * support[first + i], 0);
    const far = z.reduce((sum, v, i) => sum + (v - support[first + i]) ** 2, 0);
    return Math.exp(-gamma[t] * far);
  }
  margins(t, x) {
    const [part, [a, b], [first, last]] = [this.part, this.spans[t], this.rows[t]];
    const z = this.reads[t].map((j, i) => (x[j] - part.centre[a + i]) * part.inverse[a + i]);
    const kernels = range(last - first).map((i) => this.kernel(t, z, this.starts[t] + i * (b - a)));
    return part.dual.map(
      (dual, p) => total(kernels.map((k, i) => k * dual[first + i])) + part.intercept[t][p],
    );
  }
  scores(t, x) {
    const margins = this.margins(t, x);
    const k = this.code.length;
    if (k === 2) return [0, margins[0]];
    const [votes, sums] = [zeros(k), zeros(k)];
    let pair = 0;
    for (let a = 0; a < k; a++) {
      for (let b = a + 1; b < k; b++, pair++) {
        votes[margins[pair] > 0 ? b : a] += 1;
        sums[a] -= margins[pair];
        sums[b] += margins[pair];
      }
    }
    return votes.map((v, c) => v + sums[c] / (3 * (Math.abs(sums[c]) + 1)));
  }
  shown(t, x) {
    return this.code.length === 2 ? this.margins(t, x) : this.scores(t, x);
  }
};

VOTERS["soft trees"] = class {
  constructor(part) {
    this.part = part;
    this.absent = part.gaps.map((g) => part.columns[g]);
    this.reads = part.leaf.map((_, t) =>
      sorted([
        ...part.columns.filter((_, i) => part.coef[t].some((row) => row[i] !== 0)),
        ...this.absent.filter((_, i) => part.absent[t].some((row) => row[i] !== 0)),
      ]),
    );
  }
  linear(t, x) {
    const { part } = this;
    const z = part.columns.map((j, i) => {
      if (Number.isNaN(x[j])) return 0;
      return Math.min(Math.max((x[j] - part.centre[i]) / part.scale[i], -1e30), 1e30);
    });
    z.push(...this.absent.map((j) => (Number.isNaN(x[j]) ? 1 : 0)));
    return part.coef[t].map(
      (row, g) =>
        [...row, ...part.absent[t][g]].reduce((sum, by, i) => sum + by * z[i], 0) + part.bias[t][g],
    );
  }
  reach(linear) {
    const reach = [1];
    linear.forEach((z, g) => {
      const odds = Math.exp(-Math.abs(z));
      const left = (z >= 0 ? 1 : odds) / (1 + odds);
      reach[2 * g + 1] = reach[g] * left;
      reach[2 * g + 2] = reach[g] * (1 - left);
    });
    return reach;
  }
  votes(x) {
    return this.part.leaf.map((leaves, t) => {
      const ends = this.reach(this.linear(t, x)).slice(leaves.length - 1);
      return leaves[0].map((_, k) => ends.reduce((sum, r, end) => sum + r * leaves[end][k], 0));
    });
  }
  reasons(x, words) {
    return this.part.leaf.map((leaves, t) => {
      const linear = this.linear(t, x);
      const reach = this.reach(linear);
      const inner = linear.length;
      let node = inner + best(reach.slice(inner));
      const share = reach[node];
      const gates = [];
      while (node) {
        const left = node % 2 === 1;
        node = (node - 1) >> 1;
        const chance = expit((left ? 1 : -1) * linear[node]);
        gates.unshift(`gate ${node + 1} ${left ? "left" : "right"} ${percent(chance)}`);
      }
      const read = words.cells(x, this.reads[t]);
      return `the likeliest way (${percent(share)}): ${gates.join("; ")}; on ${read}`;
    });
  }
};
