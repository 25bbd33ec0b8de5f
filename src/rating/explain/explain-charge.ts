/**
 * Explains the charges of subscriptions, a charge alone: its lines say how many units it has and what each payer pays.
 * Pure.
 */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import {
  type InvoiceLine,
  isAppliedLine,
  isSubscriptionLine,
  type LinePayer,
  type SubscriptionInvoiceLine,
} from '../../core/invoice.ts';
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import { ANY_USAGE } from '../../core/terms/applicability.ts';
import type { Bucket } from '../balances/buckets.ts';
import type { Claim } from '../balances/draw-down.ts';
import { bandAt, oneBand, type PriceBands, walkBands } from '../rates/tiers.ts';
import { proratedPrice, roundedPrice } from '../subscriptions/proration.ts';
import type { ChargeTerms, ChargeTermsOf } from './charge-terms.ts';
import { isPaidByBalance, payerOf, unitsPaidBy } from './explain-share.ts';
import type { ChargeExplanation, ExplainedShare } from './explanation.ts';
import {
  partStep,
  payerSteps,
  priceStep,
  quantityStep,
  shareStep,
  shareTotalStep,
  tierStep,
  totalStep,
} from './formula.ts';

interface ChargeExplainers {
  readonly charge: ChargeTermsOf;
  readonly balances: readonly OfferedBalance[];
}

/** Null for a charge in tiers that balances pay a part of. */
export function explainCharge(
  line: SubscriptionInvoiceLine,
  lines: readonly InvoiceLine[],
  { charge, balances }: ChargeExplainers,
): ChargeExplanation | null {
  const own = lines
    .filter(isSubscriptionLine)
    .filter((one) => one.scheduleItemId === line.scheduleItemId && !isAppliedLine(one));
  const terms = charge(line);
  const payer = payerOf(line, lines, balances);
  const price = explainedPrice(line, terms, payer?.balance ?? null);
  const steps = [
    ...(terms === null || terms.steps === null ? [] : [quantityStep(terms.steps)]),
    ...price.steps,
  ];
  const common = { kind: 'subscription', price: price.whole, partOf: price.partOf } as const;
  if (!own.some(isPaidByBalance)) {
    const { quantity, step } = unitsOf(line, own, price.bands);
    return {
      ...common,
      share: null,
      formula: [...steps, ...step, totalStep(quantity, price.unit)],
      recomputed: { quantity, unitPrice: price.unit, total: quantity.times(price.unit) },
    };
  }
  if (own.some(({ tier }) => tier !== null)) return null;
  const share = chargeShare(line, own, price.unit, { payer, balances });
  const { quantity, total } = share;
  const isKnown = line.payer === null || payer !== null;
  return {
    ...common,
    share: isKnown ? share : null,
    formula: [
      ...(payer === null ? [] : payerSteps(payer, total)),
      shareStep(share, line.payer !== null),
      ...steps,
      shareTotalStep(share, price.unit),
    ],
    recomputed: { quantity, unitPrice: price.unit, total },
  };
}

/** Of the line; that of an issued scheduled invoice is kept on its line alone. */
function explainedPrice(line: SubscriptionInvoiceLine, terms: ChargeTerms | null, payer: Bucket | null) {
  const prices = terms === null || (line.payer !== null && payer === null) ? null : terms.pricesFor(payer);
  if (terms === null || prices === null) {
    return { whole: null, partOf: null, unit: line.unitPrice, bands: null, steps: [] };
  }
  const whole = prices.explain(line.tier?.level ?? null);
  const { price } = whole.band;
  if (!line.isProrated) {
    return { whole, partOf: null, unit: price, bands: prices.bands, steps: [priceStep(whole)] };
  }
  const part = { part: line.interval, whole: terms.whole, rounding: terms.rounding };
  return {
    whole,
    partOf: terms.whole,
    unit: roundedPrice(proratedPrice(price, line.interval, terms.whole), terms.rounding),
    bands: prices.bands,
    steps: [priceStep(whole), partStep(price, part)],
  };
}

/** The units of the line: those of the charge that lie in its tier. */
function unitsOf(
  line: SubscriptionInvoiceLine,
  own: readonly SubscriptionInvoiceLine[],
  bands: PriceBands | null,
): { readonly quantity: Decimal; readonly step: readonly string[] } {
  const { quantity, tier } = line;
  if (tier === null || bands === null) return { quantity, step: [] };
  const from = levelOf(own);
  const to = from.plus(sum(own.map((one) => one.quantity)));
  const band = bands.find(({ level }) => level === tier.level) ?? bandAt(bands, to);
  const found = walkBands(bands, from, to).find((slice) => slice.band.level === band.level);
  const units = found?.quantity ?? ZERO;
  return { quantity: units, step: [tierStep(band, from, to, units)] };
}

/** How many units are below those of the charge: where its first tier ends, less what it has in that. */
function levelOf(own: readonly SubscriptionInvoiceLine[]): Decimal {
  const [first] = own.toSorted((a, b) => (a.tier?.level ?? 0) - (b.tier?.level ?? 0));
  if (first === undefined || first.tier === null) return ZERO;
  const { startingAt, size } = first.tier;
  // In one tier it does not matter where.
  return own.length === 1 || size === null ? startingAt : startingAt.plus(size).minus(first.quantity);
}

type CoveredLine = SubscriptionInvoiceLine & { readonly payer: LinePayer };

/** Which of the units of the charge, counted from 0, the line is for. Those of the balances come first. */
function chargeShare(
  line: SubscriptionInvoiceLine,
  own: readonly SubscriptionInvoiceLine[],
  unitPrice: Decimal,
  { payer, balances }: { readonly payer: ExplainedShare['payer']; readonly balances: readonly Bucket[] },
): ExplainedShare {
  const paid = own.filter((one): one is CoveredLine => isPaidByBalance(one));
  const rest = own.find((one) => one.payer === null);
  const units = sum(own.map(({ quantity }) => quantity));
  const priceOf = (one: SubscriptionInvoiceLine) => (one === line ? unitPrice : one.unitPrice);
  const claim: Claim = {
    ...{ key: line.scheduleItemId, interval: line.interval, from: ZERO, to: units, overshoots: false },
    ...{ productType: 'SUBSCRIPTION', unitPrice, name: line.name, groupValues: '' },
    claimants: paid.map((one) => ({ bucket: bucketOf(one, balances), bands: oneBand(priceOf(one)) })),
  };
  const list = oneBand(priceOf(rest ?? line));
  const counter = { from: ZERO, to: units, list, claims: [claim], paid };
  return { payer, ...unitsPaidBy(counter, line.payer?.segmentId ?? null, 1) };
}

function bucketOf({ payer, creditTypeId, interval }: CoveredLine, balances: readonly Bucket[]): Bucket {
  return (
    balances.find(({ segmentId }) => segmentId === payer.segmentId) ?? {
      ...{ id: payer.commitId, recurringId: null, segmentId: payer.segmentId, commitType: payer.commitType },
      ...{ name: '', creditTypeId, rateType: 'LIST_RATE', applicability: ANY_USAGE, access: interval },
    }
  );
}
