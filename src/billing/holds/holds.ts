/** The operations of holds (docs/explanation/holds.md): reserve, settle, release, extend. */
import type { Hold } from '../../core/hold.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { NewEventWatch } from '../../metering/ingest/new-events.ts';
import { createPoll, type Poll } from '../../runtime/poll.ts';
import { tidyHolds } from '../../store/holds/holds.ts';
import { type CheckAnswer, type CheckRequest, createCheck } from './check.ts';
import { createHoldReads, findHold, notThere } from './find-hold.ts';
import { createHoldCounts, type HoldFigures } from './hold-counts.ts';
import { type Billed, createHoldFamilies, type FamilyFigures } from './hold-families.ts';
import type { HoldContext, HoldName, HoldParts } from './hold-parts.ts';
import { createHoldWriter, type HoldWriter } from './hold-writer.ts';
import { createUnitNames } from './list-holds.ts';
import type { HoldRequest } from './prepare-holds.ts';
import { type HoldAnswer, reserve } from './reserve.ts';
import { type SettleAnswer, type Settlement, settleAll } from './settle-holds.ts';
import { settleStored } from './settle-stored.ts';

export type EndAnswer = { readonly hold: Hold } | { readonly error: string };

export interface Holds {
  reserve(requests: readonly HoldRequest[]): Promise<HoldAnswer[]>;
  settle(settlements: readonly Settlement[]): Promise<SettleAnswer[]>;
  release(names: readonly HoldName[]): Promise<EndAnswer[]>;
  extend(
    extensions: readonly { readonly holdId: string; readonly ttlSeconds: number }[],
  ): Promise<EndAnswer[]>;
  /** Answers whether usage is allowed now. Creates no hold. */
  check(request: CheckRequest): Promise<CheckAnswer>;
  readonly watch: NewEventWatch;
  figures(): HoldFigures & { readonly families: FamilyFigures };
  /** Sets the observer of the duration of evaluations in seconds. */
  observeEvaluations(observe: (seconds: number) => void): void;
  /** Starts to remove old holds. */
  start(): void;
  close(): Promise<void>;
}

export function createHolds(context: HoldContext): Holds {
  const writer = createHoldWriter(context);
  const settling: HoldParts['settling'] = new Map();
  const eventsStored = (billed: readonly Billed[]) => noteSettled(context, writer, billed, settling);
  const counts = createHoldCounts();
  const families = createHoldFamilies({ ...context, settling, eventsStored, evaluated: counts.evaluated });
  const parts: HoldParts = {
    ...{ ...context, writer, families, settling, counts },
    nameOf: createUnitNames(context.db),
    readHold: createHoldReads(context.db),
  };
  const check = createCheck(parts);
  const background = [keepTidy(context), settleStored(parts), families.refresh];
  const outstanding = counts.outstanding(context);
  return {
    reserve: (requests) => reserve(parts, requests),
    settle: (settlements) => settleAll(parts, settlements),
    release: (names) => Promise.all(names.map((name) => release(parts, name))),
    extend: (extensions) => Promise.all(extensions.map((one) => extend(parts, one))),
    check: async (request) => {
      const answer = await check(request);
      counts.checked(answer.reason);
      return answer;
    },
    watch: families.watch,
    figures: () => ({ ...counts.figures(), families: families.figures() }),
    observeEvaluations: counts.observeEvaluations,
    start() {
      for (const work of background) work.start();
      outstanding.start({ now: true });
    },
    async close() {
      await Promise.all([...background, outstanding].map((work) => work.close()));
    },
  };
}

/** Longer than the deduplication window of transaction ids. */
const KEPT_MS = 35 * DAY_MS;
const TIDY_INTERVAL_MS = 5 * MINUTE_MS;
const TIDIED_MAX = 10_000;

function keepTidy({ db, clock, log }: HoldContext): Poll {
  return createPoll({
    name: 'old holds',
    intervalMs: TIDY_INTERVAL_MS,
    work: () => tidyHolds(db, clock.now() - KEPT_MS, TIDIED_MAX),
    onFailure: (err) => log.error({ err }, 'old holds could not be removed: it will be tried again'),
  });
}

/** The events are on disk whatever happens here. */
async function noteSettled(
  { log }: HoldContext,
  writer: HoldWriter,
  billed: readonly Billed[],
  settling: HoldParts['settling'],
): Promise<void> {
  const written = billed.map(async ({ family, hold, cost }) => {
    const end = { id: hold.id, status: 'settled' as const, settledAmount: cost.amount };
    const isNoted = await writer.change({ family, end });
    const own = settling.get(hold.transactionId);
    if (isNoted && own?.hold.id === hold.id) settling.set(hold.transactionId, { hold, cost });
  });
  try {
    await Promise.all(written);
  } catch (err) {
    log.error({ err, holds: billed.length }, 'holds whose events are stored could not be marked as settled');
  }
}

async function release(parts: HoldParts, name: HoldName): Promise<EndAnswer> {
  const hold = await activeHold(parts, name);
  if (hold === null) return { error: notThere(name) };
  const end = { id: hold.id, status: 'released' as const, settledAmount: null };
  const isDone = await parts.writer.change({ family: parts.families.known(hold.customerId), end });
  return isDone ? { hold: { ...hold, status: 'released' } } : { error: notThere(name) };
}

async function extend(
  parts: HoldParts,
  { holdId, ttlSeconds }: { readonly holdId: string; readonly ttlSeconds: number },
): Promise<EndAnswer> {
  const name = { holdId, transactionId: null };
  const hold = await activeHold(parts, name);
  if (hold === null) return { error: notThere(name) };
  const expiresAt = parts.clock.now() + ttlSeconds * SECOND_MS;
  const family = parts.families.known(hold.customerId);
  const isDone = await parts.writer.change({ family, extension: { id: hold.id, expiresAt } });
  return isDone ? { hold: { ...hold, expiresAt } } : { error: notThere(name) };
}

async function activeHold(parts: HoldParts, name: HoldName): Promise<Hold | null> {
  const hold = await findHold(parts, name);
  return hold !== null && hold.status === 'active' && hold.expiresAt > parts.clock.now() ? hold : null;
}
