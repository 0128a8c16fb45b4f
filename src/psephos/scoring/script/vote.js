// A whole vote: voters, weights, readout and target, of one case.

const sharesOf = (weights) => {
  const sum = total(weights.map(Math.abs));
  return weights.map((w) => Math.abs(w) / (sum > 0 ? sum : 1));
};
const each = (shares, k) => shares.map((share) => new Array(k).fill(share));
const alone = (votes, voter) => [votes.map((v, t) => v.map(() => Number(t === voter))), votes];

// shares, for each output: `keep` of the cumulated shares of the sorted votes
function byOutput(votes, weights, keep) {
  const shares = sharesOf(weights);
  const out = votes.map((vote) => zeros(vote.length));
  votes[0].forEach((_, k) => {
    const order = orderBy(votes.length, (t) => votes[t][k]);
    let sum = 0;
    const ends = order.map((t) => (sum += shares[t]));
    keep(
      ends,
      order.map((t) => shares[t]),
    ).forEach((kept, i) => {
      out[order[i]][k] = kept;
    });
  });
  return [out, votes];
}

// [shares (T, K), the votes they multiply]
const CHOICES = {
  majority(votes, weights, x, vote) {
    const voting = weights.map((w, t) => (votes[t].some(Boolean) ? w : 0));
    return [each(sharesOf(voting), votes[0].length), votes.map((v) => vote.target.plainly(v))];
  },
  loudest: (votes, weights) => alone(votes, best(weights.map(Math.abs))),
  drawn(votes, weights, x, vote) {
    let sum = 0;
    const ends = sharesOf(weights).map((share) => (sum += share));
    const at = drawnBy(x, vote.readout.seed) * sum;
    return alone(votes, Math.min(ends.filter((end) => end <= at).length, votes.length - 1));
  },
  borda(votes, weights, x, vote) {
    const k = votes[0].length;
    if (k === 1) return CHOICES.majority(votes, weights, x, vote);
    const voting = weights.map((w, t) => (votes[t].some((v) => v !== votes[t][0]) ? w : 0));
    const terms = votes.map((row) =>
      row.map((one) => {
        const points =
          row.filter((o) => o < one).length + (row.filter((o) => o === one).length - 1) / 2;
        return (k * (points / ((k * (k - 1)) / 2)) - 1) / (k - 1);
      }),
    );
    return [each(sharesOf(voting), k), terms];
  },
  median: (votes, weights) =>
    byOutput(votes, weights, (ends) => {
      const low = ends.filter((end) => end < 0.5 - 1e-12).length;
      const high = Math.min(ends.filter((end) => end <= 0.5 + 1e-12).length, ends.length - 1);
      const out = zeros(ends.length);
      out[low] = 0.5;
      out[high] = low === high ? 1 : 0.5;
      return out;
    }),
  "trimmed mean": (votes, weights, x, vote) =>
    byOutput(votes, weights, (ends, shares) => {
      const { cut } = vote.readout;
      const inside = ends.map((end, i) =>
        Math.max(Math.min(end, 1 - cut) - Math.max(end - shares[i], cut), 0),
      );
      const sum = total(inside);
      return inside.map((one) => one / sum);
    }),
};

function cutsOf(voters, x, j) {
  if (voters.cuts) return voters.cuts(x, j);
  return voters.reads.some((own) => own.includes(j)) ? [NaN] : [];
}

class WholeVote {
  constructor(data) {
    this.data = data;
    this.voters = readPart(VOTERS, data.voters);
    this.weights = readPart(WEIGHTS, data.weighting);
    this.readout = data.readout;
    this.target = targetOf(data.target);
    const { calibration } = data.readout;
    this.calibration = calibration ? readPart(CALIBRATIONS, calibration) : null;
    const near = this.weights.readsAll ?? [];
    this.column_needs = [
      this.voters.reads.map((own) => sorted([...own, ...near])),
      needingAll(this.voters, this.weights),
    ];
  }
  // votes and shares (T, K), score (K) and mass of a case x: categories as codes, NaN where missing
  scored(x) {
    const votes = this.voters.votes(x);
    const [weights, log] = this.weights.ofVotes
      ? [this.weights.ofVotes(votes, this.target), 0]
      : this.weights.weights(x);
    const scale = log ? Math.exp(Math.min(log, 700)) : 1;
    const [shares, terms] = this.terms(votes, weights, scale, x);
    let mass = total(
      weights.map((w) => (Array.isArray(w) ? total(w.map(Math.abs)) / w.length : Math.abs(w))),
    );
    const plain = this.readout.score === "normalised" && !Array.isArray(weights[0]);
    const by = plain ? each(weights, votes[0].length) : shares;
    let score = zeros(votes[0].length);
    terms.forEach((vote, t) => {
      score = score.map((s, k) => s + by[t][k] * vote[k]);
    });
    if (plain) score = score.map((s) => s / (mass > 0 ? mass : 1));
    mass *= scale;
    return { cast: votes, votes: terms, weights, shares, score: this.target.level(score), mass };
  }
  // thresholds of a column at which votes change; with NaN if they also change between them
  cuts(x, j) {
    const near = this.weights.readsAll?.includes(j) ? [NaN] : [];
    return [...cutsOf(this.voters, x, j), ...(this.weights.cuts?.(x, j) ?? near)];
  }
  terms(votes, weights, scale, x) {
    const how = this.readout.score;
    const k = votes[0].length;
    if (how !== "sum" && how !== "normalised") {
      const one = weights.map((w) => (Array.isArray(w) ? w[0] : w));
      return CHOICES[how](votes, one, x, this);
    }
    const rows = weights.map((w) => (Array.isArray(w) ? w : new Array(k).fill(w)));
    if (how === "sum") return [rows.map((row) => row.map((w) => w * scale)), votes];
    const size = rows.reduce((sum, row) => sum.map((s, i) => s + Math.abs(row[i])), zeros(k));
    return [rows.map((row) => row.map((w, i) => w / (size[i] > 0 ? size[i] : 1))), votes];
  }
  linked(score) {
    const { slope, link } = this.readout;
    const k = this.target.nClasses;
    const share = (s) => Math.min(Math.max((1 + s) / 2, 0), 1);
    const chance = link === "share" ? share : (s) => expit(slope * s);
    if (this.target.kind === "multilabel") return score.map(chance);
    if (k === 2) return [1 - chance(score[0]), chance(score[0])];
    if (link !== "share") return expShares(score.map((s) => slope * s));
    const shares = score.map((s) => Math.max(((k - 1) * s + 1) / k, 0));
    const sum = total(shares);
    return shares.map((one) => (sum ? one / sum : 1 / k));
  }
  chances(scored) {
    if (!this.target.nClasses) return null;
    const linked = this.linked(scored.score);
    if (!this.calibration) return linked;
    return this.calibration.chances(linked, this.target.kind === "multilabel", scored.mass > 0);
  }
  // the score that decides: that of the calibrated probabilities, if any
  decided(scored) {
    if (!this.calibration) return scored.score;
    const chances = this.chances(scored);
    const k = this.target.nClasses;
    if (this.target.kind === "multilabel") return chances.map((p) => 2 * p - 1);
    return k === 2 ? [2 * chances[1] - 1] : chances.map((p) => (k * p - 1) / (k - 1));
  }
}
