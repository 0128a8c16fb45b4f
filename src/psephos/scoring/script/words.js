// Numbers and conditions as text, as the library writes them.

// with so many decimals, rounding half to even as Python does
function decimals(value, digits) {
  const more = value.toFixed(Math.min(digits + 25, 100));
  const cut = more.length - 25;
  if (more.slice(cut) !== `5${"0".repeat(24)}`) return value.toFixed(digits);
  const down = more.slice(0, cut).replace(/\.$/, "");
  return Number(down.at(-1)) % 2 ? value.toFixed(digits) : down;
}

// as Python's format(value, ".<digits>g")
function general(value, digits) {
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return "0";
  const [mantissa, power] = value.toExponential(digits - 1).split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= digits) {
    const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${short}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  const fixed = decimals(value, Math.max(digits - 1 - exponent, 0));
  return fixed.includes(".") ? fixed.replace(/\.?0+$/, "") : fixed;
}

function inWords(value, scale = 0, digits = 4) {
  if (Number.isNaN(value)) return "missing";
  const size = Math.abs(value);
  if (size <= 1e-12 * scale) return "0";
  if (size < 1e15 && Number.isInteger(value)) return String(value);
  const before = size < 1e15 ? String(Math.round(size)).length : 0;
  return general(value, Math.max(digits, before));
}

const inQuotes = (name) => (name.includes("'") ? `"${name}"` : `'${name}'`);

// the first of a list, and how many more
const listed = (all, most = 6) =>
  all.slice(0, most).join(", ") + (all.length > most ? ` and ${all.length - most} more` : "");

// a name within a sentence: in quotes if it has characters or words that divide one
function sentenceName(name) {
  const divides = /[,;<>={}]|^['"\s]|\s$|^$|(?:^|\s)(?:and|or|if|then|not|in|is)(?:\s|$)/.test(
    name,
  );
  return divides ? inQuotes(name) : name;
}

// the digits that numbers need so that their printed sum is right even if terms cancel
function sumDigits(largest, sum) {
  if (largest < 100 * Math.abs(sum)) return 4;
  const ratio = sum ? largest / Math.abs(sum) : Infinity;
  return ratio < 1e15 ? Math.min(3 + String(Math.trunc(ratio)).length, 15) : 15;
}

function percent(share) {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  if (share > 0.999 && share < 1) return "> 99.9 %";
  return `${decimals(100 * share, 1)} %`;
}

const HOLDS = {
  "<=": (a, b) => a <= b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};
const OPPOSITE = { "<=": ">", ">": "<=", "<": ">=", ">=": "<", in: "not in", "not in": "in" };

// a value and its bounds with just enough digits that every printed relation holds
function compared(value, bounded) {
  if (![value, ...bounded.map(([, bound]) => bound)].every(Number.isFinite)) {
    return [inWords(value), bounded.map(([, bound]) => inWords(bound))];
  }
  for (const digits of [4, 6, 9, 12, 17]) {
    const written = bounded.map(([, bound]) => {
      const scale = Math.max(Math.abs(value), Math.abs(bound));
      return [inWords(value, scale, digits), inWords(bound, scale, digits)];
    });
    const same = written.every(([v, b], i) => {
      const [relation, bound] = bounded[i];
      return (v === b) === (value === bound) && HOLDS[relation](Number(v), Number(b));
    });
    if (same && new Set(written.map(([v]) => v)).size === 1) {
      return [written[0][0], written.map(([, b]) => b)];
    }
  }
  return [String(value), bounded.map(([, bound]) => String(bound))];
}

// The names of a table: of columns and of the levels of categories.
class Words {
  constructor(names, levels) {
    this.names = names;
    this.levels = levels;
  }
  name(j) {
    return this.names[j];
  }
  // the name of the original column
  column(j) {
    return this.name(j);
  }
  // the name of a 0/1 column in a sum, with the case's category; null for other columns
  term() {
    return null;
  }
  level(j, code) {
    return this.levels[j]?.[code] ?? String(code);
  }
  value(j, value) {
    if (Number.isNaN(value)) return "missing";
    return this.levels[j] ? this.level(j, Math.trunc(value)) : inWords(value);
  }
  cell(j, value) {
    return `${this.name(j)} = ${this.value(j, value)}`;
  }
  cells(x, columns) {
    return listed([...new Set(columns.map((j) => this.cell(j, x[j])))]) || "no column";
  }
  // the names of a table that is computed from this one
  of(names, levels, more = {}) {
    return Object.assign(new Words(names, levels), { classes: this.classes, say: this.say }, more);
  }
}

