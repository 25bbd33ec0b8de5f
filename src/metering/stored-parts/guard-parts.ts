/**
 * ClickHouse, monitored for damage and closed while events are missing: a number computed from some of the events is
 * wrong, and events accepted now would be lost by a restore.
 */
import { ClickHouseError } from '@clickhouse/client';
import { Refusal } from '../../core/errors.ts';
import { around } from '../client/around.ts';
import type { ClickHouse, QueryLane } from '../client/clickhouse.ts';

/** The place where a query found damage. */
export interface DamagedPart {
  readonly tableId: string;
  readonly part: string;
}

export interface PartsGuard {
  /** Null while all events are present; else one line for the operator. */
  problem(): string | null;
  /** Called when a query failed because a part cannot be read. */
  damaged(part: DamagedPart): void;
}

/** The service's own checks and the rebuilding of the index continue. */
const OPEN_LANES: ReadonlySet<QueryLane> = new Set(['ingest', 'verification']);

export function guardParts(clickhouse: ClickHouse, guard: PartsGuard): ClickHouse {
  return around(clickhouse, {
    async run(call, work) {
      if (call.kind === 'select' && !OPEN_LANES.has(call.statement.lane ?? 'requests')) requireNoLoss(guard);
      try {
        return await work();
      } catch (error) {
        const part = damagedPart(error);
        if (part !== null) guard.damaged(part);
        throw error;
      }
    },
  });
}

/** Refuses as `unavailable` while stored events are missing. */
export function requireNoLoss({ problem }: Pick<PartsGuard, 'problem'>): void {
  const text = problem();
  if (text !== null) throw new Refusal('unavailable', `stored events are missing: ${text}`);
}

/** ClickHouse's errors about truncated, changed, or missing files. */
const DAMAGE_TYPES = new Set([
  'ATTEMPT_TO_READ_AFTER_EOF',
  'CANNOT_DECOMPRESS',
  'CANNOT_OPEN_FILE',
  'CANNOT_READ_ALL_DATA',
  'CANNOT_READ_FROM_FILE_DESCRIPTOR',
  'CHECKSUM_DOESNT_MATCH',
  'CORRUPTED_DATA',
  'FILE_DOESNT_EXIST',
  'INCORRECT_DATA',
  'NO_FILE_IN_DATA_PART',
  'STD_EXCEPTION',
  'TOO_LARGE_SIZE_COMPRESSED',
  'UNEXPECTED_END_OF_FILE',
  'UNKNOWN_CODEC',
]);

const PART_PATH = /\/store\/[0-9a-f]{3}\/([0-9a-f-]{36})\/(\w+)\//;

/** The part whose files a query could not read; null for all other failures. */
export function damagedPart(error: unknown): DamagedPart | null {
  if (!(error instanceof ClickHouseError) || !DAMAGE_TYPES.has(error.type ?? '')) return null;
  const [, tableId, part] = PART_PATH.exec(error.message) ?? [];
  return tableId === undefined || part === undefined ? null : { tableId, part };
}
