/**
 * Stores the events of a batch whose ids are not stored yet. Exact against everything stored, of any age, by looking
 * the ids up in ClickHouse before each insert; a service that stores the same id in between reconciles it
 * (docs/explanation/deduplication.md).
 */

import { groupBy } from '../../../core/group-by.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import type { ClickHouse } from '../../../metering/client/clickhouse.ts';
import { findEvents } from '../../../metering/events/find-events.ts';
import type { StoredEvent } from '../../../metering/events/stored-event.ts';
import {
  createRowEncoder,
  type RowEncoder,
  rowBytes,
  USAGE_EVENTS_INSERT,
} from '../../../metering/ingest/encode-events.ts';
import type { EventRows, ReadEvent } from '../../../metering/ingest/event-rows.ts';
import { readStoredIdFilter, type StoredIdFilter } from '../../../metering/ingest/stored-id-filter.ts';
import { findStoredIds } from '../../../metering/ingest/stored-ids.ts';
import { HASH_WORDS } from '../../../metering/ingest/transaction-hash.ts';
import type { Finding } from './findings.ts';

interface BatchOutcome {
  readonly stored: number;
  readonly duplicates: number;
  /** Duplicates whose content differs from that of the stored event. */
  readonly contradicting: Finding;
}

export interface BatchStore {
  /** Resolves when the new ones are on disk. If two events have one id, the first is stored. */
  store(events: EventRows, now: Instant): Promise<BatchOutcome>;
}

/** Events are in monthly partitions, and ClickHouse refuses an insert into more than a hundred. */
const MONTHS_PER_INSERT = 50;
/** Ids of the latest batches are kept too: on a cluster a lagging replica may not show them. */
const BATCHES_REMEMBERED = 10;

/**
 * Reading all ids once, for a filter, takes as long as this many lookups that read the whole column. Fewer batches
 * finish earlier without it.
 */
const LOOKUPS_BEFORE_FILTER = 16;
/** Events that other writers store become visible within this time. */
const VISIBLE_AFTER_SECONDS = 10;

export interface StoreOptions {
  /** No event is stored with a second of acceptance before this one. */
  readonly acceptedFrom: number;
  /** Whether others may store events concurrently, and whether their times of acceptance are known to be current. */
  readonly others: 'none' | 'followed' | 'unknown';
}

export function createBatchStore(
  clickhouse: ClickHouse,
  { acceptedFrom, others }: StoreOptions = { acceptedFrom: 0, others: 'none' },
): BatchStore {
  const encoder = createRowEncoder();
  encoder.startAfter(acceptedFrom * 1_000_000 - 1);
  const recent: Set<string>[] = [];
  const lookups = createLookups(clickhouse, others);
  return {
    async store(events, now) {
      const fresh = await newEvents(lookups, events, recent);
      const repeated = placesBeside(events, fresh);
      const contradicting = await findContradictions(clickhouse, events, { fresh, repeated });
      for (const index of fresh.values()) lookups.add(events, index);
      for (const group of byMonths(events, [...fresh.values()])) {
        await clickhouse.insertRows({
          ...USAGE_EVENTS_INSERT,
          rows: encodeRows(encoder, events, group, now),
        });
      }
      recent.push(new Set(fresh.keys()));
      if (recent.length > BATCHES_REMEMBERED) recent.shift();
      return { stored: fresh.size, duplicates: repeated.length, contradicting };
    },
  };
}

/** The indexes of new events by their ids, in the order of the file. */
async function newEvents(
  lookups: Lookups,
  events: EventRows,
  recent: readonly ReadonlySet<string>[],
): Promise<Map<string, number>> {
  const candidates = new Map<string, number>();
  for (let index = 0; index < events.count; index += 1) {
    const transactionId = events.transactionId(index);
    if (candidates.has(transactionId) || recent.some((ids) => ids.has(transactionId))) continue;
    candidates.set(transactionId, index);
  }
  for (const id of await lookups.find(events, [...candidates.values()])) candidates.delete(id);
  return candidates;
}

function placesBeside({ count }: EventRows, fresh: ReadonlyMap<string, number>): number[] {
  const places = new Set(fresh.values());
  return Array.from({ length: count }, (_, index) => index).filter((index) => !places.has(index));
}

interface Lookups {
  /** The stored ids among these, and possibly others. */
  find(events: EventRows, places: readonly number[]): Promise<ReadonlySet<string>>;
  /** Adds an event that is about to be stored. */
  add(events: EventRows, place: number): void;
}

