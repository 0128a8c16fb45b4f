// Whether a case has a prediction, and what is needed if not.

// for each voter, whether it needs all of its columns rather than any
function needingAll(voters, weights) {
  const measured = weights.constructor === WEIGHTS.available;
  if (measured) return voters.reads.map((_, t) => !weights.part.partly?.[t]);
  return abstaining(voters);
}

function abstaining(voters) {
  const abstains = voters.part?.abstains ?? voters.abstains;
  if (abstains !== undefined) return voters.reads.map(() => Boolean(abstains));
  if (voters.parts) {
    const each = voters.parts.map(abstaining);
    return voters.where.map(([k, t]) => each[k][t]);
  }
  return voters.inner ? abstaining(voters.inner) : voters.reads.map(() => false);
}

// whether the deciding score is equal for all classes, or at the threshold of every label
function tied(target, score) {
  if (!target.nClasses || target.bound !== undefined) return false;
  if (target.kind === "multilabel") {
    return score.every((s) => Math.abs(s - target.data.threshold) <= LEVEL);
  }
  const spread = (list) => Math.max(...list) - Math.min(...list);
  if (target.loss) return spread(target.expected(score)) <= 1e-12 * Math.max(...target.loss.flat());
  return score.length === 1 ? Math.abs(score[0]) <= LEVEL : spread(score) <= LEVEL;
}

// why a case has no prediction: "weight", "values" or "tie"; "" if it has one
function unanswered(x, weights, reads, whole, tie) {
  const known = (j) => !Number.isNaN(x[j]);
  const some = range(reads.length).filter((t) => [weights[t]].flat().some(Boolean));
  if (!some.length) return "weight";
  const usable = (t) =>
    reads[t].length && (whole[t] ? reads[t].every(known) : reads[t].some(known));
  if (!some.some(usable) && !reads.flat().every(known)) return "values";
  return tie ? "tie" : "";
}

function unansweredWords(why, x, reads, whole, target, words) {
  const gaps = reads.map((own) => gapsOf(own, x));
  const missing = sorted(gaps.flat());
  const named = (columns) => {
    const every = columns.map((j) => words.name(j));
    if (every.length > 6 || every.length < 2) return listed(every);
    return `${every.slice(0, -1).join(", ")} and ${every.at(-1)}`;
  };
  if (why === "tie") {
    let by = target.loss ? "every answer has the same expected loss" : "all classes are equal";
    if (target.kind === "multilabel") by = "every label is at its threshold";
    return `no answer: ${by}${missing.length ? `; ${named(missing)} missing` : ""}`;
  }
  if (!missing.length) return "no answer: no voter has weight here";
  const alone = sorted(gaps.filter((own, t) => !whole[t] || own.length === 1).flat());
  const fewest = gaps.filter((own) => own.length).sort((a, b) => a.length - b.length)[0];
  const wanted = alone.length ? alone : fewest;
  return (
    `no answer: no voter has the values it needs; ${alone.length > 1 ? "one of " : ""}` +
    `${named(wanted)} would do`
  );
}
