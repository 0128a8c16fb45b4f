// What the voters of a model say of a case, in true words, and how votes that ask the same are merged.
page.ballot = (() => {
  const { write } = page.axis;
  const holds = { "<=": (a, b) => a <= b, "<": (a, b) => a < b, ">": (a, b) => a > b, ">=": (a, b) => a >= b };
  const mark = { "<=": "≤", ">=": "≥", "<": "<", ">": ">" };

  // A value and a bound with just enough digits that the relation holds as printed.
  const compared = (value, relation, bound) => {
    for (const digits of [3, 4, 6, 9, 12, 17]) {
      const a = Number(value.toPrecision(digits)), b = Number(bound.toPrecision(digits));
      if (holds[relation](a, b) && (a === b) === (value === bound)) return [write(a, digits), write(b, digits)];
    }
    return [String(value), String(bound)];
  };

  // One test of a path: [name, words, what is asked].
  const test = (one, names) => {
    const { column, relation, bound, value } = one, name = names[column] ?? column;
    if (value === null || value === undefined) return [name, "not measured", `${name}|missing`];
    if (relation in holds) {
      const [a, b] = compared(value, relation, bound);
      return [name, `${a} ${mark[relation]} ${b}`, `${name}|${relation}|${bound}`];
    }
    if (relation === "within") return [name, `${write(value)} between ${write(bound[0])} and ${write(bound[1])}`, `${name}|within|${bound}`];
    if (Array.isArray(bound)) {
      const listed = bound.slice(0, 3).join(", ") + (bound.length > 3 ? ` and ${bound.length - 3} more` : "");
      return [name, relation === "in" && bound.length === 1 ? `is ${value}` : `${value} ${relation} ${listed}`, `${name}|${relation}|${bound}`];
    }
    return [name, write(value), `${name}|${relation}`];
  };

  // The same column asked twice on a path keeps the nearest bounds.
  const nearest = (tests) => {
    const kept = new Map();
    tests.forEach((one) => {
      const side = one.relation[0] === ">" ? "low" : one.relation[0] === "<" ? "high" : one.relation, key = `${one.column}|${side}`, known = kept.get(key);
      if (!known || (side === "low" && one.bound > known.bound) || (side === "high" && one.bound < known.bound)) kept.set(key, one);
    });
    return [...kept.values()];
  };

  return { compared, nearest, test };
})();
