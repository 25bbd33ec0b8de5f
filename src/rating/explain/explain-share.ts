/**
 * Which units of a counter each payer pays for. Pure.
 *
 * It is computed counter by counter: the lines state what a balance paid of this counter, which shows how far it
 * reached among the balances that may pay. The other counters of the invoice are not needed.
 */
import { type Decimal, maximum, minimum, sum, ZERO } from '../../core/decimal.ts';
import {
  type InvoiceLine,
  isAppliedLine,
  type LinePayer,
  type UsageInvoiceLine,
} from '../../core/invoice.ts';
import type { OfferedBalance } from '../../core/invoice-balances.ts';
import { contains, type Interval } from '../../core/time.ts';
import { createBalanceBook } from '../balances/balance-book.ts';
import { isOfSeat, scheduleSegmentId } from '../balances/buckets.ts';
import type { ClaimedSegment } from '../balances/coverage.ts';
import { type Claim, type CoveredClaim, drawDown } from '../balances/draw-down.ts';
import { paidBands, walkPaidBands } from '../balances/paid-bands.ts';
import { overridesOfKey, type PricedKey, termsSpans } from '../rates/line-terms.ts';
import type { OverrideIndex } from '../rates/override-index.ts';
import { type RateBook, rateAt } from '../rates/rate-schedule.ts';
import { type PriceBands, walkBands } from '../rates/tiers.ts';
import { explainPrice } from './explain-price.ts';
import type { ExplainedPayer, ExplainedPrice, ExplainedShare } from './explanation.ts';
import { payerSteps, priceStep, shareStep, shareTotalStep, tierStep, totalStep } from './formula.ts';

/** The fields of a line that identify the payer and the amount. */
type PayableLine = Pick<UsageInvoiceLine, 'payer' | 'total'> & Partial<GroupedLine>;

type GroupedLine = Pick<UsageInvoiceLine, 'pricingGroupValues' | 'presentationGroupValues'>;

/** A line that a balance pays for. */
type PaidLine<Line> = Line & { readonly payer: LinePayer };

export function isPaidByBalance<Line extends InvoiceLine>(line: Line): line is PaidLine<Line> {
  return 'payer' in line && line.payer !== null && !isAppliedLine(line);
}

/** A stretch of time of a counter with one line for each payer and tier. */
export interface SharedCounter {
  readonly from: Decimal;
  readonly to: Decimal;
  /** The customer's prices. */
  readonly list: PriceBands;
  /** Claims in this time. */
  readonly claims: readonly Claim[];
  /** The covered lines of this time. */
  readonly paid: readonly PaidLine<Pick<UsageInvoiceLine, 'interval' | 'total'>>[];
}

/** The part of the counter that a line charges. `payer` null: the customer. `level`: the tier. */
export function shareOf(counter: SharedCounter, payer: ExplainedPayer | null, level: number): ExplainedShare {
  return { payer, ...unitsPaidBy(counter, payer?.balance.segmentId ?? null, level) };
}

/** The units paid by the balance with this segment; null: by the customer. */
export function unitsPaidBy(
  { from, to, list, claims, paid }: SharedCounter,
  segmentId: string | null,
  level: number,
): Omit<ExplainedShare, 'payer'> {
  const coverings = coveredClaims(claims, paid).flatMap((one) => one.coverings);
  const slices = walkPaidBands(paidBands(list, coverings), from, to).filter(
    ({ band }) => (band.payer?.segmentId ?? null) === segmentId && band.band.level === level,
  );
  const [low, high] = [minimum(from, to), maximum(from, to)];
  return {
    stretches: slices.map(({ band: { lower, upper }, amount }) => ({
      from: lower === null ? low : maximum(low, lower),
      to: upper === null ? high : minimum(high, upper),
      amount,
    })),
    quantity: sum(slices.map(({ quantity }) => quantity)),
    total: sum(slices.map(({ amount }) => amount)),
  };
}

/** The parts that balances cover, with the amounts that they paid. */
function coveredClaims(claims: readonly Claim[], paid: SharedCounter['paid']): CoveredClaim[] {
  const buckets = new Map(
    claims.flatMap(({ claimants }) => claimants.map(({ bucket }) => [bucket.segmentId, bucket])),
  );
  const booked = [...buckets.values()].map((bucket) => {
    const own = paid.filter(({ payer }) => payer.segmentId === scheduleSegmentId(bucket));
    return { ...bucket, contractIds: null, source: null, left: sum(own.map(({ total }) => total)) };
  });
  return drawDown(claims, createBalanceBook(booked));
}

