/**
 * Evaluates customers soon after a change: new usage, terms, balances, aliases (docs/explanation/thresholds.md, "When
 * it is evaluated"). Each evaluation is registered as a `CustomerEvaluator`.
 *
 * Marks are in memory: customers that are marked several times are evaluated once, and ingest waits for nothing. A
 * crash loses them, so all watched customers are marked at the start and every three minutes. In one process a customer
 * is evaluated by one worker at a time; conflicts between processes are resolved by the database.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Decimal } from '../../core/decimal.ts';
import { NO_QUANTITY_NAMES, type UsageWatch } from '../../core/event-quantities.ts';
import { eachInChunks, mapInChunks } from '../../core/in-chunks.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { createPoll, type Poll, type PollOptions } from '../../runtime/poll.ts';
import { createSerialQueue } from '../../runtime/serial-queue.ts';
import { loadQuantityNames } from '../../store/alerts/quantity-names.ts';
import { type DueCondition, pollDue } from '../../store/base/due-watch.ts';
import { deleteCustomerChanges } from '../../store/customers/customer-changes.ts';
import type { JobsContext } from '../jobs-context.ts';
import { createChangesFeed } from './changes-feed.ts';
import {
  type CustomerEvaluator,
  createEvaluationQueue,
  type EvaluationQueue,
  type QueueFigures,
} from './evaluation-queue.ts';
import { readWatched } from './read-watched.ts';
import { type EvaluationLane, WHEN_THERE_IS_TIME } from './waiting-customers.ts';
import type { WatchedCustomer } from './watch-list.ts';
import { ALWAYS_AT_ONCE, createWatchedUsage } from './watched-usage.ts';

export interface EvaluationFigures extends QueueFigures {
  /** Customers that need an evaluation. */
  readonly watched: number;
}

