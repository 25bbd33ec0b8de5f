/** Exact rational numbers. */

export interface Fraction {
  readonly over: bigint;
  /** Above 0, without a factor in common with `over`. */
  readonly under: bigint;
}

export const NOTHING: Fraction = { over: 0n, under: 1n };

/** The value of plain decimal text, or of something that prints as it. */
export function fraction(value: { toFixed(): string } | bigint): Fraction {
  if (typeof value === 'bigint') return { over: value, under: 1n };
  const [whole = '', places = ''] = value.toFixed().split('.');
  return reduced(BigInt(whole + places), 10n ** BigInt(places.length));
}

export function ratio(over: number, under: number): Fraction {
  return reduced(BigInt(over), BigInt(under));
}

export function plus(a: Fraction, b: Fraction): Fraction {
  return reduced(a.over * b.under + b.over * a.under, a.under * b.under);
}

export function minus(a: Fraction, b: Fraction): Fraction {
  return reduced(a.over * b.under - b.over * a.under, a.under * b.under);
}

export function times(a: Fraction, b: Fraction): Fraction {
  return reduced(a.over * b.over, a.under * b.under);
}

export function dividedBy(a: Fraction, b: Fraction): Fraction {
  return b.over < 0n
    ? reduced(-a.over * b.under, -a.under * b.over)
    : reduced(a.over * b.under, a.under * b.over);
}

export function less(a: Fraction, b: Fraction): boolean {
  return a.over * b.under < b.over * a.under;
}

export function smaller(a: Fraction, b: Fraction): Fraction {
  return less(a, b) ? a : b;
}

export function larger(a: Fraction, b: Fraction): Fraction {
  return less(a, b) ? b : a;
}

export function isPositive({ over }: Fraction): boolean {
  return over > 0n;
}

export function negated({ over, under }: Fraction): Fraction {
  return { over: -over, under };
}

export function fractionText({ over, under }: Fraction): string {
  return `${over}/${under}`;
}

function reduced(over: bigint, under: bigint): Fraction {
  let [a, b] = [over < 0n ? -over : over, under];
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 1n ? { over, under } : { over: over / a, under: under / a };
}
