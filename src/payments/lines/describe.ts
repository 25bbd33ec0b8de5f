/** The texts of lines for customers. */
import type { Currency } from '../../core/currencies.ts';
import { inMajorUnits } from '../../core/currencies.ts';
import { type Decimal, ONE, ZERO } from '../../core/decimal.ts';
import { isAppliedLine, isConversionLine } from '../../core/invoice.ts';
import { printedNumber, printedQuantity } from '../../core/printed-values.ts';
import type { DocumentLine, PaymentDocument } from '../document.ts';

/** The name, with the group values and tier that distinguish the line from others of its product. */
export function describeLine(name: string, line: DocumentLine): string {
  const groups =
    'pricingGroupValues' in line
      ? Object.entries({ ...line.pricingGroupValues, ...line.presentationGroupValues })
      : [];
  const parts = [
    line.type === 'minimum' ? `${name} (minimum)` : name,
    ...groups.map(([key, value]) => `${key}: ${value}`),
    ...('tier' in line && line.tier !== null ? [`tier ${line.tier.level}`] : []),
  ];
  return parts.join(' · ');
}

/** Such as `1,250 × USD 0.0003`; null for a single unit, and without a quantity. */
export function describeFigures(document: PaymentDocument, line: DocumentLine): string | null {
  if (line.type === 'minimum' || isAppliedLine(line) || line.quantity.eq(ZERO)) return null;
  if (line.quantity.eq(ONE) && !isConversionLine(line)) return null;
  const unit = isConversionLine(line) ? document.names.units.get(line.convertedCreditTypeId) : undefined;
  const quantity = printedQuantity(line.quantity);
  const price = amountText(line.unitPrice, document.currency);
  return `${quantity}${unit === undefined ? '' : ` ${unit}`} × ${price}`;
}

/** `USD 12.50`, with all digits of the amount. */
export function amountText(stored: Decimal, currency: Currency): string {
  return `${currency.code} ${printedNumber(inMajorUnits(stored, currency), currency.minorUnitPlaces)}`;
}
