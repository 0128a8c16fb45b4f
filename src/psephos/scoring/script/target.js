// Targets: from scores to labels or numbers, and votes as text.

const LEVEL = 2 ** -41;

class Classes {
  constructor(data) {
    this.classes = data.classes;
    this.nClasses = data.classes.length;
    this.kind = this.nClasses === 2 ? "binary" : "multiclass";
    this.loss = data.loss;
    this.bound = data.bound;
    const k = this.nClasses;
    this.code =
      k === 2
        ? [[-1], [1]]
        : range(k).map((i) => range(k).map((j) => (i === j ? 1 : -1 / (k - 1))));
  }
  // the score with ties up to rounding made exact
  level(score) {
    if (score.length === 1) return [Math.abs(score[0]) <= LEVEL ? 0 : score[0]];
    const top = Math.max(...score);
    return score.map((s) => (s >= top - LEVEL ? top : s));
  }
  answer(score) {
    if (!this.loss) return score.length === 1 ? Number(score[0] > 0) : best(score);
    const expected = this.expected(score);
    const least = Math.min(...expected) + 1e-12 * Math.max(...this.loss.flat());
    return expected.findIndex((one) => one <= least);
  }
  // the expected loss of predicting each class
  expected(score) {
    const k = this.nClasses;
    const shares =
      k === 2 ? [(1 - score[0]) / 2, (1 + score[0]) / 2] : score.map((s) => ((k - 1) * s + 1) / k);
    return range(k).map((i) => shares.reduce((sum, share, j) => sum + share * this.loss[j][i], 0));
  }
  decoded(score) {
    return this.classes[this.chosen(score)];
  }
  // with a bound, the second class is predicted above it
  chosen(score) {
    return this.bound === undefined ? this.answer(score) : Number(score[0] > this.bound);
  }
  plainly(vote) {
    return this.code[this.answer(vote)];
  }
  words(vote, scale, adds) {
    if (vote.every((v) => Math.abs(v) <= 1e-12 * scale) || !vote.some(Boolean)) return "nothing";
    const names = this.classes.map(asWord).map(sentenceName);
    if (adds) return addedWords(vote, names, scale);
    const [k, n] = [this.answer(vote), this.nClasses];
    if (vote.every((v, i) => v === this.code[k][i])) return names[k];
    const top = Math.max(...vote);
    const level = n > 2 ? range(n).filter((j) => this.level(vote)[j] === top) : [];
    if (level.length === n) return "each class alike";
    const share = n === 2 ? (1 + (k ? vote[0] : -vote[0])) / 2 : ((n - 1) * vote[k] + 1) / n;
    const several = level.length > 1;
    const named = several ? level.map((j) => names[j]).join(" and ") : names[k];
    return `${named} ${percent(share)}${several ? " each" : ""}`;
  }
}

function addedWords(vote, names, scale) {
  const signed = (v) => `${v > 0 ? "+" : ""}${inWords(v, scale)}`;
  if (vote.length === 1) {
    return `+${inWords(Math.abs(vote[0]), scale)} for ${names[Number(vote[0] > 0)]}`;
  }
  const order = orderBy(vote.length, (k) => -Math.abs(vote[k]));
  const size = vote[order[0]];
  if (vote.every((v) => Math.abs(v - size) <= 1e-9 * Math.abs(size))) {
    return `${signed(size)} for every class`;
  }
  const moved = order.filter((k) => Math.abs(vote[k]) > 1e-12 * scale && vote[k] !== 0);
  const parts = moved.slice(0, 4).map((k) => `${signed(vote[k])} for ${names[k]}`);
  const more = moved.length - parts.length;
  return parts.join(", ") + (more > 0 ? ` and less for ${more} more` : "");
}

class LabelSets {
  kind = "multilabel";
  constructor(data) {
    this.classes = data.classes;
    this.nClasses = data.classes.length;
    this.data = data;
  }
  level(score) {
    return score.map((s) => (Math.abs(s) <= LEVEL ? 0 : s));
  }
  decoded(score) {
    const { threshold, or_equal: orEqual } = this.data;
    return score.map((s) => Number(orEqual ? s >= threshold : s > threshold));
  }
  plainly(vote) {
    return vote.map(Math.sign);
  }
  words(vote, scale, adds) {
    const names = this.classes.map(asWord).map(sentenceName);
    const there = names
      .map((name, k) => [name, vote[k]])
      .filter(([, v]) => Math.abs(v) > 1e-12 * scale);
    if (!there.some(([, v]) => v)) return "nothing";
    if (adds) {
      return there
        .map(([name, v]) => `${v > 0 ? "+" : ""}${inWords(v, scale)} for ${name}`)
        .join(", ");
    }
    if (vote.every((v) => Math.abs(v) === 1)) {
      return names.filter((_, k) => vote[k] > 0).join(", ") || "no label";
    }
    return names.map((name, k) => `${name} ${percent((1 + vote[k]) / 2)}`).join(", ");
  }
}

class Numbers {
  kind = "regression";
  nClasses = 0;
  classes = [];
  constructor(data) {
    this.outputs = data.names ?? [""];
  }
  level(score) {
    return score;
  }
  decoded(score) {
    return this.outputs.length === 1 ? score[0] : score;
  }
  words(vote) {
    if (vote.length === 1 && !this.outputs[0]) return inWords(vote[0]);
    return this.outputs.map((name, k) => `${sentenceName(name)} = ${inWords(vote[k])}`).join(", ");
  }
}

function targetOf(data) {
  const kinds = {
    target: Classes,
    "target with losses": Classes,
    "target with a threshold": Classes,
    "labels target": LabelSets,
  };
  return new (kinds[data.kind] ?? Numbers)(data);
}
