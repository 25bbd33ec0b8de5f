/** Summarizes the part of an invoice that balances have paid, in one line. */
import { currencyOf } from '../../core/currencies.ts';
import { type Decimal, ZERO } from '../../core/decimal.ts';
import { isAppliedLine } from '../../core/invoice.ts';
import { printedNumber } from '../../core/printed-values.ts';
import type { DocumentLine, PaymentDocument } from '../document.ts';
import { amountText } from './describe.ts';

/** Maximum balances that are named. */
const BALANCES_MAX = 10;

/** Such as `Covered by balances: Annual commit USD 120.00`; null if they have paid nothing. */
export function coveredText(document: PaymentDocument): string | null {
  const sums = new Map<string, { name: string; unit: string; amount: Decimal }>();
  for (const line of document.lines) {
    const payer = payerOf(line);
    if (payer === null) continue;
    const unit = line.creditTypeId;
    const key = `${payer} ${unit}`;
    const before = sums.get(key)?.amount ?? ZERO;
    const name = document.names.balances.get(payer) ?? 'balance';
    sums.set(key, { name, unit, amount: before.minus(line.total) });
  }
  const all = [...sums.values()].filter(({ amount }) => !amount.eq(ZERO));
  if (all.length === 0) return null;
  const named = all
    .slice(0, BALANCES_MAX)
    .map(({ name, unit, amount }) => `${name} ${textOf(document, unit, amount)}`);
  const further = all.length > BALANCES_MAX ? ` and ${all.length - BALANCES_MAX} further ones` : '';
  return `Covered by balances: ${named.join(', ')}${further}`;
}

/** The balance whose payment an applied line deducts. */
function payerOf(line: DocumentLine): string | null {
  if (!isAppliedLine(line) || !('payer' in line) || line.payer === null) return null;
  return line.payer.commitType === 'POSTPAID' ? null : line.payer.commitId;
}

function textOf(document: PaymentDocument, unit: string, amount: Decimal): string {
  const currency = currencyOf(unit);
  if (currency !== null) return amountText(amount, currency);
  return `${printedNumber(amount)} ${document.names.units.get(unit) ?? 'units'}`;
}
