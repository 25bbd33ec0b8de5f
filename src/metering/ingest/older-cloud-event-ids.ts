/**
 * CloudEvents that an earlier version stored under an ambiguous id (`olderCloudEventId`): if they are sent again they
 * keep that id, and so are duplicates.
 *
 * Looked up only while such an event can still be known, one deduplication window after the upgrade, and only for
 * bodies with a slash in an id.
 */
import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import { jsonOrNull } from '../../core/json-or-null.ts';
import { DAY_MS, HOUR_MS, type Instant } from '../../core/time.ts';
import type { ClickHouse } from '../client/clickhouse.ts';
import { type CloudEventIdentity, hasSlash, olderCloudEventId } from './cloud-events.ts';
import { USAGE_EVENTS_TABLE } from './encode-events.ts';
import { isObject } from './property-text.ts';
import { firstHashWord, SEARCHED_BY_HASH } from './transaction-hash-search.ts';

/** Processes of the earlier version may still store events during a rolling upgrade. */
const BESIDE_OLDER_VERSION_MS = HOUR_MS;

interface OlderCloudEventIdsOptions {
  readonly identity: CloudEventIdentity;
  /** The time of the upgrade; null without an earlier version. */
  readonly apartFrom: Instant | null;
  readonly windowDays: number;
  readonly clock: Clock;
  readonly clickhouse: ClickHouse;
  /** The subset of these ids whose events are on disk. */
  storedAmong(transactionIds: readonly string[]): Promise<ReadonlySet<string>>;
}

/** The older ids among the events of a body that an earlier version has stored. */
export type OlderCloudEventIds = (body: Buffer) => Promise<ReadonlySet<string>>;

const NONE: ReadonlySet<string> = new Set();

export function createOlderCloudEventIds(options: OlderCloudEventIdsOptions): OlderCloudEventIds {
  const { identity, apartFrom, windowDays, clock, clickhouse, storedAmong } = options;
  if (identity === 'id' || apartFrom === null) return async () => NONE;
  const storedBefore = apartFrom + BESIDE_OLDER_VERSION_MS;
  return async (body) => {
    if (clock.now() > storedBefore + windowDays * DAY_MS) return NONE;
    const ids = olderIdsOf(body);
    const known = ids.length === 0 ? NONE : await storedAmong(ids);
    return known.size === 0 ? NONE : await findAcceptedBefore(clickhouse, [...known], storedBefore);
  };
}

/** An id with a slash, or a text that may contain one after unescaping. */
const MAYBE_SLASH = /"id"\s*:\s*"[^"]*[/\\]|\\u/;

/** The older ids of the events whose id has a slash. Empty for a body that is not JSON, which its reader refuses. */
function olderIdsOf(body: Buffer): string[] {
  const text = body.toString('utf8');
  if (!MAYBE_SLASH.test(text)) return [];
  const parsed = jsonOrNull(text);
  const events: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  return events.flatMap((event) => {
    if (!isObject(event)) return [];
    const { source, id } = event;
    if (typeof source !== 'string' || typeof id !== 'string' || !hasSlash(id)) return [];
    return [olderCloudEventId(source, id)];
  });
}

const FOUND_SQL = `
  SELECT DISTINCT transaction_id FROM ${USAGE_EVENTS_TABLE}
  PREWHERE id_hash_a IN {hashes:Array(UInt32)}
  WHERE has({ids:Array(String)}, transaction_id)
    AND ingested_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC')`;

async function findAcceptedBefore(
  clickhouse: ClickHouse,
  ids: readonly string[],
  before: Instant,
): Promise<Set<string>> {
  const rows = await clickhouse.query({
    sql: FOUND_SQL,
    params: { ids, hashes: ids.map(firstHashWord), before },
    settings: SEARCHED_BY_HASH,
    schema: z.object({ transaction_id: z.string() }),
  });
  return new Set(rows.map(({ transaction_id }) => transaction_id));
}
