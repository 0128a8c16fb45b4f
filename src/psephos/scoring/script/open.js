// openModel(plain) -> {columns, classes, needs: [columns of each voter, whether it needs all],
//   answer(values) -> {scores, probabilities, label, why, unanswered, ballots},
//   cuts(values, column) -> thresholds of a column, NaN where votes change between them}

const FARTHEST = 1e150; // the greatest size of a value: squares and their sums are finite

class OpenedModel {
  constructor(plain) {
    if (plain.format !== "psephos plain model" || plain.version !== 2) {
      throw new Error("data must be a plain model of psephos of version 2");
    }
    const { voters, weights, readout, target } = plain;
    this.plain = plain;
    this.vote = new WholeVote(unpack({ voters, weighting: weights, readout, target }));
    this.levels = Object.fromEntries(
      plain.columns.flatMap(({ levels }, j) => (levels ? [[j, levels]] : [])),
    );
    this.adds = readout.score === "sum";
    this.words = Object.assign(
      new Words(
        plain.columns.map((column) => sentenceName(column.name)),
        Object.fromEntries(
          Object.entries(this.levels).map(([j, own]) => [j, own.map(sentenceName)]),
        ),
      ),
      {
        classes: plain.classes.map(asWord).map(sentenceName),
        say: (one) => this.vote.target.words(one, Math.max(...one.map(Math.abs)), this.adds),
      },
    );
  }

  // each value is a finite number, the name of a level (an unknown one is missing), or null
  row(values) {
    const { columns } = this.plain;
    if (values.length !== columns.length) {
      throw new Error(`a case must have ${columns.length} values; got ${values.length}.`);
    }
    return values.map((value, j) => this.cell(value, this.levels[j], columns[j].name));
  }

  cell(value, levels, name) {
    if (value === null || Number.isNaN(value)) return NaN;
    if (levels && typeof value === "string") {
      const code = levels.indexOf(value);
      return code < 0 ? NaN : code;
    }
    if (!levels && Math.abs(value) <= FARTHEST && typeof value === "number") return value;
    const what = levels ? "names of its categories" : "numbers up to 1e+150";
    const given = typeof value === "string" ? `'${value}'` : String(value);
    throw new Error(
      `column '${name}' must have ${what}; got ${given}: give null if it is missing.`,
    );
  }

  says(t, reason, vote, unused, scale) {
    if (unused) return this.plain.weights.kind === "first match" ? "not reached" : "silent here";
    const always = !this.vote.voters.reads[t].length || reason === "always";
    const even = vote.length > 1 && !vote.some(Boolean) && always;
    return even ? "each class alike" : this.vote.target.words(vote, scale, this.adds);
  }

  ballots(x, scored) {
    const { vote, adds } = this;
    const own = vote.voters.reasons(x, this.words, vote.weights.similarities?.(x));
    const reasons = vote.weights.because?.(x, own, this.words) ?? own;
    const scale = Math.max(...scored.cast.flat().map(Math.abs));
    const quiet = adds || this.plain.readout.score === "normalised";
    return scored.cast.map((cast, t) => {
      const weight = weightOf(scored.shares[t]);
      const unused = quiet && weight === 0 && cast.some(Boolean);
      return {
        voter: t + 1,
        name: vote.voters.label?.(t) ?? "",
        columns: vote.voters.reads[t],
        reason: reasons[t],
        says: this.says(t, reasons[t], cast, unused, scale),
        votes: cast,
        weight,
        contribution: scored.votes[t].map((v, k) => scored.shares[t][k] * v),
      };
    });
  }

  answer(values) {
    const { vote } = this;
    const x = this.row(values);
    const scored = vote.scored(x);
    const tie = tied(vote.target, vote.decided(scored));
    const why = unanswered(x, scored.weights, ...vote.column_needs, tie);
    const ballots = () => this.ballots(x, scored);
    return {
      scores: scored.score,
      probabilities: vote.chances(scored),
      label: vote.target.decoded(vote.decided(scored)),
      why,
      unanswered: why && unansweredWords(why, x, ...vote.column_needs, vote.target, this.words),
      get ballots() {
        return ballots();
      },
    };
  }
}

function weightOf(shares) {
  if (shares.every((share) => share === shares[0])) return shares[0];
  return total(shares.map(Math.abs)) / shares.length;
}

function openModel(plain) {
  const model = new OpenedModel(plain);
  return {
    columns: plain.columns,
    classes: plain.classes,
    needs: model.vote.column_needs,
    answer: (values) => model.answer(values),
    cuts: (values, j) => model.vote.cuts(model.row(values), j),
  };
}

// calibrated probabilities of classes, by a map such as `readout.calibration`
openModel.through = (map, chances) =>
  readPart(CALIBRATIONS, unpack(map)).chances(chances, false, true);

// typed text as a number; null if it is empty. A field of type "number" would drop a comma and
// read 5,1 as 51, so text fields are used
openModel.number = (text) => {
  const word = text.trim();
  if (!word) return null;
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(word) && Math.abs(Number(word)) <= FARTHEST) {
    return Number(word);
  }
  throw new Error(
    `'${word}' is not a number that the model reads: write it with a point, such as 5.1.`,
  );
};
