// openModel(plain) -> {columns, classes, needs: [columns of each voter, whether it needs all],
//   answer(values) -> {scores, probabilities, label, why, unanswered, ballots},
//   cuts(values, column) -> thresholds of a column, NaN where votes change between them}

const FARTHEST = 1e150; // the greatest size of a value: squares and their sums are finite

class OpenedModel {
  constructor(plain) {
    if (plain.format !== "psephos plain model" || plain.version !== 2) {
      throw new Error("this is not a plain model of psephos, or of another version of it");
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

  // a finite number, a level's word (another word is missing), or null where missing
  row(values) {
    const { columns } = this.plain;
    if (values.length !== columns.length) {
      throw new Error(`a case has ${values.length} values for ${columns.length} columns.`);
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
    const what = levels ? "the words of its categories" : "numbers up to 1e+150";
    const given = typeof value === "string" ? `'${value}'` : String(value);
    throw new Error(
      `column '${name}' has ${given}, but the model reads ${what} there: give null if it is missing.`,
    );
  }

  says(t, reason, said, silent, scale) {
    if (silent) return this.plain.weights.kind === "first match" ? "not reached" : "silent here";
    const always = !this.vote.voters.reads[t].length || reason === "always";
    const even = said.length > 1 && !said.some(Boolean) && always;
    return even ? "each class alike" : this.vote.target.words(said, scale, this.adds);
  }

  ballots(x, asked) {
    const { vote, adds } = this;
    const own = vote.voters.reasons(x, this.words, vote.weights.similarities?.(x));
    const reasons = vote.weights.because?.(x, own, this.words) ?? own;
    const scale = Math.max(...asked.said.flat().map(Math.abs));
    const quiet = adds || this.plain.readout.score === "normalised";
    return asked.said.map((said, t) => {
      const weight = weightOf(asked.shares[t]);
      const silent = quiet && weight === 0 && said.some(Boolean);
      return {
        voter: t + 1,
        name: vote.voters.label?.(t) ?? "",
        columns: vote.voters.reads[t],
        reason: reasons[t],
        says: this.says(t, reasons[t], said, silent, scale),
        votes: said,
        weight,
        contribution: asked.votes[t].map((v, k) => asked.shares[t][k] * v),
      };
    });
  }

  answer(values) {
    const { vote } = this;
    const x = this.row(values);
    const asked = vote.asked(x);
    const tie = tied(vote.target, vote.decided(asked));
    const why = unanswered(x, asked.weights, ...vote.column_needs, tie);
    const ballots = () => this.ballots(x, asked);
    return {
      scores: asked.score,
      probabilities: vote.chances(asked),
      label: vote.target.decoded(vote.decided(asked)),
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

// probabilities of classes through a map, such as `readout.calibration` holds
openModel.through = (map, chances) =>
  readPart(CALIBRATIONS, unpack(map)).chances(chances, false, true);

// what was typed as a number; null where nothing was. A field of the type "number" drops a comma,
// and 5,1 is then 51: fields of text are read by this
openModel.number = (text) => {
  const word = text.trim();
  if (!word) return null;
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(word) && Math.abs(Number(word)) <= FARTHEST) {
    return Number(word);
  }
  throw new Error(
    `'${word}' is no number that the model reads: write it with a point, such as 5.1.`,
  );
};
