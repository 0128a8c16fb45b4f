// openModel(plain) -> {columns, classes,
//   answer(values) -> {scores, probabilities, label, why, unanswered, ballots}}

const FARTHEST = 1e150; // the greatest size of a value: squares and their sums are finite

function openModel(plain) {
  if (plain.format !== "psephos plain model" || plain.version !== 2) {
    throw new Error("this is not a plain model of psephos, or of another version of it");
  }
  const { voters, weights, readout, target } = plain;
  const vote = new WholeVote(unpack({ voters, weighting: weights, readout, target }));
  const levels = {};
  plain.columns.forEach((column, j) => {
    if (column.levels) levels[j] = column.levels;
  });
  const adds = readout.score === "sum";
  const words = Object.assign(
    new Words(
      plain.columns.map((column) => sentenceName(column.name)),
      Object.fromEntries(Object.entries(levels).map(([j, own]) => [j, own.map(sentenceName)])),
    ),
    {
      classes: plain.classes.map(asWord).map(sentenceName),
      say: (one) => vote.target.words(one, Math.max(...one.map(Math.abs)), adds),
    },
  );

  // a finite number, a level's word (another word is missing), or null where missing
  function row(values) {
    if (values.length !== plain.columns.length) {
      throw new Error(`a case has ${values.length} values for ${plain.columns.length} columns.`);
    }
    return values.map((value, j) => {
      if (value === null || Number.isNaN(value)) return NaN;
      if (levels[j] && typeof value === "string") {
        const code = levels[j].indexOf(value);
        return code < 0 ? NaN : code;
      }
      if (!levels[j] && Math.abs(value) <= FARTHEST && typeof value === "number") return value;
      const what = levels[j] ? "the words of its categories" : "numbers up to 1e+150";
      const given = typeof value === "string" ? `'${value}'` : String(value);
      throw new Error(
        `column '${plain.columns[j].name}' has ${given}, but the model reads ${what}` +
          " there: give null if it is missing.",
      );
    });
  }

  function weightOf(shares) {
    if (shares.every((share) => share === shares[0])) return shares[0];
    return total(shares.map(Math.abs)) / shares.length;
  }

  function says(t, reason, said, silent, scale) {
    if (silent) return weights.kind === "first match" ? "not reached" : "silent here";
    const always = !vote.voters.reads[t].length || reason === "always";
    const even = said.length > 1 && !said.some(Boolean) && always;
    return even ? "each class alike" : vote.target.words(said, scale, adds);
  }

  function ballots(x, asked) {
    const reasons = vote.voters.reasons(x, words, vote.weights.similarities?.(x));
    const scale = Math.max(...asked.said.flat().map(Math.abs));
    return asked.said.map((said, t) => {
      const weight = weightOf(asked.shares[t]);
      const silent = (adds || readout.score === "normalised") && weight === 0 && said.some(Boolean);
      return {
        voter: t + 1,
        name: vote.voters.label?.(t) ?? "",
        columns: vote.voters.reads[t],
        reason: reasons[t],
        says: says(t, reasons[t], said, silent, scale),
        votes: said,
        weight,
        contribution: asked.votes[t].map((v, k) => asked.shares[t][k] * v),
      };
    });
  }

  function answer(values) {
    const x = row(values);
    const asked = vote.asked(x);
    const tie = tied(vote.target, vote.decided(asked));
    const why = unanswered(x, asked.weights, ...vote.column_needs, tie);
    return {
      scores: asked.score,
      probabilities: vote.chances(asked),
      label: vote.target.decoded(vote.decided(asked)),
      why,
      unanswered: why && unansweredWords(why, x, ...vote.column_needs, vote.target, words),
      get ballots() {
        return ballots(x, asked);
      },
    };
  }

  return { columns: plain.columns, classes: plain.classes, answer };
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
