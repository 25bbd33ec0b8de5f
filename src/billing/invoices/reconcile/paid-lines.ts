/**
 * Compares an issued invoice that balances have paid for with a recomputation without balances. What is kept with an
 * invoice does not say what balances had then, so covered lines and rests are added up by product and group values.
 * Pure.
 */
import { type Decimal, sum, ZERO } from '../../../core/decimal.ts';
import { groupBy } from '../../../core/group-by.ts';
import {
  type Invoice,
  type InvoiceLine,
  isAppliedLine,
  isScheduledLine,
  isUsageLine,
  type UsageInvoiceLine,
} from '../../../core/invoice.ts';
import { type Difference, differencesOf } from './difference.ts';
import { usageKeyOf } from './sums.ts';

/** What of an issued invoice was compared here. */
export interface SplitLines {
  /** Lines in which balances have a part. The others must be equal one by one. */
  readonly isPaid: (line: InvoiceLine) => boolean;
  readonly differences: readonly Difference[];
}

/** Lines of a key of which balances paid nothing are not looked at, and nor are conversions of such units. */
export function comparePaidLines(
  invoice: Pick<Invoice, 'id' | 'contractId' | 'lines'>,
  recomputed: readonly InvoiceLine[],
  leftOut: ReadonlySet<string>,
): SplitLines {
  const payable = invoice.lines.filter((line) => !isScheduledLine(line));
  const covered = payable.filter((line) => line.payer !== null && !isAppliedLine(line));
  const keys = new Set(covered.filter(isUsageLine).map(usageKeyOf));
  const units = new Set(
    covered.flatMap((line) => (isUsageLine(line) ? line.creditTypeId : line.convertedCreditTypeId)),
  );
  const isPaid = (line: InvoiceLine) => {
    if (isScheduledLine(line)) return false;
    return isUsageLine(line) ? keys.has(usageKeyOf(line)) : units.has(line.convertedCreditTypeId);
  };
  const linesOf = (lines: readonly InvoiceLine[]) =>
    groupBy(
      lines.filter(isUsageLine).filter((line) => !isAppliedLine(line) && !leftOut.has(line.productId)),
      usageKeyOf,
    );
  const [issued, now] = [linesOf(invoice.lines), linesOf(recomputed)];
  return {
    isPaid,
    differences: [...keys].flatMap((key) => compareKey(invoice, issued.get(key) ?? [], now.get(key) ?? [])),
  };
}

/** The quantity, and the total unless a payer has a price of its own. */
function compareKey(
  invoice: Pick<Invoice, 'id' | 'contractId' | 'lines'>,
  issued: readonly UsageInvoiceLine[],
  recomputed: readonly UsageInvoiceLine[],
): Difference[] {
  const [first] = issued;
  if (first === undefined) return [];
  const position = invoice.lines.indexOf(first);
  const fields = samePrices(issued, recomputed) ? (['quantity', 'total'] as const) : (['quantity'] as const);
  return fields.flatMap((field) => {
    const [expected, found] = [
      sum(recomputed.map((line) => line[field])),
      sum(issued.map((line) => line[field])),
    ];
    if (expected.eq(found)) return [];
    const message = 'the covered lines and their rest are not what the events give';
    return [differencesOf(invoice)('recomputed_line', message, { position, field, expected, found })];
  });
}

/** Whether as much was counted at each price of each tier. */
function samePrices(issued: readonly UsageInvoiceLine[], recomputed: readonly UsageInvoiceLine[]): boolean {
  const [then, now] = [quantities(issued), quantities(recomputed)];
  return [...new Set([...then.keys(), ...now.keys()])].every((key) =>
    (then.get(key) ?? ZERO).eq(now.get(key) ?? ZERO),
  );
}

function quantities(lines: readonly UsageInvoiceLine[]): Map<string, Decimal> {
  const byPrice = groupBy(lines, ({ tier, unitPrice }) => `${tier?.level ?? 0} ${unitPrice.toFixed()}`);
  return new Map([...byPrice].map(([key, own]) => [key, sum(own.map(({ quantity }) => quantity))]));
}
