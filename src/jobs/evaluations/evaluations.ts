/**
 * Evaluates customers soon after something of them has changed: new usage, terms, balances, aliases
 * (docs/explanation/thresholds.md, "When it is evaluated"). Each evaluation is registered as a `CustomerEvaluator`.
 *
 * Marks are in memory: customers that are marked several times are evaluated once, and ingest waits for nothing. A
 * crash loses them, so all watched customers are marked at the start and every three minutes. In one process a
 * customer is evaluated by one worker at a time; what several processes do at once is decided by the database.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Decimal } from '../../core/decimal.ts';
import { NO_QUANTITY_NAMES, type UsageWatch } from '../../core/event-quantities.ts';
import { eachInChunks, mapInChunks } from '../../core/in-chunks.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { createPoll, type Poll } from '../../runtime/poll.ts';
import { createSerialQueue } from '../../runtime/serial-queue.ts';
import { loadQuantityNames } from '../../store/alerts/quantity-names.ts';
import { deleteCustomerChanges } from '../../store/customers/customer-changes.ts';
import type { JobsContext } from '../jobs-context.ts';
import { createChangesFeed } from './changes-feed.ts';
import { type CustomerEvaluator, createEvaluationQueue, type QueueFigures } from './evaluation-queue.ts';
import { readWatched } from './read-watched.ts';
import { type EvaluationLane, WHEN_THERE_IS_TIME } from './waiting-customers.ts';
import type { WatchedCustomer } from './watch-list.ts';
import { ALWAYS_AT_ONCE, createWatchedUsage } from './watched-usage.ts';

export interface EvaluationFigures extends QueueFigures {
  /** Customers that need an evaluation. */
  readonly watched: number;
}

export interface Evaluations {
  /** Called with usage that is on disk. Costs a lookup for each customer, and waits for nothing. */
  readonly usage: UsageWatch;
  /** Called with holds that are granted. Waits for nothing. */
  granted(holds: readonly GrantedHold[]): void;
  /** Marks all watched customers. */
  markAll(): void;
  /**
   * Resolves when everything has been evaluated that was marked or changed before, as far as it can be: what fails is
   * logged, and tried again later.
   */
  settled(): Promise<void>;
  figures(): EvaluationFigures;
  /** Begins with a sweep. */
  start(): void;
  /** Waits for the evaluations in progress. */
  close(): Promise<void>;
}

interface GrantedHold {
  readonly customerId: string;
  readonly creditTypeId: string;
  readonly amount: Decimal;
}

/** Tests have shorter times. */
interface EvaluationTimes {
  readonly sweepIntervalMs?: number;
}

