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
import { contains, type Instant, type Interval } from '../../core/time.ts';
import { createBalanceBook } from '../balances/balance-book.ts';
import { isOfSeat, scheduleSegmentId } from '../balances/buckets.ts';
import type { ClaimedSegment } from '../balances/coverage.ts';
import { type Claim, type CoveredClaim, drawDown } from '../balances/draw-down.ts';
import { paidBands, walkPaidBands } from '../balances/paid-bands.ts';
import type { GroupValues } from '../quantities/group-values.ts';
import { type RateBook, rateAt } from '../rates/rate-schedule.ts';
import type { PriceBands } from '../rates/tiers.ts';
import type { ExplainedPayer, ExplainedPrice, ExplainedShare } from './explanation.ts';
import { payerSteps, priceStep, shareStep, shareTotalStep } from './formula.ts';

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

/** When the balance first pays for units of the tier: the instant of its price. */
export function firstPaidAt(
  { segmentId }: OfferedBalance,
  { claims, paid }: Pick<SharedCounter, 'claims' | 'paid'>,
  level: number,
): Instant | undefined {
  return coveredClaims(claims, paid).find(({ coverings }) =>
    coverings.some(({ payer, band }) => payer.segmentId === segmentId && band.level === level),
  )?.claim.interval.start;
}

/** Whether the card has a commit rate that applies to usage paid by the balance. */
export function usesCommitRate(
  rates: RateBook,
  values: GroupValues,
  at: Instant,
  { rateType }: OfferedBalance,
): boolean {
  return rateType === 'COMMIT_RATE' && (rateAt(rates, values, at)?.commitRate ?? null) !== null;
}

/** The steps and the result of a line that charges a share. `steps` lead to the counter. */
export function sharedResult(share: ExplainedShare, price: ExplainedPrice, steps: readonly string[]) {
  const { payer, quantity, total } = share;
  const unitPrice = price.band.price;
  return {
    share,
    formula: [
      ...steps,
      ...(payer === null ? [] : payerSteps(payer, total)),
      shareStep(share),
      priceStep(price),
      shareTotalStep(share, unitPrice),
    ],
    recomputed: { quantity, unitPrice, total },
  };
}
