// A pseudo-random number in [0, 1) for a row: BLAKE2b (RFC 7693) of its values, keyed by the seed.

const MASK = (1n << 64n) - 1n;
const BLAKE_IV = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
];
const BLAKE_ORDER = [
  "0123456789abcdef",
  "ea489fd61c02b753",
  "b8c052fdae367194",
  "7931dcbe265a40f8",
  "905724afe1bc683d",
  "2c6a0b834d75fe19",
  "c51fed4a0763928b",
  "db7ec13950f4862a",
  "6fe9b308c2d714a5",
  "a2847615fb9e3cd0",
];
const BLAKE_MIXES = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
];
const rotated = (word, by) => ((word >> by) | (word << (64n - by))) & MASK;

function compress(state, block, count, last) {
  const v = [...state, ...BLAKE_IV];
  v[12] ^= BigInt(count);
  if (last) v[14] ^= MASK;
  const view = new DataView(block.buffer, block.byteOffset, 128);
  const words = range(16).map((i) => view.getBigUint64(8 * i, true));
  for (let round = 0; round < 12; round++) {
    const order = [...BLAKE_ORDER[round % 10]].map((digit) => words[parseInt(digit, 16)]);
    BLAKE_MIXES.forEach(([a, b, c, d], i) => {
      v[a] = (v[a] + v[b] + order[2 * i]) & MASK;
      v[d] = rotated(v[d] ^ v[a], 32n);
      v[c] = (v[c] + v[d]) & MASK;
      v[b] = rotated(v[b] ^ v[c], 24n);
      v[a] = (v[a] + v[b] + order[2 * i + 1]) & MASK;
      v[d] = rotated(v[d] ^ v[a], 16n);
      v[c] = (v[c] + v[d]) & MASK;
      v[b] = rotated(v[b] ^ v[c], 63n);
    });
  }
  return state.map((word, i) => word ^ v[i] ^ v[i + 8]);
}

function drawnBy(row, seed) {
  const bytes = new Uint8Array(128 * (1 + Math.max(1, Math.ceil(row.length / 16))));
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(seed), true); // the key is a block of its own
  row.forEach((value, i) => {
    if (Number.isNaN(value)) view.setBigUint64(128 + 8 * i, 0x7ff8000000000000n, true);
    else view.setFloat64(128 + 8 * i, value + 0, true);
  });
  const size = row.length ? 128 + 8 * row.length : 128;
  let state = [...BLAKE_IV];
  state[0] ^= 0x01010000n ^ (8n << 8n) ^ 8n;
  for (let start = 0; start < size; start += 128) {
    const end = Math.min(start + 128, size);
    state = compress(state, bytes.subarray(start, start + 128), end, end === size);
  }
  return Number(state[0] >> 11n) / 2 ** 53;
}
