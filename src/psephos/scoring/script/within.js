// Voters made of others: joined, on coded or ranked columns, nested votes, and stacked ones.

VOTERS["joined voters"] = class {
  constructor(part) {
    this.parts = part.parts.map((one) => readPart(VOTERS, one));
    this.where = part.part.map((k, t) => [k, part.place[t]]);
    this.names = part.names;
    this.reads = this.where.map(([k, t]) => this.parts[k].reads[t]);
  }
  votes(x) {
    const each = this.parts.map((part) => part.votes(x));
    return this.where.map(([k, t]) => each[k][t]);
  }
  reasons(x, words) {
    const each = this.parts.map((part) => part.reasons(x, words));
    return this.where.map(([k, t]) => each[k][t]);
  }
  cuts(x, j) {
    return this.parts.flatMap((part) => cutsOf(part, x, j));
  }
  label(t) {
    const [k, place] = this.where[t];
    return this.names[t] ?? this.parts[k].label?.(place) ?? "";
  }
};

// voters `inner` on a row that is computed from a case
class OnTable {
  votes(x) {
    return this.inner.votes(this.table(x));
  }
  label(t) {
    return this.inner.label?.(t) ?? "";
  }
}

VOTERS["coded voters"] = class extends OnTable {
  constructor(part) {
    super();
    this.inner = readPart(VOTERS, part.inner);
    this.level = filled(part.level);
    this.source = part.source.map((i) => part.columns[i]);
    this.reads = this.inner.reads.map((own) => sorted(own.map((j) => this.source[j])));
  }
  table(x) {
    return this.source.map((j, i) => {
      if (Number.isNaN(this.level[i]) || Number.isNaN(x[j])) return x[j];
      return x[j] === this.level[i] ? 1 : 0;
    });
  }
  cuts(x, j) {
    const own = range(this.source.length).filter((i) => this.source[i] === j);
    return own.flatMap((i) => cutsOf(this.inner, this.table(x), i));
  }
  reasons(x, words) {
    const names = this.source.map((j, i) => {
      if (Number.isNaN(this.level[i])) return words.name(j);
      return `${words.name(j)} = ${words.level(j, this.level[i])}`;
    });
    const levels = Object.fromEntries(
      this.source
        .map((j, i) => [i, words.levels[j]])
        .filter(([i, own]) => own && Number.isNaN(this.level[i])),
    );
    const inner = words.of(names, levels, {
      cell: (i) => words.cell(this.source[i], x[this.source[i]]),
      column: (i) => words.column(this.source[i]),
      term: (i) => {
        const j = this.source[i];
        if (Number.isNaN(this.level[i])) return null;
        if (Number.isNaN(x[j])) return `${words.name(j)} missing`;
        const [value, wanted] = [words.value(j, x[j]), words.level(j, this.level[i])];
        return `${words.name(j)} = ${value}${value === wanted ? "" : `, not ${wanted}`}`;
      },
    });
    return this.inner.reasons(this.table(x), inner);
  }
};

VOTERS["ranked voters"] = class extends OnTable {
  constructor(part) {
    super();
    this.inner = readPart(VOTERS, part.inner);
    this.columns = part.columns;
    this.knots = spans(part.start).map(([a, b]) => [
      part.knots.slice(a, b),
      part.scores.slice(a, b),
    ]);
    this.reads = this.inner.reads.map((own) => own.map((j) => part.columns[j]));
  }
  table(x) {
    return this.columns.map((j, i) => {
      const [knots, scores] = this.knots[i];
      return !knots.length || Number.isNaN(x[j]) ? 0 : interpolated(x[j], knots, scores);
    });
  }
  reasons(x, words) {
    const names = this.columns.map((j) => {
      const whole = `${words.name(j)}${Number.isNaN(x[j]) ? " missing" : ` = ${words.value(j, x[j])}`}`;
      return `normal score at ${words.term(j) ?? whole}`;
    });
    const cell = (i) => words.cell(this.columns[i], x[this.columns[i]]);
    return this.inner.reasons(this.table(x), words.of(names, {}, { cell, unit: 1 }));
  }
};

