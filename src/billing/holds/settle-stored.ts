/**
 * Settles holds whose events have come where nobody knew of the hold: before a kill, through another process, or in a
 * process that has not evaluated the customer since its start (docs/explanation/holds.md, "The state"). Until then both
 * count.
 */
import { SECOND_MS } from '../../core/time.ts';
import { activeHoldsAfter, type Hold } from '../../store/holds/holds.ts';
import type { HoldParts } from './hold-parts.ts';

const INTERVAL_MS = SECOND_MS;
/** The holds of one look; the next look continues after them. */
const HOLDS_MAX = 1_000;

/** Looks every second, as long as there may be such holds. */
export function settleStored(deps: HoldParts): { start(): void; close(): void } {
  // A process that is alone sees the events of the holds that it grants itself.
  const createdUpTo = deps.isShared ? null : deps.clock.now();
  let after: Hold | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Returns whether there is more to look for. */
  async function look(): Promise<boolean> {
    const isFirst = after === null;
    const found = await activeHoldsAfter(deps.db, after, { createdUpTo, limit: HOLDS_MAX });
    after = found.length < HOLDS_MAX ? null : (found.at(-1) ?? null);
    await settleOf(deps, found);
    return deps.isShared || !isFirst || found.length > 0;
  }

  function lookLater(): void {
    timer = setTimeout(() => {
      look()
        .catch((err: unknown) => {
          deps.log.error(
            { err },
            'holds whose events are stored could not be settled: it will be tried again',
          );
          return true;
        })
        .then((isMore) => {
          if (isMore && !isClosed) lookLater();
        });
    }, INTERVAL_MS).unref();
  }

  return {
    start: lookLater,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

async function settleOf({ eventFacts, writer, families }: HoldParts, holds: readonly Hold[]): Promise<void> {
  const stored = await eventFacts.storedAmong(holds.map(({ transactionId }) => transactionId));
  const settled = holds.filter(({ transactionId }) => stored.has(transactionId));
  await Promise.all(
    settled.map(({ id, customerId }) =>
      writer.change({
        family: families.known(customerId),
        // The event may be another than the one that was held.
        end: { id, status: 'settled', settledAmount: null },
      }),
    ),
  );
}
