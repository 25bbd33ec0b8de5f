/**
 * Plans usage invoices: which ones are computed together, in which order, and all their input from PostgreSQL. Reads
 * nothing from ClickHouse.
 */

import { DAY_MS, type Instant, type Interval } from '../../../core/time.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import type { Contract } from '../../../store/contracts/contracts.ts';
import { contractsWithSubscriptions } from '../../../store/contracts/subscriptions.ts';
import {
  type BalancesInstead,
  type CustomerBalances,
  type DrawingTime,
  loadCustomerBalances,
} from '../../balances/books.ts';
import type { InvoiceTarget } from '../../invoice-queue/usage-periods.ts';
import { compareDrafts, earlierDrafts, sharingContracts } from '../scheduled/drawdown-order.ts';
import { type DrawingSchedules, drawingTimes, loadDrawingSchedules } from '../scheduled/drawing.ts';
import { type InvoiceContext, joinContexts, loadInvoiceContext } from '../terms/invoice-context.ts';
import { withEarlierCharges } from '../terms/issued-charges.ts';
import type { UsageStores } from '../usage/draft-moment.ts';
import { type AskedMoment, askMoment } from '../usage/draft-moment.ts';

/** Usage invoices to compute, with all their input from PostgreSQL. */
export interface PlannedInvoices {
  readonly targets: readonly InvoiceTarget[];
  /** Other drafts that draw on the same balances before the targets. They are computed first. */
  readonly earlier: readonly InvoiceTarget[];
  /** Drafts of SCHEDULED invoices, which draw on the same balances. */
  readonly scheduled: DrawingSchedules;
  readonly context: InvoiceContext;
  /** Set if the plan was built with `usageIn`. */
  readonly asked?: AskedMoment | null;
}

/** Balances may differ from the stored ones. */
export interface PlanOptions extends BalancesInstead {
  /** The drafts of SCHEDULED invoices of these contracts draw on balances, whether or not targets do. */
  readonly schedulesOf?: readonly Contract[];
  /** The source of the usage: the moment up to which it counts (`draftMoment`) is read concurrently. */
  readonly usageIn?: UsageStores;
}

/** A fixed number of queries for any number of invoices. Must run in the snapshot that found the targets. */
export async function planInvoices(
  db: Database | Transaction,
  targets: readonly InvoiceTarget[],
  now: Instant,
  { usageIn, ...instead }: PlanOptions = {},
): Promise<PlannedInvoices> {
  const asked = usageIn === undefined ? null : await askMoment(db, usageIn, targets);
  // Statements of both are sent together.
  const [own, { earlier, scheduled, balances }] = await Promise.all([
    loadInvoiceContext(db, targets, now),
    planBalances(db, targets, now, instead),
  ]);
  const others = await loadInvoiceContext(db, ofOtherContracts(earlier, targets), now);
  const joined = { ...joinContexts(own, others), balances };
  const context = await withEarlierCharges(db, joined, [...targets, ...earlier]);
  return { targets, earlier, scheduled, context, asked };
}

/** The balances that the targets may draw on, and the drafts that draw on them before. */
async function planBalances(
  db: Database | Transaction,
  targets: readonly InvoiceTarget[],
  now: Instant,
  { schedulesOf = [], ...instead }: Omit<PlanOptions, 'usageIn'>,
): Promise<Pick<PlannedInvoices, 'earlier' | 'scheduled'> & Pick<InvoiceContext, 'balances'>> {
  const contracts = targets.map(({ contract }) => contract);
  const { targets: own } = await loadDrawingSchedules(db, schedulesOf, now);
  const times = [...(await timesOf(db, targets)), ...drawingTimes(own)];
  const { balances, earlier } = await loadDrawnBefore(db, targets, times, now, instead);
  const drawing = [...contracts, ...schedulesOf].filter(({ customerId }) => balances.has(customerId));
  const sharing = await sharingContracts(db, drawing, balances);
  const scheduled = await loadDrawingSchedules(db, sharing, now);
  return { earlier, scheduled, balances };
}

function ofOtherContracts(
  targets: readonly InvoiceTarget[],
  known: readonly InvoiceTarget[],
): readonly InvoiceTarget[] {
  const ids = new Set(known.map(({ contract }) => contract.id));
  return targets.filter(({ contract }) => !ids.has(contract.id));
}

/**
 * The balances that are open in these times, and the drafts that draw on them before the targets. Earlier drafts draw
 * on balances of that time too, which may be shared with further contracts.
 */
async function loadDrawnBefore(
  db: Database | Transaction,
  targets: readonly InvoiceTarget[],
  times: readonly DrawingTime[],
  now: Instant,
  instead: BalancesInstead,
): Promise<{ readonly balances: CustomerBalances; readonly earlier: readonly InvoiceTarget[] }> {
  const balances = await loadCustomerBalances(db, times, now, instead);
  const earlier = await earlierDrafts(db, targets, balances);
  if (earlier.length === 0) return { balances, earlier };
  const others = await timesOf(db, earlier);
  // Each iteration finds earlier starts, so it ends with the first period of these contracts.
  return startOf(others) < startOf(times)
    ? loadDrawnBefore(db, targets, [...times, ...others], now, instead)
    : { balances, earlier };
}

function startOf(times: readonly DrawingTime[]): Instant {
  return Math.min(...times.map(({ period }) => period.start));
}

/** When the charges on these invoices may draw on balances. */
async function timesOf(db: Database | Transaction, drafts: readonly InvoiceTarget[]): Promise<DrawingTime[]> {
  const ids = new Set(drafts.map(({ contract }) => contract.id));
  const subscribing = await contractsWithSubscriptions(db, [...ids]);
  return drafts.map(({ contract: { id, customerId }, period }) => ({
    customerId,
    period: subscribing.has(id) ? withChargedTime(period) : period,
  }));
}

/**
 * An increase is payable when it takes effect, and on the invoice at the end of its billing period, a year later at
 * most.
 */
function withChargedTime({ start, end }: Interval): Interval {
  return { start: start - 366 * DAY_MS, end: end + DAY_MS };
}

/** In the order of drawdown, including drafts whose deductions alone are needed. */
export function inDrawdownOrder({ targets, earlier }: PlannedInvoices): PlannedTarget[] {
  const all = [
    ...targets.map((target): PlannedTarget => ({ target, isWanted: true })),
    ...earlier.map((target): PlannedTarget => ({ target, isWanted: false })),
  ];
  return earlier.length === 0 && targets.length < 2
    ? all
    : all.sort((a, b) => compareDrafts(a.target, b.target));
}

export interface PlannedTarget {
  readonly target: InvoiceTarget;
  readonly isWanted: boolean;
}