VOTERS["nested voters"] = class {
  constructor(part) {
    this.inner = part.inner.map((one) => new WholeVote(one));
    this.columns = part.places.map((own) => own.map((i) => part.columns[i]));
    this.levels = part.levels.map((own) => new Map(own));
    this.part = part;
    this.reads = this.columns.map(sorted);
  }
  gaps(t, x) {
    return this.part.abstains ? gapsOf(this.columns[t], x) : [];
  }
  table(t, x) {
    const row = this.columns[t].map((j) => x[j]);
    for (const [j, values] of this.levels[t]) {
      const code = values.indexOf(row[j]);
      row[j] = code < 0 ? NaN : code;
    }
    return row;
  }
  cuts(x, j) {
    return this.inner.flatMap((vote, t) =>
      this.columns[t].flatMap((own, i) => (own === j ? vote.cuts(this.table(t, x), i) : [])),
    );
  }
  votes(x) {
    return this.inner.map((vote, t) =>
      this.gaps(t, x).length ? zeros(this.part.value[0].length) : this.vote(vote, this.table(t, x)),
    );
  }
  vote(vote, row) {
    const { says, value: code } = this.part;
    const scored = vote.scored(row);
    if (vote.target.kind === "regression") return scored.score;
    const { classes } = vote.target;
    if (says === "answer") return code[classes[vote.target.chosen(vote.decided(scored))]];
    const chances = vote.chances(scored);
    if (says !== "log-odds") {
      return chances.reduce((out, p, k) => mix(out, p, code[classes[k]]), zeros(code[0].length));
    }
    const whole = zeros(code.length);
    chances.forEach((p, k) => {
      whole[classes[k]] = p;
    });
    const logs = whole.map((p) => Math.log(Math.max(p, 1e-9)));
    if (code[0].length === 1) return [logs[1] - logs[0]];
    const middle = total(logs) / logs.length;
    return logs.map((log) => log - middle);
  }
  reasons(x, words) {
    return this.inner.map((vote, t) => {
      const gaps = this.gaps(t, x);
      if (gaps.length) return missingWords(gaps, words);
      const row = this.table(t, x);
      if (vote.voters.reads.length === 1) return vote.voters.reasons(row, this.within(t, words))[0];
      const of = vote.data.weighting.profile?.kind === "k nearest" ? "training case" : "voter";
      return `${vote.voters.reads.length} ${of}s on ${words.cells(x, this.columns[t])}`;
    });
  }
  within(t, words) {
    const names = this.columns[t].map((j) => words.name(j));
    const levels = {};
    for (const [j, values] of this.levels[t]) {
      levels[j] = values.map((value) => words.level(this.columns[t][j], value));
    }
    return words.of(names, levels);
  }
};

VOTERS["composed voters"] = class extends OnTable {
  constructor(part) {
    super();
    this.members = readPart(VOTERS, part.members);
    this.inner = readPart(VOTERS, part.readers);
    this.answers = part.answers;
    this.shares = part.shares;
    const k = part.answers.length / this.members.reads.length;
    const wide = widthOf(part.readers) - part.answers.length;
    this.reads = this.inner.reads.map((own) =>
      sorted(own.flatMap((j) => (j < wide ? [j] : this.members.reads[Math.floor((j - wide) / k)]))),
    );
  }
  cuts(x, j) {
    return [...cutsOf(this.members, x, j), ...cutsOf(this.inner, this.table(x), j)];
  }
  table(x) {
    const votes = this.members.votes(x);
    const k = Math.max(votes[0].length, 2);
    let answers = votes.flat();
    if (this.shares) {
      answers = answers.map((v) => Math.min(Math.max(((k - 1) * v + 1) / k, 0), 1));
    }
    return [...x, ...answers];
  }
  reasons(x, words) {
    const names = [...x.map((_, j) => words.name(j)), ...this.answers.map(sentenceName)];
    return this.inner.reasons(this.table(x), words.of(names, words.levels));
  }
};

function widthOf(part) {
  if ("n_features" in part) return part.n_features;
  const key = ["members", "parts", "trees", "batches", "space", "rules"].find((k) => k in part);
  return widthOf(Array.isArray(part[key]) ? part[key][0] : part[key]);
}