export interface Evaluations {
  /** Receives usage that is on disk. Costs a lookup for each customer, and waits for nothing. */
  readonly usage: UsageWatch;
  /** Receives granted holds. Waits for nothing. */
  granted(holds: readonly GrantedHold[]): void;
  /** Marks all watched customers. */
  markAll(): void;
  /**
   * Resolves when everything that was marked or changed before has been evaluated, if possible: failures are logged,
   * and retried later.
   */
  caughtUp(): Promise<void>;
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
/** The interval after which changes missed because of a crash, another process or a changed price are found. */
const SWEEP_INTERVAL_MS = 3 * MINUTE_MS;
/** A worker without waiting customers is woken by the first one. */
const ASLEEP_MS = MINUTE_MS;
/** A failed evaluation is repeated after this time. */
const RETRY_MS = 5 * SECOND_MS;
/** One is often charging a payment, or waits for events that ClickHouse does not have yet. */
const URGENT_WORKERS = 2;
interface Rest {
  /** A worker rests for this multiple of its working time. */
  readonly factor: number;
  readonly maxMs: number;
}
const RESTS: Readonly<Record<EvaluationLane, Rest>> = {
  // A worker mostly waits during an evaluation, so a longer rest would only delay urgent customers.
  urgent: { factor: 3, maxMs: SECOND_MS / 2 },
  due: { factor: 3, maxMs: 2 * SECOND_MS },
  // Calm customers take a sixteenth of a core, however many there are to evaluate.
  calm: { factor: 15, maxMs: 10 * SECOND_MS },
};
/** More changes at once are not urgent, so that they do not delay customers with urgent usage. */
const URGENT_CHANGES_MAX = 1_000;
/** How long changes are stored for other processes to read. */
const CHANGES_KEPT_MS = 60 * MINUTE_MS;
const CUSTOMERS_PER_READ = 5_000;
/** The minimum interval at which the properties that prices depend on are read after changes. */
const NAMES_READ_MS = 5 * SECOND_MS;

export function createEvaluations(
  context: Pick<JobsContext, 'db' | 'dueWatch' | 'log' | 'isPaused'>,
  evaluators: readonly CustomerEvaluator[],
  times: EvaluationTimes = {},
): Evaluations {
  const { db, log, isPaused } = context;
  const watchedUsage = createWatchedUsage();
  const { list } = watchedUsage;
  let isEnding = false;
  const loops = createLoops(context);
  const queue = createEvaluationQueue({
    isEnding: () => isEnding,
    onWaiting: loops.wakeWorkers,
    evaluators: evaluators.map((evaluator) =>
      ofWatched(evaluator, watchedUsage, (id, waitMs) => queue.mark([id], waitMs)),
    ),
    onFailure(customerId, error) {
      log.error(
        { err: error, customer_id: customerId },
        'a customer cannot be evaluated now: it will be tried again',
      );
      const retry = setTimeout(() => queue.mark([customerId]), RETRY_MS);
      retry.unref();
    },
  });
  const reads = createWatchedReads({ db, evaluators, watchedUsage, queue });

  return {
    usage: usageWatch(watchedUsage, queue, reads.names),
    granted: (holds) => markGranted(list, holds),
    markAll: () => queue.mark(list.customerIds()),
    caughtUp: () => settle({ log, isPaused, queue, reads }),
    figures: () => ({ ...queue.figures(), watched: list.size }),
    start() {
      const { sweepIntervalMs = SWEEP_INTERVAL_MS } = times;
      loops.repeat({ work: reads.sweep, restMs: () => sweepIntervalMs });
      loops.repeat({ work: reads.follow, restMs: () => LOOK_INTERVAL_MS, isDue: reads.hasChanges });
      for (let count = 0; count < URGENT_WORKERS; count += 1) loops.addWorker(queue, 'urgent');
      loops.addWorker(queue, 'due', 'calm');
    },
    async close() {
      isEnding = true;
      await loops.close();
      await queue.running();
    },
  };
}

type WatchedUsage = ReturnType<typeof createWatchedUsage>;

/** Evaluates those of the customers that the evaluator watches. */
function ofWatched(
  evaluator: CustomerEvaluator,
  watchedUsage: WatchedUsage,
  markAgain: (customerId: string, waitMs: number) => void,
): CustomerEvaluator {
  return {
    ...evaluator,
    async evaluate(ids) {
      const own = ids.filter((id) => watchedUsage.list.isWatchedBy(id, evaluator.name));
      if (own.length === 0) return [];
      watchedUsage.catchUp(own);
      const changed = await evaluator.evaluate(own);
      watchedUsage.catchUp(own);
      // Usage that arrived during the evaluation was judged by earlier facts.
      for (const id of own) {
        const waitMs = evaluator.waitAgainMs?.(id) ?? Number.POSITIVE_INFINITY;
        if (Number.isFinite(waitMs)) markAgain(id, waitMs);
      }
      return changed;
    },
  };
}

function usageWatch(
  watchedUsage: WatchedUsage,
  queue: EvaluationQueue,
  names: UsageWatch['names'],
): UsageWatch {
  const { list } = watchedUsage;
  return {
    isWatching: () => list.size > 0,
    isWatched: (owner) => list.isWatched(owner),
    names,
    stored(usage) {
      // It may belong to customers that were added to the watch list while it was written.
      if (usage === null) queue.mark(list.customerIds(), WHEN_THERE_IS_TIME);
      else watchedUsage.tell(usage);
    },
  };
}

function markGranted(list: WatchedUsage['list'], holds: readonly GrantedHold[]): void {
  for (const { customerId, creditTypeId, amount } of holds) {
    const customer = list.get(customerId);
    if (customer === undefined) continue;
    const held = Number(amount.toFixed());
    for (const meter of customer.meters) {
      const waitMs = meter.held?.(creditTypeId, held) ?? Number.POSITIVE_INFINITY;
      if (Number.isFinite(waitMs)) customer.mark(waitMs);
    }
  }
}

interface WatchedReadsParts extends Pick<JobsContext, 'db'> {
  readonly evaluators: readonly CustomerEvaluator[];
  readonly watchedUsage: WatchedUsage;
  readonly queue: EvaluationQueue;
}

/**
 * Reads which customers are watched, and for which quantities: all of them in a sweep, then those that have changed.
 */
function createWatchedReads(parts: WatchedReadsParts) {
  const { db, watchedUsage } = parts;
  const feed = createChangesFeed(db);
  const names = createQuantityNames(db);
  // A later one sees later data.
  const reads = createSerialQueue('changes of customers');
  /** Customers that have changed and are not marked yet. */
  let changed: readonly string[] = [];
  let isSwept = false;

  /** Returns the number of changed customers. */
  async function followChanges(): Promise<number> {
    // The feed is followed again after a failure.
    changed = [...new Set([...changed, ...(await feed.next())])];
    const { length } = changed;
    for (let from = 0; from < length; from += CUSTOMERS_PER_READ) {
      const ids = changed.slice(from, from + CUSTOMERS_PER_READ);
      const watched = await watchedOf(parts, ids);
      watchedUsage.replace(ids, watched);
      for (const customer of watched) customer.mark(length > URGENT_CHANGES_MAX ? WHEN_THERE_IS_TIME : 0);
    }
    changed = [];
    return length;
  }

  return {
    names: names.present,
    hasChanges: feed.hasNext,
    sweep: () =>
      reads.run(async () => {
        await names.read();
        // Entries that change while the list is read are read again.
        if (isSwept) await followChanges();
        else await feed.skip();
        const watched = await watchedOf(parts, null);
        await watchedUsage.replaceAll(watched);
        await eachInChunks(watched, (customer) => customer.mark(WHEN_THERE_IS_TIME));
        isSwept = true;
        await deleteCustomerChanges(db, Date.now() - CHANGES_KEPT_MS);
      }),
    follow: () =>
      reads.run(async () => {
        const count = await followChanges();
        if (count > 0) await names.readIfOld();
      }),
  };
}

async function watchedOf(
  { db, evaluators, queue }: WatchedReadsParts,
  customerIds: readonly string[] | null,
): Promise<WatchedCustomer[]> {
  const watched = await readWatched(db, evaluators, customerIds);
  return await mapInChunks(watched, (customer) => ({
    ...customer,
    meters: evaluators
      .filter(({ name }) => customer.evaluators.has(name))
      .map(({ meterOf }) => meterOf?.(customer.id) ?? ALWAYS_AT_ONCE),
    mark: queue.markerOf(customer.id),
  }));
}

/** The properties that prices depend on. */
function createQuantityNames(db: JobsContext['db']) {
  let names = NO_QUANTITY_NAMES;
  let readAt = Number.NEGATIVE_INFINITY;

  async function read(): Promise<void> {
    readAt = performance.now();
    const present = await loadQuantityNames(db);
    if (!isDeepStrictEqual(present, names)) names = present;
  }

  return {
    read,
    present: () => names,
    async readIfOld() {
      if (performance.now() - readAt > NAMES_READ_MS) await read();
    },
  };
}

interface Settling extends Pick<JobsContext, 'log' | 'isPaused'> {
  readonly queue: EvaluationQueue;
  readonly reads: { follow(): Promise<void> };
}

async function settle({ log, isPaused, queue, reads }: Settling): Promise<void> {
  while (!isPaused()) {
    try {
      await reads.follow();
    } catch (error) {
      log.error({ err: error }, 'changed customers cannot be read now: they will be evaluated later');
      return;
    }
    while ((await queue.runBatch()) !== null);
    await queue.running();
    if (queue.figures().waiting === 0) return;
  }
}

interface Loop {
  work(): Promise<unknown>;
  restMs(tookMs: number): number;
  /** If given, the loop is woken when it holds. */
  isDue?(): DueCondition;
}

function createLoops({ dueWatch, log, isPaused }: Pick<JobsContext, 'dueWatch' | 'log' | 'isPaused'>) {
  const polls: Poll[] = [];
  const wakes: (() => void)[] = [];

  /** Repeats `work` until the end, with a rest between runs that depends on their duration. */
  function repeat({ work, restMs, isDue }: Loop): Poll {
    const options: PollOptions = {
      name: 'evaluations',
      intervalMs: ({ hasFailed, tookMs }) => (hasFailed ? RETRY_MS : restMs(tookMs)),
      work: async () => {
        if (!isPaused()) await work();
      },
      onFailure: (err) => log.error({ err }, 'customers cannot be evaluated now: it will be tried again'),
    };
    const poll = isDue === undefined ? createPoll(options) : pollDue(dueWatch, { ...options, isDue });
    poll.start({ now: true });
    polls.push(poll);
    return poll;
  }

  return {
    repeat,
    /** Evaluates customers of the first of these lanes that has any. */
    addWorker(queue: EvaluationQueue, ...lanes: EvaluationLane[]): void {
      let lane: EvaluationLane | null = null;
      let isAsleep = false;
      const poll = repeat({
        async work() {
          lane = await queue.runBatch(...lanes);
        },
        restMs(tookMs) {
          isAsleep = lane === null && queue.figures().waiting === 0;
          return isAsleep ? ASLEEP_MS : restAfter(tookMs, lane);
        },
      });
      wakes.push(() => {
        // One that rests after its work is left alone.
        if (isAsleep) poll.soon(LOOK_INTERVAL_MS);
        isAsleep = false;
      });
    },
    wakeWorkers(): void {
      for (const wake of wakes) wake();
    },
    async close() {
      await Promise.all(polls.map((poll) => poll.close()));
    },
  };
}

/** The rest after a batch of the lane; null: there was none. */
function restAfter(tookMs: number, lane: EvaluationLane | null): number {
  if (lane === null) return LOOK_INTERVAL_MS;
  const { factor, maxMs } = RESTS[lane];
  return Math.max(LOOK_INTERVAL_MS, Math.min(factor * tookMs, maxMs));
}
