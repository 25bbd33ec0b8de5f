/** Identities of invoice lines. */
import { derivedId } from '../../core/ids.ts';
import {
  type InvoiceLine,
  isAppliedLine,
  isConversionLine,
  isSubscriptionLine,
  isUsageLine,
} from '../../core/invoice.ts';
import { lineIdParts } from './rate-usage.ts';

/**
 * The id of a line: derived from its invoice and from the subject of the line, so that every recomputation, the issued
 * invoice and all windows of the breakdown have the same id. On a consolidated invoice the subject is a line of another
 * invoice.
 */
export function lineId(invoiceId: string, line: InvoiceLine): string {
  const { origin } = line;
  const owned = origin === undefined ? [] : ['consolidated', origin.invoiceId];
  return derivedId('invoice-line', invoiceId, ...owned, ...partsOf(line));
}

function partsOf(line: InvoiceLine): string[] {
  if (isUsageLine(line)) return lineIdParts(line);
  if (isSubscriptionLine(line)) {
    const { type, scheduleItemId, payer, tier } = line;
    return [`${type}-line`, scheduleItemId, payer?.segmentId ?? '', String(tier?.level ?? 1)];
  }
  if (!isConversionLine(line)) return ['scheduled-line', line.scheduleItemId];
  const { payer, convertedCreditTypeId } = line;
  if (payer === null) return ['conversion-line', convertedCreditTypeId];
  const kind = isAppliedLine(line) ? 'applied-conversion-line' : 'covered-conversion-line';
  return [kind, convertedCreditTypeId, payer.segmentId];
}