function createLookups(clickhouse: ClickHouse, others: StoreOptions['others']): Lookups {
  let filter: StoredIdFilter | null = null;
  let lookups = 0;
  let followedFrom = 0;
  const secondsNow = () => Math.floor(Date.now() / 1000) - VISIBLE_AFTER_SECONDS;
  return {
    async find(events, places) {
      if (lookups === LOOKUPS_BEFORE_FILTER && others !== 'unknown') {
        followedFrom = secondsNow();
        filter = await readStoredIdFilter(clickhouse);
      }
      lookups += 1;
      if (filter !== null && others === 'followed') {
        const next = secondsNow();
        await filter.follow(followedFrom);
        followedFrom = next;
      }
      const unsure = places.filter((index) => filter?.mayHave(events.hashes, index * HASH_WORDS) ?? true);
      return await findStoredIds(
        clickhouse,
        unsure.map((index) => events.hashes[index * HASH_WORDS] ?? 0),
      );
    },
    add: (events, place) => filter?.add(events.hashes, place * HASH_WORDS),
  };
}

/** Groups of few months each; a batch of adjacent times, the usual case, is one group. */
function byMonths(events: EventRows, places: readonly number[]): number[][] {
  const months = new Map<string, number[]>();
  for (const index of places) {
    const month = formatInstant(events.timestamps[index] ?? 0).slice(0, 7);
    const known = months.get(month);
    if (known === undefined) months.set(month, [index]);
    else known.push(index);
  }
  const groups: number[][] = [];
  const inOrder = [...months.values()];
  for (let from = 0; from < inOrder.length; from += MONTHS_PER_INSERT) {
    groups.push(inOrder.slice(from, from + MONTHS_PER_INSERT).flat());
  }
  return groups;
}

function encodeRows(encoder: RowEncoder, events: EventRows, places: readonly number[], now: Instant): Buffer {
  const buffer = Buffer.allocUnsafe(places.reduce((sum, index) => sum + rowBytes(events, index), 0));
  let end = 0;
  for (const index of places) end = encoder.encode(events, index, now, buffer, end);
  return buffer;
}

/** Maximum repeats per batch that are compared: in a file that is read a second time every row is one. */
const COMPARED_MAX = 100;

/**
 * Compares the events at `repeated`, which are not stored, with those that are: in the same batch, at indexes `fresh`,
 * or stored before. Among those stored before, only the first hundred are compared.
 */
async function findContradictions(
  clickhouse: ClickHouse,
  events: EventRows,
  { fresh, repeated }: { readonly fresh: ReadonlyMap<string, number>; readonly repeated: readonly number[] },
): Promise<Finding> {
  const again = repeated.map((index) => events.read(index));
  const beside = again.filter(({ transactionId }) => fresh.has(transactionId));
  const before = again.filter(({ transactionId }) => !fresh.has(transactionId)).slice(0, COMPARED_MAX);
  const found = [
    ...beside.filter((event) => differs(event, events.read(fresh.get(event.transactionId) ?? 0))),
    ...(await differingFromStored(clickhouse, before)),
  ];
  return { count: found.length, example: found[0]?.transactionId ?? null };
}

async function differingFromStored(
  clickhouse: ClickHouse,
  again: readonly ReadEvent[],
): Promise<readonly ReadEvent[]> {
  if (again.length === 0) return [];
  const ids = [...new Set(again.map(({ transactionId }) => transactionId))];
  const { accepted } = await findEvents(clickhouse, ids, 0, 1);
  const stored = groupBy(accepted, ({ transactionId }) => transactionId);
  // If it is missing, another process stored it a moment ago, and it is not visible yet.
  return again.filter(
    (event) => stored.get(event.transactionId)?.every((one) => differs(event, one)) ?? false,
  );
}

type Content = Pick<StoredEvent, 'customerRef' | 'eventType' | 'timestamp'> & {
  readonly properties: Iterable<readonly [name: string, text: string]>;
};

function differs(a: Content, b: Content): boolean {
  return contentOf(a) !== contentOf(b);
}

/** Equal for equal events, independent of the order of properties. */
function contentOf({ customerRef, eventType, timestamp, properties }: Content): string {
  const sorted = [...properties].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([customerRef, eventType, timestamp, sorted]);
}
