/**
 * Usage that has not changed is not read again: the series of a few customers, until the next event of theirs is taken.
 *
 * Exact by one rule. A customer is watched from a tick on: every event taken earlier has that tick or an earlier one, and
 * the next event ends the watch. So all reads that count ingestion up to the tick or later see the same events. Only for a
 * process that is the only writer (`EventFacts.takenUpTo`).
 */
import { hashText } from '../../core/byte-hash.ts';
import { createCache } from '../../runtime/cache.ts';
import type { EventFacts } from '../ingest/event-facts.ts';
import type { ReadWatch } from '../ingest/new-events.ts';
import type { UsageOwner } from '../query/series-sql.ts';
import type { MetricSeriesRequest, PackedUsage, SharedUsageRequest } from './metric-usage.ts';

/** The usage of one metric, by customer. Customers without usage are absent. */
type Series = ReadonlyMap<string, PackedUsage>;
type TickFacts = Pick<EventFacts, 'takenUpTo' | 'completeUpTo'>;
type Asked = Omit<SharedUsageRequest, 'metrics'> & Pick<MetricSeriesRequest, 'slice' | 'countsEvents'>;

export interface RecentUsage {
  /** The answers of `read`, one for each metric, unless they are known. */
  series(
    asked: Asked,
    metrics: readonly object[],
    read: () => Promise<readonly Series[]>,
  ): Promise<readonly Series[]>;
  /** Forgets everything: stored events were changed or lost. */
  forget(): void;
  readonly watch: ReadWatch;
  close(): void;
}

interface Customer {
  /** Ingestion ticks in epoch microseconds: this one, or an earlier one, is that of each event taken before the watch. */
  readonly since: number;
  readonly owners: readonly number[];
  /** By metric and period; null: no usage. */
  readonly answers: Map<string, PackedUsage | null>;
  isCurrent: boolean;
  size: number;
}

/** Values of all answers together, of 16 bytes each before they are unpacked. */
const VALUES_MAX = 500_000;
/** The size of an answer in values, in addition to its own. */
const ANSWER_VALUES = 50;
/** Runs of invoices read each customer once. */
const CUSTOMERS_MAX = 10;

/** Reads while `problem` names a loss of stored events: then nothing is remembered, and the caller forgets the rest. */
export function createRecentUsage(facts: TickFacts, problem: () => string | null): RecentUsage {
  return new WatchedUsage({ ...facts, takenUpTo: () => (problem() === null ? facts.takenUpTo() : null) });
}

/** For reads that are not repeated, and readers beside other writers. */
export const NO_RECENT_USAGE: RecentUsage = {
  series: (_asked, _metrics, read) => read(),
  forget: () => undefined,
  watch: { isWatching: () => false, taken: () => undefined },
  close: () => undefined,
};

class WatchedUsage implements RecentUsage {
  readonly #facts: TickFacts;
  readonly #byOwner = new Map<number, Set<Customer>>();
  readonly #customers = createCache<string, Customer>({
    name: 'usage of customers',
    sizeMax: VALUES_MAX,
    sizeOf: ({ size }) => size,
    onEvict: (customer) => this.#unwatch(customer),
  });

  readonly watch: ReadWatch = {
    isWatching: () => this.#byOwner.size > 0,
    taken: (owner) => {
      const customers = this.#byOwner.get(owner);
      if (customers !== undefined) for (const customer of customers) this.#unwatch(customer);
    },
  };

  constructor(facts: TickFacts) {
    this.#facts = facts;
  }

  forget(): void {
    for (const customers of [...this.#byOwner.values()]) for (const one of customers) this.#unwatch(one);
  }

  close(): void {
    this.forget();
    this.#customers.close();
  }

  async series(
    asked: Asked,
    metrics: readonly object[],
    read: () => Promise<readonly Series[]>,
  ): Promise<readonly Series[]> {
    const takenUpTo = this.#facts.takenUpTo();
    if (takenUpTo === null || !isSmall(asked)) return await read();
    const countedUpTo = Number(asked.ingestedUpTo);
    // Events that are being written may become visible during a read that counts them.
    if (countedUpTo > Number(this.#facts.completeUpTo() ?? 0)) return await read();
    const watched = asked.customers.map((owner) => [owner, this.#watched(owner, takenUpTo)] as const);
    const keys = metrics.map((metric) => keyOf(metric, asked));
    const known = knownOf(watched, keys, { countedUpTo, rowsMax: asked.rowsMax });
    if (known !== null) return known;
    const found = await read();
    for (const [owner, customer] of watched)
      if (customer.isCurrent && countedUpTo >= customer.since) this.#remember(owner, customer, keys, found);
    return found;
  }

  #watched({ refs }: UsageOwner, takenUpTo: number): Customer {
    const name = JSON.stringify(refs);
    const known = this.#customers.get(name);
    if (known?.isCurrent === true) return known;
    const owners = [...new Set(refs.map(hashText))];
    const customer = { since: takenUpTo, owners, answers: new Map(), isCurrent: true, size: ANSWER_VALUES };
    for (const owner of owners) {
      const others = this.#byOwner.get(owner) ?? new Set();
      this.#byOwner.set(owner, others.add(customer));
    }
    this.#customers.set(name, customer);
    return customer;
  }

  /** Ends the watch. The customer is watched again when its usage is next read. */
  #unwatch(customer: Customer): void {
    customer.isCurrent = false;
    customer.answers.clear();
    for (const owner of customer.owners) {
      const others = this.#byOwner.get(owner);
      others?.delete(customer);
      if (others?.size === 0) this.#byOwner.delete(owner);
    }
  }

  #remember(
    { customerId, refs }: UsageOwner,
    customer: Customer,
    keys: readonly string[],
    found: readonly Series[],
  ): void {
    const name = JSON.stringify(refs);
    // The size of a value in the cache must not change.
    this.#customers.delete(name);
    for (const [index, key] of keys.entries()) {
      if (customer.answers.has(key)) continue;
      const usage = found[index]?.get(customerId) ?? null;
      customer.answers.set(key, usage);
      customer.size += ANSWER_VALUES + (usage?.valueCount ?? 0);
    }
    this.#customers.set(name, customer);
  }
}

function isSmall({ customers, ingestedUpTo, slice, countsEvents }: Asked): boolean {
  return ingestedUpTo != null && customers.length <= CUSTOMERS_MAX && slice == null && countsEvents !== true;
}

/** Null unless all answers are known, and as few values as the request allows. */
function knownOf(
  watched: readonly (readonly [UsageOwner, Customer])[],
  keys: readonly string[],
  { countedUpTo, rowsMax }: { readonly countedUpTo: number; readonly rowsMax: number },
): readonly Series[] | null {
  let values = 0;
  const known: Map<string, PackedUsage>[] = [];
  for (const key of keys) {
    const series = new Map<string, PackedUsage>();
    for (const [{ customerId }, { since, answers }] of watched) {
      const answer = answers.get(key);
      if (answer === undefined || countedUpTo < since) return null;
      if (answer === null) continue;
      values += answer.valueCount;
      series.set(customerId, answer);
    }
    known.push(series);
  }
  return values <= rowsMax ? known : null;
}

function keyOf(metric: object, { period, groupBy, usageFilter }: Asked): string {
  return JSON.stringify([metric, period, groupBy, usageFilter ?? null]);
}