/** The balance of a line with its place in the order. Null if the customer pays, or if the balance is unknown. */
export function payerOf(
  line: PayableLine,
  lines: readonly InvoiceLine[],
  balances: readonly OfferedBalance[],
): ExplainedPayer | null {
  const { total } = line;
  const index = balances.findIndex((one) => isPaidFrom(one, line));
  const balance = balances[index];
  if (balance === undefined) return null;
  const own = lines.filter(isPaidByBalance).filter((one) => isPaidFrom(balance, one));
  const all = sum(own.map((line) => line.total));
  const taken = total.lt(ZERO) ? ZERO.minus(total) : total;
  return {
    balance,
    place: index + 1,
    placeCount: balances.length,
    before: balances[index - 1] ?? null,
    takenByOthers: all.minus(taken),
    left: balance.left.minus(all),
  };
}

/** If the segment is divided among seats: the share of the line's seat. */
function isPaidFrom(
  balance: OfferedBalance,
  line: Pick<PayableLine, 'payer'> & Partial<GroupedLine>,
): boolean {
  if (scheduleSegmentId(balance) !== line.payer?.segmentId) return false;
  const { pricingGroupValues = {}, presentationGroupValues = {} } = line;
  return balance.seat === null || isOfSeat(balance.seat, { pricingGroupValues, presentationGroupValues });
}

/** The claims that lie in a stretch of time. */
export function claimsIn(time: Interval, segments: readonly ClaimedSegment[]): Claim[] {
  return segments.flatMap(({ claims }) => claims).filter(({ interval }) => contains(time, interval.start));
}

interface PricedLine {
  readonly line: Pick<UsageInvoiceLine, 'interval' | 'tier'>;
  readonly priced: PricedKey;
  readonly rates: RateBook;
  readonly overrides: OverrideIndex;
}

/** The price at which a balance pays, from when it first pays for units of the line's tier. Null: it pays for none. */
export function priceOfPayer(
  { line: { interval, tier }, priced, rates, overrides }: PricedLine,
  { claims, paid }: Pick<SharedCounter, 'claims' | 'paid'>,
  { balance }: ExplainedPayer,
): ExplainedPrice | null {
  const at = coveredClaims(claims, paid).find(({ coverings }) =>
    coverings.some(
      ({ payer, band }) => payer.segmentId === balance.segmentId && band.level === (tier?.level ?? 1),
    ),
  )?.claim.interval.start;
  if (at === undefined) return null;
  const terms = termsSpans(rates, overrides, priced, interval, balance).find((span) =>
    contains(span.interval, at),
  )?.terms;
  if (terms === null || terms === undefined) return null;
  const usesCommitRate =
    balance.rateType === 'COMMIT_RATE' &&
    (rateAt(rates, priced.pricingGroupValues, at)?.commitRate ?? null) !== null;
  const decision = overridesOfKey(overrides, priced, { ...balance, usesCommitRate }).decisionAt(at);
  return explainPrice(terms, decision, tier?.level ?? null, usesCommitRate);
}

/** The steps and the result of a line that the customer pays alone: the part of the counter in its tier. */
export function tierResult(
  bands: PriceBands,
  { from, to }: Pick<SharedCounter, 'from' | 'to'>,
  price: ExplainedPrice,
  steps: readonly string[],
) {
  const slice = walkBands(bands, from, to).find(({ band }) => band.level === price.band.level);
  const quantity = slice?.quantity ?? ZERO;
  const unitPrice = price.band.price;
  return {
    formula: [
      ...steps,
      tierStep(slice?.band ?? price.band, from, to, quantity),
      priceStep(price),
      totalStep(quantity, unitPrice),
    ],
    recomputed: { quantity, unitPrice, total: quantity.times(unitPrice) },
  };
}

/** The steps and the result of a line that charges a share. `steps` lead to the counter, `ofPrice` to the unit price. */
export function sharedResult(
  share: ExplainedShare,
  unitPrice: Decimal,
  steps: readonly string[],
  ofPrice: readonly string[] = [],
  isCovered = share.payer !== null,
) {
  const { payer, quantity, total } = share;
  return {
    share,
    formula: [
      ...steps,
      ...(payer === null ? [] : payerSteps(payer, total)),
      shareStep(share, isCovered),
      ...ofPrice,
      shareTotalStep(share, unitPrice),
    ],
    recomputed: { quantity, unitPrice, total },
  };
}
