/** Reproducible randomness: the same seed always gives the same traffic. Not for secrets. */

export interface SeededRandom {
  /** In [0, 1). */
  next(): number;
  /** A whole number in [0, below). */
  integer(below: number): number;
  /** Lognormal around `median`: the shape of request sizes, many small and a few huge. */
  lognormal(median: number, sigma: number): number;
}

/** Marsaglia's xorshift with 128 bits of state, seeded through a Weyl sequence so that no state is all zero. */
export function createSeededRandom(seed: number): SeededRandom {
  let weyl = seed >>> 0;
  const mixed = () => {
    weyl = (weyl + 0x9e3779b9) >>> 0;
    let word = weyl;
    word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    return (word ^ (word >>> 16)) >>> 0;
  };
  let x = mixed();
  let y = mixed();
  let z = mixed();
  let w = mixed() | 1;

  const next = () => {
    const t = x ^ (x << 11);
    x = y;
    y = z;
    z = w;
    w = (w ^ (w >>> 19) ^ t ^ (t >>> 8)) >>> 0;
    return w / 0x1_0000_0000;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  return {
    next,
    integer: (below) => Math.floor(next() * below),
    lognormal: (median, sigma) => median * Math.exp(sigma * normal()),
  };
}

/** Draws indexes with the given relative weights. */
export function weightedPicker(random: SeededRandom, weights: readonly number[]): () => number {
  const cumulative: number[] = [];
  let total = 0;
  for (const weight of weights) {
    total += weight;
    cumulative.push(total);
  }
  return () => {
    const target = random.next() * total;
    let low = 0;
    let high = cumulative.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulative[middle] ?? total) > target) high = middle;
      else low = middle + 1;
    }
    return low;
  };
}
