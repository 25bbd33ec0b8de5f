/** Holds for readers that count them in addition to usage: thresholds and alerts (docs/explanation/holds.md). */
import { type Decimal, sum } from '../../core/decimal.ts';
import type { Instant } from '../../core/time.ts';
import type { EventFacts } from '../../metering/ingest/event-facts.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import {
  activeAmounts,
  type OutstandingHold,
  outstandingPages,
} from '../../store/holds/outstanding-holds.ts';

interface HoldStores {
  readonly db: Database | Transaction;
  readonly eventFacts: EventFacts;
}

/**
 * The active holds of these customers whose events are not on disk. Read after usage, so that nothing counts twice: a
 * hold that becomes its event is active for a moment after its event is stored. An event stored since counts neither
 * way, and is new usage for the next evaluation.
 */
export async function outstandingHolds(
  { db, eventFacts }: HoldStores,
  customerIds: readonly string[],
  now: Instant,
): Promise<OutstandingHold[]> {
  const outstanding: OutstandingHold[] = [];
  for await (const page of outstandingPages(db, customerIds, now)) {
    if (page.length > 0) await eventFacts.tail();
    const stored = await eventFacts.storedAmong(page.map(({ transactionId }) => transactionId));
    outstanding.push(...page.filter(({ transactionId }) => !stored.has(transactionId)));
  }
  return outstanding;
}

/** The amount of those that are still active: none was granted since. */
export async function stillHeld(
  db: Database | Transaction,
  holds: readonly OutstandingHold[],
  now: Instant,
): Promise<Decimal> {
  const amounts = await activeAmounts(
    db,
    holds.map(({ id }) => id),
    now,
  );
  return sum(amounts);
}