/** Usage that arrives within this time is evaluated together. */
const LOOK_INTERVAL_MS = 200;
/** By then, changes that a crash, another process or a changed price left unnoticed are found. */
const SWEEP_INTERVAL_MS = 3 * MINUTE_MS;
/** A failed evaluation is repeated after this time. */
const RETRY_MS = 5 * SECOND_MS;
/** One is often making a charge, or waits for events that ClickHouse does not have yet. */
const URGENT_WORKERS = 2;
interface Rest {
  /** A worker rests this many times as long as it has worked. */
  readonly factor: number;
  readonly maxMs: number;
}
const RESTS: Readonly<Record<EvaluationLane, Rest>> = {
  // For most of an evaluation the worker waits, so a rest of any length would only make what is urgent late.
  urgent: { factor: 3, maxMs: SECOND_MS / 2 },
  due: { factor: 3, maxMs: 2 * SECOND_MS },
  // Calm customers take a sixteenth of a core, whatever there is to evaluate.
  calm: { factor: 15, maxMs: 10 * SECOND_MS },
};
/** So many customers that change at once do not delay those whose usage is urgent. */
const URGENT_CHANGES_MAX = 1_000;
/** How long changes are kept for other processes to read. */
const CHANGES_KEPT_MS = 60 * MINUTE_MS;
const CUSTOMERS_PER_READ = 5_000;
/** Which properties prices depend on is read again when something changes, but not more often. */
const NAMES_READ_MS = 5 * SECOND_MS;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: its functions share the state of one process, and each is short.
export function createEvaluations(
  { db, log, isPaused }: Pick<JobsContext, 'db' | 'log' | 'isPaused'>,
  evaluators: readonly CustomerEvaluator[],
  times: EvaluationTimes = {},
): Evaluations {
  const watchedUsage = createWatchedUsage();
  const { list } = watchedUsage;
  const feed = createChangesFeed(db);
  let isEnding = false;
  const queue = createEvaluationQueue({
    isEnding: () => isEnding,
    evaluators: evaluators.map((evaluator) => ({
      ...evaluator,
      evaluate: async (ids) => {
        const own = ids.filter((id) => list.isWatchedBy(id, evaluator.name));
        if (own.length === 0) return [];
        watchedUsage.catchUp(own);
        const changed = await evaluator.evaluate(own);
        watchedUsage.catchUp(own);
        // Usage that arrived meanwhile was judged by earlier facts.
        for (const id of own) {
          const waitMs = evaluator.waitAgainMs?.(id) ?? Number.POSITIVE_INFINITY;
          if (Number.isFinite(waitMs)) queue.mark([id], waitMs);
        }
        return changed;
      },
    })),
    onFailure(customerId, error) {
      log.error(
        { err: error, customer_id: customerId },
        'a customer cannot be evaluated now: it will be tried again',
      );
      const retry = setTimeout(() => queue.mark([customerId]), RETRY_MS);
      retry.unref();
    },
  });
  const loops: Poll[] = [];
  // A later one sees later data.
  const reads = createSerialQueue();
  /** Customers that have changed and are not marked yet. */
  let changed: readonly string[] = [];
  let isSwept = false;
  let names = NO_QUANTITY_NAMES;
  let namesReadAt = Number.NEGATIVE_INFINITY;

  async function watchedOf(customerIds: readonly string[] | null): Promise<WatchedCustomer[]> {
    const watched = await readWatched(db, evaluators, customerIds);
    return await mapInChunks(watched, (customer) => ({
      ...customer,
      meters: evaluators
        .filter(({ name }) => customer.evaluators.has(name))
        .map(({ meterOf }) => meterOf?.(customer.id) ?? ALWAYS_AT_ONCE),
      mark: queue.markerOf(customer.id),
    }));
  }

  async function readNames(): Promise<void> {
    namesReadAt = performance.now();
    const read = await loadQuantityNames(db);
    if (!isDeepStrictEqual(read, names)) names = read;
  }

  const sweep = () =>
    reads.run(async () => {
      await readNames();
      // Entries that change while the list is read are read again.
      if (isSwept) await followChanges();
      else await feed.skip();
      const watched = await watchedOf(null);
      await watchedUsage.replaceAll(watched);
      await eachInChunks(watched, (customer) => customer.mark(WHEN_THERE_IS_TIME));
      isSwept = true;
      await deleteCustomerChanges(db, Date.now() - CHANGES_KEPT_MS);
    });

  const follow = () =>
    reads.run(async () => {
      const count = await followChanges();
      if (count > 0 && performance.now() - namesReadAt > NAMES_READ_MS) await readNames();
    });

  /** Returns how many customers have changed. */
  async function followChanges(): Promise<number> {
    // A feed that fails is followed again.
    changed = [...new Set([...changed, ...(await feed.next())])];
    const { length } = changed;
    for (let from = 0; from < length; from += CUSTOMERS_PER_READ) {
      const ids = changed.slice(from, from + CUSTOMERS_PER_READ);
      const watched = await watchedOf(ids);
      watchedUsage.replace(ids, watched);
      for (const customer of watched) customer.mark(length > URGENT_CHANGES_MAX ? WHEN_THERE_IS_TIME : 0);
    }
    changed = [];
    return length;
  }

  async function settled(): Promise<void> {
    while (!isPaused()) {
      try {
        await follow();
      } catch (error) {
        log.error({ err: error }, 'changed customers cannot be read now: they will be evaluated later');
        return;
      }
      while ((await queue.runBatch()) !== null);
      await queue.running();
      if (queue.figures().waiting === 0) return;
    }
  }

  /** Repeats `work` until the end, with `restMs` of what it took in between. */
  function repeat(work: () => Promise<unknown>, restMs: (tookMs: number) => number): void {
    const poll = createPoll({
      intervalMs: ({ hasFailed, tookMs }) => (hasFailed ? RETRY_MS : restMs(tookMs)),
      work: async () => {
        if (!isPaused()) await work();
      },
      onFailure: (err) => log.error({ err }, 'customers cannot be evaluated now: it will be tried again'),
    });
    poll.start({ now: true });
    loops.push(poll);
  }

  /** Evaluates customers of the first of these lanes that has any. */
  function worker(...lanes: EvaluationLane[]): void {
    let lane: EvaluationLane | null = null;
    const work = async () => {
      lane = await queue.runBatch(...lanes);
    };
    repeat(work, (tookMs) => restAfter(tookMs, lane));
  }

  return {
    usage: {
      isWatching: () => list.size > 0,
      isWatched: (owner) => list.isWatched(owner),
      names: () => names,
      stored(usage) {
        // It may be of those that came to be watched while it was written.
        if (usage === null) queue.mark(list.customerIds(), WHEN_THERE_IS_TIME);
        else watchedUsage.tell(usage);
      },
    },
    granted(holds) {
      for (const { customerId, creditTypeId, amount } of holds) {
        const customer = list.get(customerId);
        if (customer === undefined) continue;
        const held = Number(amount.toFixed());
        for (const meter of customer.meters) {
          const waitMs = meter.held?.(creditTypeId, held) ?? Number.POSITIVE_INFINITY;
          if (Number.isFinite(waitMs)) customer.mark(waitMs);
        }
      }
    },
    markAll: () => queue.mark(list.customerIds()),
    settled,
    figures: () => ({ ...queue.figures(), watched: list.size }),
    start() {
      const { sweepIntervalMs = SWEEP_INTERVAL_MS } = times;
      repeat(sweep, () => sweepIntervalMs);
      repeat(follow, () => LOOK_INTERVAL_MS);
      for (let count = 0; count < URGENT_WORKERS; count += 1) worker('urgent');
      worker('due', 'calm');
    },
    async close() {
      isEnding = true;
      await Promise.all(loops.map((loop) => loop.close()));
      await queue.running();
    },
  };
}

/** After a batch of the lane; null: there was none. */
function restAfter(tookMs: number, lane: EvaluationLane | null): number {
  if (lane === null) return LOOK_INTERVAL_MS;
  const { factor, maxMs } = RESTS[lane];
  return Math.max(LOOK_INTERVAL_MS, Math.min(factor * tookMs, maxMs));
}
