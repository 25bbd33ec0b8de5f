/** Explains any line of an invoice. Pure. */
import { sum } from '../../core/decimal.ts';
import { type ConversionLine, type InvoiceLine, isConversionLine, isUsageLine } from '../../core/invoice.ts';
import { lineKeyText } from '../balances/usage-claims.ts';
import type { CompositeExplainer } from './explain-composite.ts';
import type { UsageExplainer } from './explain-usage.ts';
import type { ConversionExplanation, LineExplanation } from './explanation.ts';
import { sumStep, totalStep } from './formula.ts';

export interface LineExplainers {
  readonly usage: UsageExplainer;
  readonly composite: CompositeExplainer;
}

const UNKNOWN = { kind: 'unknown', formula: [], recomputed: null } as const;

/** `lines` are all lines of the invoice. */
export function explainLine(
  line: InvoiceLine,
  lines: readonly InvoiceLine[],
  explainers: LineExplainers,
): LineExplanation {
  if (isPartlyPaid(line, lines)) return UNKNOWN;
  if (isUsageLine(line)) {
    const isComposite = line.productType === 'COMPOSITE';
    return (isComposite ? explainers.composite(line) : explainers.usage(line)) ?? UNKNOWN;
  }
  const { quantity, unitPrice } = line;
  const formula = [totalStep(quantity, unitPrice)];
  if (isConversionLine(line)) return explainConversion(lines, line);
  return {
    kind: 'scheduled',
    formula,
    recomputed: { quantity, unitPrice, total: quantity.times(unitPrice) },
  };
}

/** What balances pay of a counter, and the rest of it, is not explained yet. */
function isPartlyPaid(line: InvoiceLine, lines: readonly InvoiceLine[]): boolean {
  if (isConversionLine(line)) {
    return lines.some(
      (one) =>
        isConversionLine(one) &&
        one.payer !== null &&
        one.convertedCreditTypeId === line.convertedCreditTypeId,
    );
  }
  if (!isUsageLine(line)) return false;
  const key = lineKeyText(line);
  return lines.some(
    (one) =>
      isUsageLine(one) && one.payer !== null && one.productId === line.productId && lineKeyText(one) === key,
  );
}

function explainConversion(
  lines: readonly InvoiceLine[],
  { convertedCreditTypeId, unitPrice }: ConversionLine,
): ConversionExplanation {
  const counted = [...lines.entries()]
    .filter(([, { creditTypeId }]) => creditTypeId === convertedCreditTypeId)
    .map(([position, { name, total }]) => ({ position, name, amount: total }));
  const amounts = counted.map(({ amount }) => amount);
  const quantity = sum(amounts);
  return {
    kind: 'conversion',
    counted,
    formula: [sumStep('lines in the unit', amounts, quantity), totalStep(quantity, unitPrice)],
    recomputed: { quantity, unitPrice, total: quantity.times(unitPrice) },
  };
}
