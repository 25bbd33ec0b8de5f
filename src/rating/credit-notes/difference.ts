/** The amount by which an invoice would be less today, as lines of a credit note. Pure. */
import { type Decimal, maximum, minimum, sum, ZERO } from '../../core/decimal.ts';
import { invalid } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import type { CreditBook, OpenLine } from './credit-book.ts';
import type { TakenBack } from './credit-lines.ts';
import { spread } from './spread.ts';

/**
 * Line by line. The increases of other lines, and of discounts, are deducted
 * from the lines that would be less, in proportion. Balances get back what they paid of the lines if they would pay less. Refuses (`invalid`, at
 * `differenceToRegenerated`) an invoice that would be more today, or the same.
 *
 * `now`: the book of the invoice computed again, with the same id.
 */
export function creditDifference(book: CreditBook, now: CreditBook): TakenBack[] {
  const less = book.money.minus(now.payable);
  if (less.lt(ZERO)) {
    throw invalid(
      ['differenceToRegenerated'],
      `the invoice would be ${ZERO.minus(less).toFixed()} more today: nothing is credited, and a charge can add it`,
    );
  }
  const after = new Map(now.lines.map((line) => [line.id, line]));
  const isMoney = ({ paidBy }: OpenLine) => paidBy === 'money';
  const money = taken(book, book.lines.filter(isMoney), after, less);
  const balances = groupBy(
    book.lines.filter((line) => !isMoney(line)),
    payerOf,
  );
  const laterOf = groupBy(
    now.lines.filter((line) => !isMoney(line)),
    payerOf,
  );
  const back = [...balances].flatMap(([payer, lines]) => {
    const later = sum((laterOf.get(payer) ?? []).map(({ amount }) => amount));
    const before = sum(lines.map(({ left }) => left));
    return taken(book, lines, after, maximum(before.minus(later), ZERO));
  });
  const byId = new Map([...money, ...back].map((one) => [one.line.id, one]));
  const found = book.lines.flatMap(({ id }) => byId.get(id) ?? []);
  if (found.length > 0) return found;
  throw invalid(['differenceToRegenerated'], 'the invoice would be the same today: nothing is credited');
}

function payerOf({ payer }: OpenLine): string {
  return `${payer?.commitId} ${payer?.segmentId}`;
}

/** `amount` of the lines that would be less; if that is not enough, of what is left of all of them. */
function taken(
  { places }: CreditBook,
  lines: readonly OpenLine[],
  after: ReadonlyMap<string, OpenLine>,
  amount: Decimal,
): TakenBack[] {
  const less = lines.map((line) => {
    const later = after.get(line.id);
    const isSame = later?.paidBy === line.paidBy;
    return maximum(line.left.minus(isSame ? later.amount : ZERO), ZERO);
  });
  const first = minimum(amount, sum(less));
  const amounts = spread(first, less, places);
  const left = lines.map((line, index) => line.left.minus(amounts[index] ?? ZERO));
  const further = spread(minimum(amount.minus(first), sum(left)), left, places);
  return lines.flatMap((line, index) => {
    const own = (amounts[index] ?? ZERO).plus(further[index] ?? ZERO);
    return own.gt(ZERO) ? [{ line, amount: own, quantity: null }] : [];
  });
}
