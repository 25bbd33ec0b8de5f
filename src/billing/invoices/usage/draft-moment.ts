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

/** The last event of the customers of some drafts is being looked for. */
export interface AskedMoment {
  /** Whose events it is looked for among. */
  readonly customerIds: ReadonlySet<string>;
  /** The timestamps of the events that it is looked for among. */
  readonly range: Interval;
  /** When it was ingested: epoch microseconds, '0' if there is none. */
  readonly answer: Promise<string>;
}

/**
 * Begins to look for the last event that the drafts can count, and does not wait for it. Null where that is needless:
 * without drafts, and where the process knows the moment.
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
  // If the terms cannot be read, nobody waits for it.
  answer.catch(() => undefined);
  return { customerIds, range, answer };
}

/**
 * No event counts on the drafts that was ingested later: epoch microseconds. Null: the usage queries have to ask for the
 * last event themselves, because nobody has asked, or not for all `earlier` drafts.
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
