/**
 * Which units of a charge of a subscription each payer pays for. Pure.
 *
 * The lines of the charge are sufficient: they state the unit price of each payer in each tier. A payer without a line
 * in a tier pays for nothing in it, so its price there does not matter.
 */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import type { LinePayer, SubscriptionInvoiceLine } from '../../core/invoice.ts';
import { ANY_USAGE } from '../../core/terms/applicability.ts';
import type { Bucket } from '../balances/buckets.ts';
import type { Claim } from '../balances/draw-down.ts';
import { oneBand, type PriceBand, type PriceBands } from '../rates/tiers.ts';
import { isPaidByBalance, unitsPaidBy } from './explain-share.ts';
import type { ExplainedShare } from './explanation.ts';
import { firstUnit, unitsIn } from './first-unit.ts';

type CoveredLine = SubscriptionInvoiceLine & { readonly payer: LinePayer };

interface SharedCharge {
  /** The lines of the charge, without applied lines. */
  readonly own: readonly SubscriptionInvoiceLine[];
  /** The recomputed price of a unit of `line`. */
  readonly unitPrice: Decimal;
  readonly payer: ExplainedShare['payer'];
  /** Balances in burn-down order. */
  readonly balances: readonly Bucket[];
}

/** The quantity of `line` in units of the subscription. Null if its lines do not state it (first-unit.ts). */
export function chargeShare(
  line: SubscriptionInvoiceLine,
  { own, unitPrice, payer, balances }: SharedCharge,
): ExplainedShare | null {
  const first = firstUnit(
    own,
    balances.map(({ segmentId }) => segmentId),
  );
  if (first === null) return null;
  const { from, order } = first;
  const paid = own.filter((one): one is CoveredLine => isPaidByBalance(one));
  const to = from.plus(sum(own.map(({ quantity }) => quantity)));
  const isVolume = own.some((one) => one.tier !== null && one.quantity.gt(unitsIn(one.tier, from, to)));
  const bandsOf = (lines: readonly SubscriptionInvoiceLine[]) => {
    const priced = lines.map((one) => (one === line ? { ...one, unitPrice } : one));
    const [only] = priced;
    return isVolume && priced.length === 1 && only !== undefined ? volumeBand(only) : bandsOfLines(priced);
  };
  const list = bandsOf(own.filter((one) => one.payer === null));
  const claim: Claim = {
    ...{ key: line.scheduleItemId, interval: line.interval, from, to, overshoots: false },
    ...{ productType: 'SUBSCRIPTION', unitPrice, name: line.name, groupValues: '' },
    claimants: bucketsOf(paid, balances, order).map((bucket) => ({
      bucket,
      bands: bandsOf(paid.filter((one) => one.payer.segmentId === bucket.segmentId)),
    })),
    list,
  };
  const level = line.tier?.level ?? 1;
  return {
    payer,
    ...unitsPaidBy({ from, to, list, claims: [claim], paid }, line.payer?.segmentId ?? null, level),
  };
}

/** All units at the price of one tier, which the whole quantity reached. */
function volumeBand({ tier, unitPrice }: SubscriptionInvoiceLine): PriceBands {
  const [band] = oneBand(unitPrice);
  return [{ ...band, level: tier?.level ?? 1 }];
}

/** The prices of one payer. Tiers in which it has no line have price 0 here. */
function bandsOfLines(lines: readonly SubscriptionInvoiceLine[]): PriceBands {
  const bands: PriceBand[] = [];
  let end: Decimal | null = ZERO;
  for (const { tier, unitPrice } of lines.toSorted((a, b) => (a.tier?.level ?? 1) - (b.tier?.level ?? 1))) {
    if (tier === null) return oneBand(unitPrice);
    if (bands.at(-1)?.level === tier.level) continue;
    if (end?.lt(tier.startingAt)) bands.push(bandOf(FREE, end, tier.startingAt, ZERO));
    end = tier.size === null ? null : tier.startingAt.plus(tier.size);
    bands.push(bandOf(tier.level, tier.startingAt, end, unitPrice));
  }
  if (end !== null) bands.push(bandOf(FREE, end, null, ZERO));
  const [first, ...others] = bands;
  return first === undefined ? oneBand(ZERO) : [first, ...others];
}

/** No tier has this level. */
const FREE = 0;

function bandOf(level: number, startingAt: Decimal, end: Decimal | null, price: Decimal): PriceBand {
  return { level, startingAt, end, size: end?.minus(startingAt) ?? null, price, isTier: true };
}

/** Distinct buckets in the order of their segments. */
function bucketsOf(
  paid: readonly CoveredLine[],
  balances: readonly Bucket[],
  order: readonly string[],
): Bucket[] {
  const buckets = new Map(paid.map((one) => [one.payer.segmentId, bucketOf(one, balances)]));
  return order.flatMap((segmentId) => buckets.get(segmentId) ?? []);
}

function bucketOf({ payer, creditTypeId, interval }: CoveredLine, balances: readonly Bucket[]): Bucket {
  return (
    balances.find(({ segmentId }) => segmentId === payer.segmentId) ?? {
      ...{ id: payer.commitId, recurringId: null, segmentId: payer.segmentId, commitType: payer.commitType },
      ...{ name: '', creditTypeId, rateType: 'LIST_RATE', applicability: ANY_USAGE, access: interval },
    }
  );
}
