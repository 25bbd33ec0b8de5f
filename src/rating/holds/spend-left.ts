/**
 * The spend of a draft that counts towards the spend limit of its contract (docs/explanation/holds.md, "Spend limits").
 * Pure.
 */
import { sum } from '../../core/decimal.ts';
import { countsInTotal, isConversionLine, isUsageLine } from '../../core/invoice.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { Interval } from '../../core/time.ts';
import type { RatedLine } from '../lines/types.ts';
import { periodKey } from './charged-slot.ts';
import type { LimitLeft } from './hold-book.ts';

/** The limit as of a draft of the contract. Null: the contract has none. */
export function spendLeft(
  { id, spendLimit }: Pick<Contract, 'id' | 'spendLimit'>,
  period: Interval,
  lines: readonly RatedLine[],
  fiatCreditTypeId: string,
): LimitLeft | null {
  if (spendLimit === null) return null;
  const creditTypeId = spendLimit.creditTypeId ?? fiatCreditTypeId;
  const charged = lines.filter(
    (line) =>
      line.creditTypeId === creditTypeId &&
      (isUsageLine(line) || isConversionLine(line)) &&
      countsInTotal(line),
  );
  return {
    period: periodKey(id, period.start),
    resetsAt: period.end,
    creditTypeId,
    limit: spendLimit.amount,
    spent: sum(charged.map(({ total }) => total)),
  };
}