// A test is {column, relation, bound, value, instead, sent, rounded}.
const test = (column, relation, bound, value) => ({ column, relation, bound, value });

function holds({ relation, bound, value, rounded }) {
  if (relation === "missing" || relation === "present") {
    return Number.isNaN(value) === (relation === "missing");
  }
  if (relation === "in" || relation === "not in") {
    return !Number.isNaN(value) && bound.includes(Math.trunc(value)) === (relation === "in");
  }
  return HOLDS[relation](rounded ?? value, bound);
}

const setWords = (column, codes, words) =>
  `{${listed(codes.map((code) => words.level(column, code)))}}`;

function bounds(one) {
  if (one.relation === "within")
    return [
      [">", one.bound[0]],
      ["<=", one.bound[1]],
    ];
  return Object.hasOwn(HOLDS, one.relation) && Number.isFinite(one.bound)
    ? [[one.relation, one.bound]]
    : [];
}

function relationWords(one, written, words) {
  let text = "";
  if (one.relation === "within") text = `between ${written[0]} and ${written[1]}`;
  else if (written.length) text = `${one.relation} ${written[0]}`;
  else if (one.relation === "in" || one.relation === "not in") {
    text = `${one.relation} ${setWords(one.column, one.bound, words)}`;
  } else if (one.relation === "present") text = "not missing";
  else if (one.sent) {
    const [relation, bound] = one.sent;
    const where = relation === "in" ? setWords(one.column, bound, words) : inWords(bound);
    text = `taken as ${relation} ${where}`;
  }
  if (one.instead === undefined) return text;
  return `${text} (instead of ${words.name(one.instead)}, missing)`.trim();
}

function sentence(tests, words) {
  const first = tests[0];
  const each = tests.map(bounds);
  const flat = each.flat();
  const byRounding = (one) => one.rounded !== undefined && !holds({ ...one, rounded: undefined });
  const rounded = tests.find(byRounding)?.rounded;
  let [value, written] = flat.length ? compared(rounded ?? first.value, flat) : ["", []];
  if (rounded !== undefined) value = `${inWords(first.value, 0, 15)} (rounded to ${value})`;
  const texts = tests.map((one, i) => {
    const own = written.slice(0, each[i].length);
    written = written.slice(each[i].length);
    return relationWords(one, own, words);
  });
  const relations = texts.filter(Boolean).join(" and ");
  const name = words.name(first.column);
  if (first.relation === "missing") {
    return `${name} missing${relations.startsWith("taken as") ? ", " : " "}${relations}`.trimEnd();
  }
  value = value || words.value(first.column, first.value);
  const between = relations.startsWith("not missing") ? ", " : relations ? " " : "";
  return `${name} = ${value}${between}${relations}`;
}

// tests as text, joined for each column: of several thresholds the nearest
function pathWords(tests, words) {
  return [...new Set(tests.map((one) => one.column))]
    .map((column) => {
      const own = tests.filter((one) => one.column === column);
      const upper = own.filter((one) => one.relation === "<=" || one.relation === "<");
      const lower = own.filter((one) => one.relation === ">" || one.relation === ">=");
      const rest = own.filter((one) => !upper.includes(one) && !lower.includes(one));
      const sets = rest.filter((one) => one.relation === "in" || one.relation === "not in");
      const tight = (list, better) => list.reduce((a, b) => (better(b.bound, a.bound) ? b : a));
      const kept = lower.length ? [tight(lower, (b, a) => b > a)] : [];
      if (upper.length) kept.push(tight(upper, (b, a) => b < a));
      return sentence(
        [...kept, ...sets.slice(-1), ...rest.filter((one) => !sets.includes(one))],
        words,
      );
    })
    .join(" and ");
}

const missingWords = (columns, words) =>
  `${listed([...new Set(columns.map((j) => words.column(j)))])} missing`;
