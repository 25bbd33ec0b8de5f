/**
 * Joins rated line keys to the lines of an invoice. The keys may arrive in any parts and order; the result is the same
 * as for all keys at once.
 *
 * Owns: the order of the lines inside a product, and the maximum number of lines. Products whose lines do not fit are
 * counted and left out, the largest first, so that the memory for lines is bounded.
 */
import type { Interval } from '../../core/time.ts';
import type { RatedKeys, UsageLine, UsageRating } from '../lines/types.ts';
import { compareGroupValues, type GroupValues } from '../quantities/group-values.ts';

/** A product whose lines are not on the invoice because there are too many. */
export interface UnlistedProduct {
  readonly productId: string;
  readonly productName: string;
  /** Lines, and entries of usage without a price. */
  readonly lineCount: number;
}

export interface CollectedLines extends UsageRating {
  readonly unlisted: readonly UnlistedProduct[];
}

export interface LineCollector {
  /** Each part contains all products of the invoice, in its order. */
  add(part: readonly RatedKeys[]): void;
  result(): CollectedLines;
}

interface Collected {
  readonly product: RatedKeys['product'];
  readonly lines: UsageLine[];
  readonly warnings: UsageRating['warnings'][number][];
  zeroLine: UsageLine | null;
  /** The number of lines and warnings, including those left out. */
  count: number;
  hasLaterLines: boolean;
}

/** `linesMax`: the maximum of lines and entries of unpriced usage together. */
export function createLineCollector(linesMax: number): LineCollector {
  const products = new Map<string, Collected>();
  const collect = ({ product, lines, warnings, zeroLine, laterLineCount = 0 }: RatedKeys) => {
    const own = products.get(product.id) ?? newCollected(product);
    products.set(product.id, own);
    own.zeroLine ??= zeroLine;
    own.count += lines.length + warnings.length + laterLineCount;
    own.hasLaterLines ||= laterLineCount > 0;
    if (own.count > linesMax) drop(own);
    else {
      // A spread would fail: a part may have more lines than a call may have arguments.
      for (const line of lines) own.lines.push(line);
      for (const warning of warnings) own.warnings.push(warning);
    }
  };
  return {
    add: (part) => part.forEach(collect),
    result() {
      const all = [...products.values()];
      const unlisted = new Set(tooMany(all, linesMax));
      const listed = all.filter((one) => !unlisted.has(one));
      return {
        lines: listed.flatMap(linesOf),
        warnings: listed.flatMap(({ warnings }) => inLineOrder(warnings)),
        unlisted: [...unlisted].map(({ product, count }) => ({
          productId: product.id,
          productName: product.name,
          lineCount: count,
        })),
      };
    },
  };
}

function newCollected(product: RatedKeys['product']): Collected {
  return { product, lines: [], warnings: [], zeroLine: null, count: 0, hasLaterLines: false };
}

function drop({ lines, warnings }: Collected): void {
  lines.length = 0;
  warnings.length = 0;
}

/** The largest products, without which the others fit. */
function tooMany(all: readonly Collected[], linesMax: number): Collected[] {
  const unlisted: Collected[] = [];
  let total = all.reduce((sum, { count }) => sum + count, 0);
  for (const one of all.toSorted((a, b) => b.count - a.count)) {
    if (total <= linesMax) break;
    unlisted.push(one);
    total -= one.count;
  }
  return unlisted;
}

/** A product without group keys has at least one line on every invoice, a zero line without usage. */
function linesOf({ lines, zeroLine, hasLaterLines }: Collected): UsageLine[] {
  if (lines.length > 0) return inLineOrder(lines);
  return zeroLine === null || hasLaterLines ? [] : [zeroLine];
}

interface Keyed {
  readonly interval: Interval;
  readonly pricingGroupValues: GroupValues;
  readonly presentationGroupValues: GroupValues;
}

/** Orders by start, then by group values. Stable: consecutive tiers of one key keep their order. */
export function inLineOrder<Entry extends Keyed>(entries: readonly Entry[]): Entry[] {
  return entries.toSorted(
    (a, b) =>
      a.interval.start - b.interval.start ||
      compareValues(a.pricingGroupValues, b.pricingGroupValues) ||
      compareValues(a.presentationGroupValues, b.presentationGroupValues),
  );
}

/** Entries with the same start have the same names. */
function compareValues(a: GroupValues, b: GroupValues): number {
  return compareGroupValues(a, b, Object.keys(a).sort());
}
