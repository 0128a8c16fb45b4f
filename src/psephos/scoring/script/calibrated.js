// Calibration maps of probabilities.

const LEAST_CHANCE = 1e-12;
const moved = (p, least, most) =>
  Math.min(Math.max(least + (1 - 2 * least) * p, LEAST_CHANCE), most);
const logOdds = (p, least) => {
  const kept = moved(p, least, 1 - LEAST_CHANCE);
  return Math.log(kept / (1 - kept));
};

function toOne(chances, apart) {
  if (apart) return chances;
  const sum = total(chances);
  return chances.map((p) => (sum > 0 ? p / sum : 1 / chances.length));
}

CALIBRATIONS["sigmoid calibration"] = class extends Part {
  chances(chances, apart) {
    const { slope, offset, least = 0 } = this.part;
    return toOne(
      chances.map((p, k) => expit(slope[k] * logOdds(p, least) + offset[k])),
      apart,
    );
  }
};

CALIBRATIONS["temperature calibration"] = class extends Part {
  chances(chances, apart) {
    const { t, least = 0 } = this.part;
    if (apart) return chances.map((p) => expit(logOdds(p, least) / t));
    return expShares(chances.map((p) => Math.log(moved(p, least, 1)) / t));
  }
};

CALIBRATIONS["isotonic calibration"] = class extends Part {
  chances(chances, apart) {
    const { given, told: values } = this.part;
    return toOne(
      chances.map((p, k) => interpolated(p, given[k], values[k])),
      apart,
    );
  }
};

// round half to even
function rounded(value) {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 ? floor + 1 : floor;
}

CALIBRATIONS["table of posteriors"] = class extends Part {
  chances(chances, apart, hasWeight) {
    const { posterior, prior } = this.part;
    if (!hasWeight && prior.length) return toOne(prior, apart);
    return toOne(
      posterior.map((row, k) => {
        const most = row.length - 1;
        return row[Math.min(Math.max(rounded(chances[k] * most), 0), most)];
      }),
      apart,
    );
  }
};

CALIBRATIONS["class votes"] = class {
  constructor(part) {
    this.weight = part.weight;
    this.of = part.of ? readPart(CALIBRATIONS, part.of) : null;
  }
  chances(chances, apart, hasWeight) {
    const given = this.of ? this.of.chances(chances, apart, hasWeight) : chances;
    const weighed = given.map((p, k) => p * this.weight[k]);
    return toOne(weighed.some(Boolean) ? weighed : this.weight.map((w) => Number(w > 0)), apart);
  }
};
