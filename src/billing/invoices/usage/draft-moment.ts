/**
 * The ingestion up to which the events of drafts count: one moment for all usage on an answer. An event that arrives
 * while the answer is computed is then on all lines that count it, or on none. Every event that was acknowledged before
 * is on them.
 *
 * An embedded ClickHouse has no other writers, so this process knows the moment. A server is asked for the last event of
 * the customers, while the rest of the terms is read from PostgreSQL.
 */

import type { Instant, Interval } from '../../../core/time.ts';
import type { EventFacts } from '../../../metering/ingest/event-facts.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { customerRefs } from '../../../store/customers/customers.ts';
import type { BillingContext } from '../../billing-context.ts';
import type { InvoiceTarget } from '../../invoice-queue/usage-periods.ts';

/** The stores that the usage of drafts is read from. */
export type UsageStores = Pick<BillingContext, 'usageSource' | 'eventFacts'>;

/** A pending search for the last event of the customers of some drafts. */
export interface AskedMoment {
  /** The customers whose events are searched. */
  readonly customerIds: ReadonlySet<string>;
  /** The timestamps of the searched events. */
  readonly range: Interval;
  /** When it was ingested: epoch microseconds, '0' if there is none. */
  readonly answer: Promise<string>;
}

/**
 * Starts the search for the last event that the drafts can count, without waiting for it. Null if it is needless:
 * without drafts, and if the process knows the moment.
 */
export async function askMoment(
  db: Database | Transaction,
  { usageSource, eventFacts }: UsageStores,
  drafts: readonly InvoiceTarget[],
): Promise<AskedMoment | null> {
  if (drafts.length === 0 || eventFacts.completeUpTo() !== null) return null;
  const customerIds = new Set(drafts.map(({ contract }) => contract.customerId));
  const refs = await customerRefs(db, [...customerIds]);
  const range = timeOf(drafts);
  const answer = usageSource.lastIngested([...refs.values()].flat(), range);
  // If the terms cannot be read, nothing awaits the answer.
  answer.catch(() => undefined);
  return { customerIds, range, answer };
}

/**
 * Events that were ingested later do not count: epoch microseconds. Null: the usage queries have to find the last event
 * themselves, because no search was started, or not for all `earlier` drafts.
 */
export async function draftMoment(
  eventFacts: Pick<EventFacts, 'completeUpTo'>,
  {
    asked = null,
    earlier,
  }: { readonly asked?: AskedMoment | null; readonly earlier: readonly InvoiceTarget[] },
): Promise<string | null> {
  const known = eventFacts.completeUpTo();
  if (known !== null || asked === null) return known;
  const isForAll = earlier.every(
    ({ contract, period }) => asked.customerIds.has(contract.customerId) && isWithin(period, asked.range),
  );
  return isForAll ? await asked.answer : null;
}

function timeOf(drafts: readonly InvoiceTarget[]): Interval {
  return {
    start: Math.min(...drafts.map(({ period }) => period.countedFrom)),
    end: Math.max(...drafts.map(({ period }) => period.end)),
  };
}

function isWithin(
  { countedFrom, end }: { readonly countedFrom: Instant; readonly end: Instant },
  range: Interval,
): boolean {
  return countedFrom >= range.start && end <= range.end;
}
