/** Explains one charge of a subscription: its lines state its units and the payment of each payer. Pure. */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import {
  type InvoiceLine,
  isAppliedLine,
  isSubscriptionLine,
  type SubscriptionInvoiceLine,
} from '../../core/invoice.ts';
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import type { Bucket } from '../balances/buckets.ts';
import { bandAt, type PriceBands, walkBands } from '../rates/tiers.ts';
import { proratedPrice, roundedPrice } from '../subscriptions/proration.ts';
import { chargeShare } from './charge-share.ts';
import type { ChargeTerms, ChargeTermsOf, WholePrices } from './charge-terms.ts';
import { isPaidByBalance, payerOf, sharedResult } from './explain-share.ts';
import type { ChargeExplanation } from './explanation.ts';
import { firstUnit } from './first-unit.ts';
import { partStep, priceStep, quantityStep, tierStep, totalStep } from './formula.ts';

interface ChargeExplainers {
  readonly charge: ChargeTermsOf;
  readonly balances: readonly OfferedBalance[];
}

/** Null for a charge whose lines do not state where its units begin. */
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
    const { quantity, step } = unitsOf(line, own, price.prices);
    return {
      ...common,
      share: null,
      formula: [...steps, ...step, totalStep(quantity, price.unit)],
      recomputed: { quantity, unitPrice: price.unit, total: quantity.times(price.unit) },
    };
  }
  const share = chargeShare(line, { own, unitPrice: price.unit, payer, balances });
  if (share === null) return null;
  const result = sharedResult(share, price.unit, [], steps, line.payer !== null);
  return line.payer === null || payer !== null
    ? { ...common, ...result }
    : { ...common, ...result, share: null };
}

/** The price of the line. If terms have changed since the invoice was issued, the line itself states the price. */
function explainedPrice(line: SubscriptionInvoiceLine, terms: ChargeTerms | null, payer: Bucket | null) {
  const onLine = { whole: null, partOf: null, unit: line.unitPrice, prices: null, steps: [] };
  const prices = terms === null || (line.payer !== null && payer === null) ? null : terms.pricesFor(payer);
  if (terms === null || prices === null) return onLine;
  const price = priceByTerms(line, terms, prices);
  return terms.areKept || (price.unit.eq(line.unitPrice) && isTierOf(price.whole.band, line))
    ? price
    : onLine;
}

function isTierOf(band: PriceBands[number], { tier }: SubscriptionInvoiceLine): boolean {
  if (tier === null) return !band.isTier;
  const { level, startingAt, size } = band;
  return level === tier.level && startingAt.eq(tier.startingAt) && String(size) === String(tier.size);
}

function priceByTerms(line: SubscriptionInvoiceLine, terms: ChargeTerms, prices: WholePrices) {
  const whole = prices.explain(line.tier?.level ?? null);
  const { price } = whole.band;
  if (!line.isProrated) {
    return { whole, partOf: null, unit: price, prices, steps: [priceStep(whole)] };
  }
  const part = { part: line.interval, whole: terms.whole, rounding: terms.rounding };
  return {
    whole,
    partOf: terms.whole,
    unit: roundedPrice(proratedPrice(price, line.interval, terms.whole), terms.rounding),
    prices,
    steps: [priceStep(whole), partStep(price, part)],
  };
}

/** The units of the line: the units of the charge in its tier. */
function unitsOf(
  line: SubscriptionInvoiceLine,
  own: readonly SubscriptionInvoiceLine[],
  prices: WholePrices | null,
): { readonly quantity: Decimal; readonly step: readonly string[] } {
  const { quantity, tier } = line;
  if (tier === null || prices === null) return { quantity, step: [] };
  const from = firstUnit(own, [])?.from ?? ZERO;
  const to = from.plus(sum(own.map((one) => one.quantity)));
  const bands = prices.bandsFor(to);
  const band = bands.find(({ level }) => level === tier.level) ?? bandAt(bands, to);
  const found = walkBands(bands, from, to).find((slice) => slice.band.level === band.level);
  const units = found?.quantity ?? ZERO;
  return { quantity: units, step: [tierStep(band, from, to, units)] };
}
