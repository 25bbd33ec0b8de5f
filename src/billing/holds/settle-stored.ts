/**
 * Settles holds whose events were ingested by a process that did not know the hold: before a kill, by another process, or
 * by a process that has not evaluated the customer since its start (docs/explanation/holds.md, "The state"). Until then
 * both the hold and the event count.
 */
import type { Hold } from '../../core/hold.ts';
import { SECOND_MS } from '../../core/time.ts';
import { createPoll, type Poll } from '../../runtime/poll.ts';
import { activeHoldsAfter } from '../../store/holds/holds.ts';
import type { HoldParts } from './hold-parts.ts';

const INTERVAL_MS = SECOND_MS;
/** Holds per scan; the next scan continues after them. */
const HOLDS_MAX = 1_000;

/** Scans every second while such holds may exist. */
export function settleStored(context: HoldParts): Poll {
  // A single process sees the events of all holds that it grants.
  const createdUpTo = context.isShared ? null : context.clock.now();
  let after: Hold | null = null;
  let isDone = false;
  return createPoll({
    name: 'holds of stored events',
    intervalMs: INTERVAL_MS,
    async work() {
      if (isDone) return;
      const isFirst = after === null;
      const found = await activeHoldsAfter(context.db, after, { createdUpTo, limit: HOLDS_MAX });
      after = found.length < HOLDS_MAX ? null : (found.at(-1) ?? null);
      await settleOf(context, found);
      isDone = !context.isShared && isFirst && found.length === 0;
    },
    onFailure: (err) =>
      context.log.error(
        { err },
        'holds whose events are stored could not be settled: it will be tried again',
      ),
  });
}

async function settleOf({ eventFacts, writer, families }: HoldParts, holds: readonly Hold[]): Promise<void> {
  const stored = await eventFacts.storedAmong(holds.map(({ transactionId }) => transactionId));
  const settled = holds.filter(({ transactionId }) => stored.has(transactionId));
  await Promise.all(
    settled.map(({ id, customerId }) =>
      writer.change({
        family: families.known(customerId),
        // The event may differ from the event that was held.
        end: { id, status: 'settled', settledAmount: null },
      }),
    ),
  );
}
