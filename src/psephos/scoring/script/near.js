// Training cases: those that vote, and weights by how near they are.

const NEAREST_NAMED = 6;

function likeWords(row, columns, x, theirs, near, words) {
  const known = typeof row === "number" ? row >= 0 : row !== "";
  const named = !known ? "a training case" : typeof row === "number" ? `row ${row}` : row;
  if (!columns.length) return `like ${named}, by no column: the same weight everywhere`;
  const similar = near === undefined ? ""
    : ` (similarity ${near < 0.001 ? "< 0.001" : near.toFixed(3)})`;
  const values = columns.slice(0, NEAREST_NAMED).map((j, i) =>
    `${words.name(j)} = ${words.value(j, x[j])} (there ${words.value(j, theirs[i])})`);
  const more = columns.length - values.length;
  return `like ${named}${similar}: ${values.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

VOTERS["training cases"] = class {
  constructor(part) {
    this.part = part;
    this.cases = filled(part.cases);
    this.reads = part.rows.map(() => part.columns);
  }
  votes() {
    return this.part.values;
  }
  reasons(x, words) {
    const { rows, columns } = this.part;
    return rows.map((row, t) => likeWords(row, columns, x, this.cases[t], undefined, words));
  }
};

VOTERS["prototype voters"] = class {
  constructor(part) {
    this.part = part;
    this.cases = filled(part.cases);
    const { columns, inverse_bandwidth: sharp, batch } = part.batches;
    this.sharpest = sharp.map((v) => orderBy(v.length, (i) => -v[i]).filter((i) => v[i] > 0));
    this.reads = batch.map((b) => (b < 0 ? [] : sorted(this.sharpest[b].map((i) => columns[i]))));
  }
  votes() {
    return this.part.values;
  }
  reasons(x, words, near) {
    const { batches, rows, name } = this.part;
    return batches.batch.map((b, t) => {
      if (b < 0) return name;
      const read = this.sharpest[b];
      const columns = read.map((i) => batches.columns[i]);
      return likeWords(rows[t], columns, x, read.map((i) => this.cases[t][i]), near?.[t], words);
    });
  }
};

class Distance {
  constructor(cases, part, scale, category, absent) {
    Object.assign(this, { cases: filled(cases), columns: part.columns, category, absent });
    this.inverse = scale.map((s) => 1 / s);
  }
  squares(x) {
    const q = this.columns.length;
    const row = this.columns.map((j) => x[j]);
    return this.cases.map((there) => {
      let [sum, both] = [0, 0];
      for (let i = 0; i < q; i++) {
        if (Number.isNaN(row[i]) || Number.isNaN(there[i])) continue;
        both++;
        let gap = (row[i] - there[i]) * this.inverse[i];
        if (this.category[i]) gap = row[i] === there[i] ? 0 : this.inverse[i];
        sum += gap * gap;
      }
      if (both === q) return sum;
      return both ? sum * (q / both) : this.absent * this.absent;
    });
  }
}

function logSum(a, b) {
  const [top, low] = [Math.max(a, b), Math.min(a, b)];
  return low === -Infinity ? top : top + Math.log1p(Math.exp(low - top));
}

class Similarity {
  constructor(part) {
    Object.assign(this, part.similarity);
    this.weight = part.anchor_weight;
    this.distance = new Distance(
      part.anchors, part, this.column_scale, this.is_category, this.absent);
  }
  // [similarity × weight of each anchor, log scale]
  relative(x) {
    let squares = this.distance.squares(x);
    const scale = this.per_query
      ? squares.reduce((sum, u, i) => sum + this.weight[i] * Math.sqrt(u), 0) : this.scale;
    const by = scale > 0 ? 1 / scale : 1;
    squares = squares.map((u) => u * by * by);
    const floor = this.a ** this.b;
    const sizes = squares.map((u) => floor + u ** (0.5 * this.b));
    const tame = sizes.every((size) => size > 1e-250 && size < 1e250);
    const [near, log] = tame ? [sizes.map((size) => 1 / size), 0] : this.far(squares);
    return [near.map((w, i) => w * this.weight[i]), log];
  }
  far(squares) {
    if (this.a === 0 && squares.includes(0)) return [squares.map((u) => (u === 0 ? 1 : 0)), 0];
    const floor = this.a > 0 ? this.b * Math.log(this.a) : -Infinity;
    const logs = squares.map((u) => -logSum(floor, u > 0 ? 0.5 * this.b * Math.log(u) : -Infinity));
    const top = Math.max(...logs);
    return [logs.map((log) => Math.exp(log - top)), top];
  }
}

WEIGHTS["local"] = class {
  constructor(part) {
    this.similarity = new Similarity(part);
    this.part = part;
    this.right = part.right.map((bits) =>
      range(part.voters).map((t) => (bits[t >> 3] >> (7 - (t & 7))) & 1));
  }
  weights(x) {
    const [near, log] = this.similarity.relative(x);
    const { low, high, voters } = this.part;
    const right = zeros(voters);
    near.forEach((weight, i) => this.right[i].forEach((r, t) => { if (r) right[t] += weight; }));
    const sum = total(near);
    return [right.map((one) => low * sum + (high - low) * one), log];
  }
};

WEIGHTS["local relevance"] = class {
  constructor(part) {
    this.similarity = new Similarity(part.local);
    this.relevance = part.relevance;
  }
  weights(x) {
    const [near, log] = this.similarity.relative(x);
    return [near.reduce((out, w, i) => mix(out, w, this.relevance[i]), zeros(this.relevance[0].length)), log];
  }
};

WEIGHTS["prototype kernels"] = class {
  constructor(part) {
    this.part = part;
    this.prototypes = filled(part.prototypes);
  }
  scaled(x) {
    const { batches, centre, inverse, n_levels: levels } = this.part;
    return batches.columns.map((j, i) => {
      const z = (x[j] - centre[i]) * inverse[i];
      const known = !levels[i] || (z >= 0 && z < levels[i] && Number.isInteger(z));
      return known ? z : NaN;
    });
  }
  gap(v, i) {
    const agree = this.part.agree[i];
    if (!this.part.n_levels[i]) return Math.log1p(2 * v * v);
    return -2 * Math.log(agree + (1 - agree) * Math.exp((-v * v) / 2));
  }
  logKernel(t, z) {
    const { batches, n_levels: levels } = this.part;
    if (batches.batch[t] < 0) return 0;
    let sum = 0;
    batches.inverse_bandwidth[batches.batch[t]].forEach((v, i) => {
      if (!(v > 0)) return;
      const apart = z[i] - this.prototypes[t][i];
      if (Number.isNaN(apart)) sum += this.gap(v, i);
      else sum += ((levels[i] ? Number(apart !== 0) : apart) * v) ** 2;
    });
    return -0.5 * sum;
  }
  weights(x) {
    const z = this.scaled(x);
    const logs = this.part.weight.map((w, t) => Math.log(w) + this.logKernel(t, z));
    const prior = this.part.batches.batch.some((b) => b < 0);
    const greatest = Math.max(...logs);
    const top = prior || greatest === -Infinity ? 0 : greatest;
    return [logs.map((log) => Math.exp(log - top)), top];
  }
  similarities(x) {
    const z = this.scaled(x);
    return this.part.weight.map((_, t) => Math.exp(this.logKernel(t, z)));
  }
};

WEIGHTS["neighbours"] = class {
  constructor(part) {
    this.part = part;
    this.distance = new Distance(
      part.cases, part, part.column_scale, part.is_category, part.absent);
    const { cases } = this.distance;
    this.mass = part.mass.length ? part.mass : cases.map(() => 1);
    const sizes = cases.flat().map((v, i) => Math.abs(v) / part.column_scale[i % part.columns.length]);
    const most = sizes.reduce((a, b) => (b > a ? b : a), 0);
    this.farthest = Math.max(1e100, most * 1e10);
  }
  distances(x) {
    const { columns, column_scale: scale, metric } = this.part;
    const z = columns.map((j, i) => x[j] / scale[i]);
    if (z.some((v) => Math.abs(v) > this.farthest)) {
      throw new Error("a row is too far from the training cases for distances");
    }
    if (metric === "euclidean") return this.distance.squares(x).map(Math.sqrt);
    if (z.some(Number.isNaN)) throw new Error("distances need every value: fill the gap");
    return this.distance.cases.map((one) => METRICS[metric](z, one.map((v, i) => v / scale[i])));
  }
  weights(x) {
    const { k, by_distance: byDistance, voter, needed } = this.part;
    const apart = this.distances(x);
    const raw = zeros(apart.length);
    const near = [];
    let left = k;
    for (const i of orderBy(apart.length, (i) => apart[i])) {
      if (left <= k * 1e-12 || apart[i] === Infinity) break;
      const counts = Math.min(left, this.mass[i]);
      near.push([i, counts]);
      left -= counts;
    }
    if (!near.length && needed) throw new Error("no training case is a neighbour of this row");
    const same = near.some(([i]) => apart[i] === 0);
    for (const [i, counts] of near) {
      const weight = same ? Number(apart[i] === 0) : 1 / apart[i];
      raw[i] = (byDistance ? weight : 1) * counts;
    }
    return [voter.map((i) => raw[i]), 0];
  }
};

// ---------------------------------------------------------------------- distances by name
const pairSum = (x, z, term) => x.reduce((sum, a, i) => sum + term(a, z[i]), 0);
const ratio = (over, under) => (under ? over / under : over ? Infinity : 0);

function cosine(x, z) {
  const size = Math.sqrt(pairSum(x, x, (a, b) => a * b)) * Math.sqrt(pairSum(z, z, (a, b) => a * b));
  return size ? 1 - pairSum(x, z, (a, b) => a * b) / size : NaN;
}

const centred = (x) => x.map((v) => v - total(x) / x.length);
const METRICS = {
  manhattan: (x, z) => pairSum(x, z, (a, b) => Math.abs(a - b)),
  chebyshev: (x, z) => Math.max(0, ...x.map((a, i) => Math.abs(a - z[i]))),
  cosine,
  correlation: (x, z) => cosine(centred(x), centred(z)),
  braycurtis: (x, z) =>
    ratio(pairSum(x, z, (a, b) => Math.abs(a - b)), pairSum(x, z, (a, b) => Math.abs(a + b))),
  canberra: (x, z) =>
    pairSum(x, z, (a, b) => (a || b ? Math.abs(a - b) / (Math.abs(a) + Math.abs(b)) : 0)),
  hamming: (x, z) => pairSum(x, z, (a, b) => Number(a !== b)) / Math.max(x.length, 1),
  jaccard: (x, z) => {
    const some = pairSum(x, z, (a, b) => (a || b ? 1 : 0));
    return some ? pairSum(x, z, (a, b) => ((a || b) && a !== b ? 1 : 0)) / some : 0;
  },
};
