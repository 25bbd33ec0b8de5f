/** Explains any line of an invoice. Pure. */
import { sum, ZERO } from '../../core/decimal.ts';
import {
  type ConversionLine,
  countsInTotal,
  type InvoiceLine,
  isAppliedLine,
  isConversionLine,
  isSubscriptionLine,
  isUsageLine,
} from '../../core/invoice.ts';
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import { isUnrestricted } from '../balances/buckets.ts';
import type { Claim } from '../balances/draw-down.ts';
import { oneBand } from '../rates/tiers.ts';
import type { ChargeTermsOf } from './charge-terms.ts';
import { explainCharge } from './explain-charge.ts';
import type { CompositeExplainer } from './explain-composite.ts';
import { isPaidByBalance, payerOf, sharedResult, shareOf } from './explain-share.ts';
import type { UsageExplainer } from './explain-usage.ts';
import type { AppliedExplanation, ConversionExplanation, LineExplanation } from './explanation.ts';
import { appliedStep, payerSteps, sumStep, totalStep } from './formula.ts';

export interface LineExplainers {
  readonly usage: UsageExplainer;
  readonly composite: CompositeExplainer;
  readonly charge: ChargeTermsOf;
  /** The balances offered to the invoice, in burn-down order. */
  readonly balances: readonly OfferedBalance[];
  /** How many lines of a consolidated invoice are before those of this invoice. */
  readonly before: number;
}

const UNKNOWN = { kind: 'unknown', formula: [], recomputed: null, share: null } as const;

/** `lines` are all lines of the invoice, and `line` is one of them. */
export function explainLine(
  line: InvoiceLine,
  lines: readonly InvoiceLine[],
  explainers: LineExplainers,
): LineExplanation {
  if (isAppliedLine(line)) return explainApplied(line, lines, explainers) ?? UNKNOWN;
  if (isUsageLine(line)) {
    const isComposite = line.productType === 'COMPOSITE';
    return (isComposite ? explainers.composite(line) : explainers.usage(line)) ?? UNKNOWN;
  }
  if (isConversionLine(line)) return explainConversion(lines, line, explainers) ?? UNKNOWN;
  if (isSubscriptionLine(line)) return explainCharge(line, lines, explainers) ?? UNKNOWN;
  const { quantity, unitPrice } = line;
  return {
    kind: 'scheduled',
    formula: [totalStep(quantity, unitPrice)],
    recomputed: { quantity, unitPrice, total: quantity.times(unitPrice) },
    share: null,
  };
}

/** An applied line follows the line that it deducts from. */
function explainApplied(
  line: InvoiceLine,
  lines: readonly InvoiceLine[],
  explainers: LineExplainers,
): AppliedExplanation | null {
  const index = lines.indexOf(line) - 1;
  const covered = lines[index];
  if (covered === undefined || !isPaidByBalance(covered)) return null;
  const position = explainers.before + index;
  const explained = explainLine(covered, lines, explainers);
  const amount = explained.recomputed?.total ?? covered.total;
  const payer = payerOf(covered, lines, explainers.balances);
  return {
    kind: 'applied',
    covered: { position, name: covered.name, amount },
    formula: [...(payer === null ? [] : payerSteps(payer, amount)), appliedStep(position, amount, covered)],
    recomputed:
      explained.recomputed === null ? null : { quantity: ZERO, unitPrice: ZERO, total: ZERO.minus(amount) },
    share: explained.share,
  };
}

function explainConversion(
  lines: readonly InvoiceLine[],
  line: ConversionLine,
  { balances, before }: LineExplainers,
): ConversionExplanation | null {
  const { convertedCreditTypeId, unitPrice } = line;
  const counted = [...lines.entries()]
    .filter(([, one]) => one.creditTypeId === convertedCreditTypeId && countsInTotal(one))
    .map(([index, { name, total }]) => ({ position: before + index, name, amount: total }));
  const amounts = counted.map(({ amount }) => amount);
  const units = sum(amounts);
  const steps = [sumStep('lines in the unit', amounts, units)];
  const paid = lines
    .filter(isConversionLine)
    .filter(isPaidByBalance)
    .filter((one) => one.convertedCreditTypeId === convertedCreditTypeId);
  if (paid.length === 0) {
    return {
      kind: 'conversion',
      counted,
      share: null,
      formula: [...steps, totalStep(units, unitPrice)],
      recomputed: { quantity: units, unitPrice, total: units.times(unitPrice) },
    };
  }
  const payer = payerOf(line, lines, balances);
  if (line.payer !== null && payer === null) return null;
  const list = oneBand(unitPrice);
  const claim: Claim = {
    key: convertedCreditTypeId,
    interval: line.interval,
    from: ZERO,
    to: units,
    overshoots: false,
    productType: 'FIXED',
    unitPrice,
    ...{ name: line.name, groupValues: '', list },
    claimants: balances
      .filter(
        ({ applicability, creditTypeId, seat }) =>
          seat === null && isUnrestricted(applicability) && creditTypeId === line.creditTypeId,
      )
      .map((bucket) => ({ bucket, bands: list })),
  };
  const share = shareOf({ from: ZERO, to: units, list, claims: [claim], paid }, payer, 1);
  return { kind: 'conversion', counted, ...sharedResult(share, unitPrice, steps) };
}
