/**
 * Reduces any number of lines to a provider's limit (docs/explanation/payments.md, "More than 250 lines"),
 * deterministically. Nothing is left out: lines that do not fit are part of a sum.
 */
import { formatInstant } from '../../core/time.ts';
import { byGroup, type ReadableLine, sumOf } from './readable-lines.ts';

export interface FittedLines {
  readonly lines: readonly ReadableLine[];
  /** Whether some lines are sums of several. */
  readonly isGrouped: boolean;
}

/** By product and month, if that is few enough; else by product; else the last ones are summed. */
export function fitLines(lines: readonly ReadableLine[], max: number): FittedLines {
  if (lines.length <= max) return { lines, isGrouped: false };
  const monthly = byGroup(lines, (line) => `${line.group} ${monthOf(line)}`).map(withMonth);
  if (monthly.length <= max) return { lines: monthly, isGrouped: true };
  const products = byGroup(lines, ({ group }) => group);
  if (products.length <= max) return { lines: products, isGrouped: true };
  const rest = products.slice(max - 1);
  const text = `${rest.length} further products`;
  const others = { ...sumOf(rest), id: 'group-others', productId: null, group: 'others', text };
  return { lines: [...products.slice(0, max - 1), others], isGrouped: true };
}

function monthOf({ interval }: ReadableLine): string {
  return formatInstant(interval.start).slice(0, 7);
}

function withMonth(line: ReadableLine): ReadableLine {
  return line.id.startsWith('group-') ? { ...line, text: `${line.text} · ${monthOf(line)}` } : line;
}
