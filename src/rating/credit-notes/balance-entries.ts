/** The changes of balances by a credit note (docs/explanation/credit-notes.md, "Balances"). Pure. */
import type { CreditNoteEntry, CreditNoteLine } from '../../core/credit-note.ts';
import { type Decimal, minimum, sum, ZERO } from '../../core/decimal.ts';
import { groupBy } from '../../core/group-by.ts';
import { spread } from './spread.ts';

/** The amount that the invoice took from a segment, or from the share of a seat in it, and did not give back. */
export interface TakenFromBalance {
  readonly commitId: string;
  /** The segment of the access schedule, which lines name. */
  readonly scheduleSegmentId: string;
  /** The segment, or the share of a seat. */
  readonly segmentId: string;
  readonly left: Decimal;
}

/** One for each segment or share. Shares of several seats get theirs back in their order. */
export function returnedEntries(
  lines: readonly Pick<CreditNoteLine, 'payer' | 'givenBack'>[],
  taken: readonly TakenFromBalance[],
): CreditNoteEntry[] {
  const paid = lines.flatMap(({ payer, givenBack }) => (payer === null ? [] : [{ payer, givenBack }]));
  const byPayer = groupBy(paid, ({ payer }) => `${payer.commitId} ${payer.segmentId}`);
  const sources = groupBy(taken, (one) => `${one.commitId} ${one.scheduleSegmentId}`);
  return [...byPayer].flatMap(([key, parts]) => {
    let rest = sum(parts.map(({ givenBack }) => givenBack));
    return (sources.get(key) ?? []).flatMap(({ commitId, segmentId, left }) => {
      const amount = minimum(rest, left);
      rest = rest.minus(amount);
      return amount.gt(ZERO) ? [{ commitId, segmentId, amount }] : [];
    });
  });
}

interface PurchaseCut {
  /** The whole access schedule, and the whole cost of the purchase. */
  readonly access: Decimal;
  readonly cost: Decimal;
  /** The money of the purchase that standing notes and this one take back. */
  readonly credited: Decimal;
  /** The access that standing notes have cut. */
  readonly cutBefore: Decimal;
}

/** The access that the credited part of a commit's purchase has paid for. */
export function accessCut({ access, cost, credited, cutBefore }: PurchaseCut): Decimal {
  const all = credited.gte(cost) ? access : access.times(credited).div(cost);
  return all.minus(cutBefore);
}

/** `cut` is at most the sum of what is left in the segments. */
export function cutEntries(
  commitId: string,
  segments: readonly { readonly segmentId: string; readonly left: Decimal }[],
  cut: Decimal,
): CreditNoteEntry[] {
  const amounts = spread(
    cut,
    segments.map(({ left }) => left),
    0,
  );
  return segments.flatMap(({ segmentId }, index) => {
    const amount = amounts[index] ?? ZERO;
    return amount.gt(ZERO) ? [{ commitId, segmentId, amount: ZERO.minus(amount) }] : [];
  });
}
