// The readers of kinds of parts, and shared arithmetic.
// A part is {kind, ...fields}; null in a list is NaN, {float: "inf"} infinite, {shape} an empty array.

const VOTERS = {};
const WEIGHTS = {};
const CALIBRATIONS = {};

function readPart(table, data) {
  if (!Object.hasOwn(table, data.kind)) {
    throw new Error(`no reader of ${data.kind}`);
  }
  return new table[data.kind](data);
}

class Part {
  constructor(part) {
    this.part = part;
  }
}

function unpack(value) {
  if (Array.isArray(value)) return value.map(unpack);
  if (value === null || typeof value !== "object") return value;
  const keys = Object.keys(value);
  if (keys.length === 1 && keys[0] === "float") {
    return { inf: Infinity, "-inf": -Infinity, nan: NaN }[value.float];
  }
  if (keys.length === 1 && keys[0] === "shape") return [];
  return Object.fromEntries(keys.map((key) => [key, unpack(value[key])]));
}

// a class as Python writes it
const asWord = (one) => (one === true ? "True" : one === false ? "False" : String(one));
const filled = (value) => (Array.isArray(value) ? value.map(filled) : value === null ? NaN : value);
const spans = (ptr) => ptr.slice(1).map((end, i) => [ptr[i], end]);
const zeros = (k) => new Array(k).fill(0);
const total = (values) => values.reduce((sum, v) => sum + v, 0);
const sorted = (columns) => [...new Set(columns)].sort((a, b) => a - b);
const range = (n) => Array.from({ length: n }, (_, i) => i);
const orderBy = (n, key) => range(n).sort((a, b) => key(a) - key(b)); // stable

function best(scores) {
  let top = 0;
  for (let k = 0; k < scores.length; k++) {
    if (Number.isNaN(scores[k])) return k;
    if (scores[k] > scores[top]) top = k;
  }
  return top;
}

function expShares(scores) {
  const top = Math.max(...scores);
  const odds = scores.map((s) => Math.exp(s - top));
  const sum = total(odds);
  return odds.map((one) => one / sum);
}

function expit(value) {
  if (value >= 0) return 1 / (1 + Math.exp(-value));
  const odds = Math.exp(value);
  return odds / (1 + odds);
}

// the line through points (x, y) at a value, constant beyond the ends
function interpolated(value, x, y) {
  let i = x.length - 1;
  while (i >= 0 && x[i] > value) i--;
  if (i < 0 || i === x.length - 1) return y[Math.max(i, 0)];
  return ((y[i + 1] - y[i]) / (x[i + 1] - x[i])) * (value - x[i]) + y[i];
}

const gapsOf = (columns, x) => columns.filter((j) => Number.isNaN(x[j]));
const mix = (out, by, row) => out.map((a, k) => a + by * row[k]);
