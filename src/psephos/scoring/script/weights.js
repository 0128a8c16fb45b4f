// Weights that are constant, or depend on missing values or on the confidence of voters.
// weights(x) is [weights, log scale]; ofVotes(votes, target) if they depend on the votes.

WEIGHTS["constant"] = class extends Part {
  weights() {
    return [this.part.alpha, 0];
  }
};

WEIGHTS["by output"] = class extends Part {
  ofVotes() {
    return this.part.alpha;
  }
};

WEIGHTS["available"] = class {
  constructor(part) {
    this.part = part;
    const rows = part.reads.length ? part.reads : part.alpha.map(() => []);
    this.reads = rows.map((row) => part.columns.filter((_, i) => row[i]));
  }
  weights(x) {
    const { alpha, tier, partly, loudest } = this.part;
    const can = this.reads.map((read, t) => {
      const gaps = read.filter((j) => Number.isNaN(x[j])).length;
      return gaps === 0 || Boolean(partly?.[t] && gaps < read.length);
    });
    const first = Math.min(...tier.filter((_, t) => can[t]));
    let weights = alpha.map((a, t) => (can[t] && tier[t] === first ? a : 0));
    if (loudest) {
      const top = best(weights);
      weights = weights.map((w, t) => (t === top ? w : 0));
    }
    return [weights, 0];
  }
};

WEIGHTS["confidence"] = class {
  constructor(part) {
    this.part = part;
    this.order = orderBy(part.rank.length, (t) => part.rank[t]);
  }
  sure(vote, target) {
    const k = target.nClasses;
    if (vote.every((v) => v === 0)) return 0;
    let sure = ((k - 1) * Math.max(...vote) + 1) / k;
    if (k === 2) sure = (1 + Math.abs(vote[0])) / 2;
    if (target.kind === "multilabel") sure = (1 + Math.min(...vote.map(Math.abs))) / 2;
    return Math.min(Math.max(sure, 0), 1);
  }
  ofVotes(votes, target) {
    const { alpha, threshold, first } = this.part;
    const sure = votes.map((vote) => this.sure(vote, target));
    const counts = sure.map((s, t) => s >= threshold[t] - 1e-12 && s > 0);
    if (!first) {
      const every = !counts.some(Boolean);
      return alpha.map((a, t) => (every || counts[t] ? a : 0));
    }
    const last = this.order.filter((t) => sure[t] > 0).at(-1) ?? this.order.at(-1);
    const chosen = this.order.find((t) => counts[t]) ?? last;
    return alpha.map((a, t) => (t === chosen ? a : 0));
  }
};
