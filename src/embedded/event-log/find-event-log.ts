/**
 * Checks the log of a data directory before it is used, and reports missing records.
 *
 * The records that it must hold follow from three facts outside of its files: the position beside them
 * (`position-file.ts`), the position recorded in PostgreSQL a moment earlier (`RecordedPosition`), and whether a
 * process had it open since. So a log that was removed, emptied, cut, changed or replaced by an older one is always
 * detected.
 */
import { readFile } from 'node:fs/promises';
import { codeOf } from '../../core/failures.ts';
import { EventLogError, type LogPaths, logPaths, readSegment, segmentPaths } from './files.ts';
import { readOlderLog } from './older-log.ts';
import { type LogPosition, readPosition, START } from './position-file.ts';
import { type LogRecord, wholeRecords } from './record-format.ts';
import type { ClosedSegment } from './segments.ts';

/** The state of the log in PostgreSQL. */
export interface RecordedPosition extends LogPosition {
  /** A process uses it, or ended without closing it: more may have been acknowledged. */
  readonly isOpen: boolean;
}

/** Acknowledged events that are missing from the log. */
export interface LogDamage {
  /** Names the records; stable across checks. */
  readonly name: string;
  /** The number of missing events; null if unknown. */
  readonly rows: number | null;
}

export interface FoundLog {
  readonly paths: LogPaths;
  /** Null if every acknowledged event is present. */
  readonly damage: LogDamage | null;
  /** There is no log, and none is expected. */
  readonly isNew: boolean;
  /** The position at which it continues. */
  readonly position: LogPosition;
  readonly segments: readonly ClosedSegment[];
  /** Rows in the format of earlier versions, to be written in the current one. */
  readonly older: readonly LogRecord[];
}

export interface LogFacts {
  /** Null if PostgreSQL has no record of a log. */
  readonly recorded: RecordedPosition | null;
  /** The number of rows in these bytes; null if they are not whole rows. */
  readonly countRows: (rows: Buffer) => number | null;
}

/** Throws an `EventLogError` if its files cannot be read at all. Changes nothing. */
export async function findEventLog(dataDir: string, { recorded, countRows }: LogFacts): Promise<FoundLog> {
  const paths = logPaths(dataDir);
  try {
    const known = await readPosition(paths.position);
    const { segments, counts } = await scan(paths.directory);
    if (known === null && recorded === null) {
      const older = await findOlder(paths.older, countRows);
      // Files without a position are an incomplete copy of it.
      if (older !== null) return { ...older, paths, isNew: false, position: START, segments: [] };
      const isNew = segments.length === 0;
      if (isNew) return { damage: null, older: [], paths, isNew, position: START, segments };
    }
    return { ...judge(known, recorded, counts), paths, isNew: false, segments, older: [] };
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    const reason = (error as Error).message;
    throw new EventLogError(`cannot read the log of events in ${paths.directory}: ${reason}`);
  }
}

interface Scanned {
  readonly segments: readonly ClosedSegment[];
  /** The number of rows of each whole record. */
  readonly counts: ReadonlyMap<number, number>;
}

async function scan(directory: string): Promise<Scanned> {
  const segments: ClosedSegment[] = [];
  const counts = new Map<number, number>();
  for (const path of await segmentPaths(directory)) {
    let last = 0;
    for (const { number, count } of wholeRecords(readSegment(path))) {
      counts.set(number, count);
      last = Math.max(last, number);
    }
    segments.push({ path, last });
  }
  return { segments, counts };
}

/** The missing records, and the position at which the log continues. */
function judge(
  known: LogPosition | null | 'damaged',
  recorded: RecordedPosition | null,
  counts: Scanned['counts'],
): Pick<FoundLog, 'damage' | 'position'> {
  const file = known === 'damaged' ? null : known;
  const base = laterOf(file ?? START, recorded ?? START);
  const live = [...counts.keys()].filter((number) => number > base.stored).sort((a, b) => a - b);
  const last = Math.max(base.acknowledged, live.at(-1) ?? 0);
  const isMissing = live.length < last - base.stored;
  // The file is written with every batch; the record in PostgreSQL is some seconds old.
  const isBehind = file === null || (recorded !== null && file.acknowledged < recorded.acknowledged);
  const isUnknown = isBehind && recorded?.isOpen !== false;
  const rowsOf = (numbers: readonly number[]) =>
    numbers.reduce((sum, number) => sum + (counts.get(number) ?? 0), 0);
  const acknowledgedRows =
    base.acknowledgedRows + rowsOf(live.filter((number) => number > base.acknowledged));
  const position = { ...base, acknowledged: last, acknowledgedRows };
  if (!isMissing && !isUnknown) return { damage: null, position };
  const first = base.stored + 1;
  const isCounted = !isUnknown && last === base.acknowledged;
  return {
    damage: {
      name: isUnknown ? `from-${first}` : `${first}-${last}`,
      rows: isCounted ? base.acknowledgedRows - base.storedRows - rowsOf(live) : null,
    },
    // Numbers of lost records are not reused.
    position: isUnknown ? { ...position, acknowledged: last + UNKNOWN_RECORDS } : position,
  };
}

const OLDER_NAME = 'data.mdb';
/** More than a log can hold. */
const UNKNOWN_RECORDS = 1_000_000;

function laterOf(a: LogPosition, b: LogPosition): LogPosition {
  const acknowledged = a.acknowledged >= b.acknowledged ? a : b;
  const stored = a.stored >= b.stored ? a : b;
  return {
    acknowledged: acknowledged.acknowledged,
    acknowledgedRows: acknowledged.acknowledgedRows,
    stored: stored.stored,
    storedRows: stored.storedRows,
  };
}

/** A log in the format of earlier versions; null if there is none. */
async function findOlder(
  path: string,
  countRows: LogFacts['countRows'],
): Promise<Pick<FoundLog, 'damage' | 'older'> | null> {
  let file: Buffer;
  try {
    file = await readFile(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
  const { values, isWhole } = readOlderLog(file);
  const older = values.flatMap((rows): LogRecord[] => {
    const count = countRows(rows);
    return count === null ? [] : [{ number: 0, count, rows }];
  });
  const isIntact = isWhole && older.length === values.length;
  return { older, damage: isIntact ? null : { name: OLDER_NAME, rows: null } };
}
