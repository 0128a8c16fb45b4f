// Training cases that vote, and weights by distance.

function likeWords(row, columns, x, theirs, near, words) {
  const known = typeof row === "number" ? row >= 0 : row !== "";
  const named = !known ? "a training case" : typeof row === "number" ? `row ${row}` : row;
  if (!columns.length) return `like ${named}, by no column: the same weight everywhere`;
  const similar =
    near === undefined ? "" : ` (similarity ${near < 0.001 ? "< 0.001" : near.toFixed(3)})`;
  const values = columns.map(
    (j, i) => `${words.name(j)} = ${words.value(j, x[j])} (there ${words.value(j, theirs[i])})`,
  );
  return `like ${named}${similar}: ${listed(values)}`;
}

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
      return likeWords(
        rows[t],
        columns,
        x,
        read.map((i) => this.cases[t][i]),
        near?.[t],
        words,
      );
    });
  }
};

// the squared distances of a case from points
class Distance {
  constructor(part) {
    this.part = part;
    this.points = filled(part.points);
  }
  squares(x) {
    const { batches, centre, inverse, farthest, metric } = this.part;
    const { columns, inverse_bandwidth: sharp, batch } = batches;
    const z = columns.map((j, i) => (x[j] - centre[i]) * inverse[i]);
    if (z.some((a, i) => Math.abs(a) * sharp[0]?.[i] > farthest)) {
      throw new Error("a row is too far from the training cases for distances");
    }
    if (metric === "euclidean")
      return this.points.map((point, i) => this.square(z, point, batch[i]));
    if (z.some(Number.isNaN)) throw new Error("distances need every value: give the missing one");
    const row = times(z, sharp[0]);
    return this.points.map((point) => METRICS[metric](row, times(point, sharp[0])) ** 2);
  }
  square(z, point, b) {
    if (b < 0) return 0;
    const { batches, gaps, is_category: category, absent } = this.part;
    let [sum, known] = [0, 0];
    batches.inverse_bandwidth[b].forEach((v, j) => {
      const gap = z[j] - point[j];
      if (Number.isNaN(gap)) {
        if (gaps.length && v > 0) sum += gaps[b][j];
        return;
      }
      known++;
      sum += ((category[j] ? Number(gap !== 0) : gap) * v) ** 2;
    });
    if (gaps.length || known === z.length) return sum;
    return known ? sum * (z.length / known) : absent * absent;
  }
}

const times = (x, by) => x.map((v, i) => v * by[i]);

// [exp(logs - greatest), the greatest (0 if it is infinite)]
function ofGreatest(logs) {
  const top = logs.reduce((a, b) => (b > a ? b : a), -Infinity);
  if (top === Infinity) return [logs.map((log) => Number(log === top)), 0];
  const scale = top === -Infinity ? 0 : top;
  return [logs.map((log) => Math.exp(log - scale)), scale];
}

// [similarities × mass of points at squared distances u, log scale]
const PROFILES = {
  "inverse power"({ a, b, scale, per_query: perQuery }, u, mass) {
    const apart = u.map(Math.sqrt);
    const sum = perQuery ? total(times(apart, mass)) : 0;
    const unit = sum > 0 ? sum : scale;
    const floor = b * Math.log(a);
    const [near, log] = ofGreatest(
      apart.map((d) => {
        const power = b * (Math.log(d) - Math.log(unit));
        const [top, low] = [Math.max(floor, power), Math.min(floor, power)];
        return -(top + (low === -Infinity ? 0 : Math.log1p(Math.exp(low - top))));
      }),
    );
    return [times(near, mass), log];
  },
  "gaussian profile"(_, u, mass) {
    const [near, log] = ofGreatest(u.map((one) => -0.5 * one));
    return [times(near, mass), log];
  },
  "k nearest"({ k, by_distance: byDistance, needed }, u, mass) {
    const apart = u.map(Math.sqrt);
    const raw = zeros(u.length);
    const near = [];
    let left = k;
    for (const i of orderBy(u.length, (i) => apart[i])) {
      if (left <= k * 1e-12 || apart[i] === Infinity) break;
      near.push([i, Math.min(left, mass[i])]);
      left -= mass[i];
    }
    if (!near.length && needed) throw new Error("no training case is a neighbour of this row");
    const same = near.some(([i]) => apart[i] === 0);
    for (const [i, counted] of near) {
      const weight = same ? Number(apart[i] === 0) : 1 / apart[i];
      raw[i] = (byDistance ? weight : 1) * counted;
    }
    return [raw, 0];
  },
};

WEIGHTS["distance weights"] = class {
  constructor({ distance, profile, mass, table }) {
    Object.assign(this, { distance: new Distance(distance), profile, mass });
    this.voter = table.voter;
    this.readsAll = table.voter ? [] : distance.batches.columns;
    this.table =
      table.degrees ??
      table.right?.map((bits) =>
        range(table.voters).map((t) =>
          (bits[t >> 3] >> (7 - (t & 7))) & 1 ? table.high : table.low,
        ),
      );
  }
  weights(x) {
    const { profile, mass } = this;
    const [near, log] = PROFILES[profile.kind](profile, this.distance.squares(x), mass);
    return [this.summed(near), log];
  }
  summed(near) {
    if (this.voter) return this.voter.map((i) => near[i]);
    return near.reduce((out, one, i) => mix(out, one, this.table[i]), zeros(this.table[0].length));
  }
  similarities(x) {
    if (this.profile.kind !== "gaussian profile") return undefined;
    return this.summed(this.distance.squares(x).map((u) => Math.exp(-0.5 * u)));
  }
};

// ---------------------------------------------------------------------- distances by name
const pairSum = (x, z, term) => x.reduce((sum, a, i) => sum + term(a, z[i]), 0);
const ratio = (over, under) => (under ? over / under : over ? Infinity : 0);

function cosine(x, z) {
  const size =
    Math.sqrt(pairSum(x, x, (a, b) => a * b)) * Math.sqrt(pairSum(z, z, (a, b) => a * b));
  return size ? 1 - pairSum(x, z, (a, b) => a * b) / size : NaN;
}

const centred = (x) => x.map((v) => v - total(x) / x.length);
const METRICS = {
  manhattan: (x, z) => pairSum(x, z, (a, b) => Math.abs(a - b)),
  chebyshev: (x, z) => Math.max(0, ...x.map((a, i) => Math.abs(a - z[i]))),
  cosine,
  correlation: (x, z) => cosine(centred(x), centred(z)),
  braycurtis: (x, z) =>
    ratio(
      pairSum(x, z, (a, b) => Math.abs(a - b)),
      pairSum(x, z, (a, b) => Math.abs(a + b)),
    ),
  canberra: (x, z) =>
    pairSum(x, z, (a, b) => (a || b ? Math.abs(a - b) / (Math.abs(a) + Math.abs(b)) : 0)),
  hamming: (x, z) => pairSum(x, z, (a, b) => Number(a !== b)) / Math.max(x.length, 1),
  jaccard: (x, z) => {
    const some = pairSum(x, z, (a, b) => (a || b ? 1 : 0));
    return some ? pairSum(x, z, (a, b) => ((a || b) && a !== b ? 1 : 0)) / some : 0;
  },
};
