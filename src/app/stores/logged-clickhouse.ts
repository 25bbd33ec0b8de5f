/**
 * The embedded ClickHouse with the log of DATA_DIR in front of it: opens the log, resumes with its records, and
 * maintains PostgreSQL's record of it, which states what the log must contain at the next start.
 *
 * A log with missing acknowledged events is left unchanged, and nothing is appended, until the loss is accepted
 * (parts-watch.ts).
 */
import { codeOf } from '../../core/failures.ts';
import { NO_TRACER, type Tracer } from '../../core/tracing.ts';
import { openEventLog, type StoredEventLog } from '../../embedded/event-log/event-log.ts';
import { EventLogError } from '../../embedded/event-log/files.ts';
import {
  type FoundLog,
  findEventLog,
  type LogDamage,
  type RecordedPosition,
} from '../../embedded/event-log/find-event-log.ts';
import type { Logger } from '../../log.ts';
import type { ClickHouse } from '../../metering/client/clickhouse.ts';
import { countRows } from '../../metering/ingest/encode-events.ts';
import { createEventBlocks, type EventBlocks } from '../../metering/ingest/event-blocks.ts';
import { createHeldBlocks } from '../../metering/ingest/held-blocks.ts';
import { withAcknowledgedEvents } from '../../metering/ingest/read-events.ts';
import { createPoll } from '../../runtime/poll.ts';

/** The state of the log in PostgreSQL. */
interface LogRecords {
  read(): Promise<RecordedPosition | null>;
  write(record: RecordedPosition): Promise<void>;
}

export interface LoggedClickHouseOptions {
  readonly log?: Logger | undefined;
  readonly tracer?: Tracer | undefined;
  /** Absent: a log that was removed is treated as a new one. */
  readonly records?: LogRecords;
}

/** An embedded ClickHouse and the events on their way to it. */
export interface LoggedClickHouse {
  readonly clickhouse: ClickHouse;
  readonly blocks: EventBlocks;
  readonly lostEvents: LostEvents;
  /** Inserts them and closes the log; ClickHouse stays open. */
  close(): Promise<void>;
}

/** Acknowledged events that are missing from the log. */
export interface LostEvents {
  /** Null if none is missing, or the loss was accepted. */
  loss(): LogDamage | null;
  /** Continues with the readable records. */
  accept(): Promise<void>;
}

/** The maximum age of PostgreSQL's record of an open log. */
const RECORD_INTERVAL_MS = 2_000;

const NO_RECORDS: LogRecords = { read: async () => null, write: async () => {} };

/** Opens the log in front of a migrated ClickHouse, and resumes with its records. */
export async function withEventLog(
  clickhouse: ClickHouse,
  dataDir: string,
  options: LoggedClickHouseOptions = {},
): Promise<LoggedClickHouse> {
  const { log, tracer = NO_TRACER, records = NO_RECORDS } = options;
  const found = await findEventLog(dataDir, { recorded: await records.read(), countRows });
  const blocks = createHeldBlocks();
  let loss = found.damage;
  let opened: OpenLog | null = null;
  const open = async () => {
    opened = await openLog(found, records, log);
    const onFailure = (error: unknown, rows: number) =>
      log?.error(
        { err: error, rows },
        'acknowledged events could not be written to ClickHouse; it is tried again',
      );
    blocks.open(createEventBlocks({ clickhouse, log: opened.eventLog, tracer, onFailure }));
    loss = null;
  };
  if (loss === null) await open();
  return {
    clickhouse: withAcknowledgedEvents(clickhouse, blocks),
    blocks,
    lostEvents: { loss: () => loss, accept: open },
    close: async () => {
      await blocks.close();
      await opened?.close();
    },
  };
}

/**
 * `withEventLog` for a program without PostgreSQL, which appends nothing. Throws an `EventLogError` if events are
 * missing; if there is no log, none is created, because the service may miss one.
 */
export async function withTakenUpEvents(
  clickhouse: ClickHouse,
  dataDir: string,
): Promise<Pick<LoggedClickHouse, 'clickhouse' | 'close'>> {
  const { damage, isNew } = await findEventLog(dataDir, { recorded: null, countRows });
  if (damage !== null) {
    throw new EventLogError('acknowledged events are missing: start the service, which says what to do');
  }
  return isNew ? { clickhouse, close: async () => {} } : await withEventLog(clickhouse, dataDir);
}

interface OpenLog {
  readonly eventLog: StoredEventLog;
  close(): Promise<void>;
}

async function openLog(found: FoundLog, records: LogRecords, log: Logger | undefined): Promise<OpenLog> {
  const eventLog = await openEventLog(found).catch((error: unknown) => {
    if (codeOf(error) === undefined) throw error;
    const reason = (error as Error).message;
    throw new EventLogError(`cannot open the log of events in ${found.paths.directory}: ${reason}`);
  });
  let recorded = '';
  const record = async (isOpen: boolean) => {
    const next: RecordedPosition = { ...(await eventLog.position()), isOpen };
    const text = JSON.stringify(next);
    if (text === recorded) return;
    await records.write(next);
    recorded = text;
  };
  try {
    // Before the first event: from now on the log must exist.
    await record(true);
  } catch (error) {
    await eventLog.close();
    throw error;
  }
  const recording = createPoll({
    name: 'position of the log',
    intervalMs: RECORD_INTERVAL_MS,
    work: () => record(true),
    onFailure: (err) =>
      log?.debug({ err }, 'the position of the log of events could not be recorded; it is tried again'),
  });
  recording.start();
  return {
    eventLog,
    close: async () => {
      await recording.close();
      await record(false).catch((error: unknown) => {
        log?.warn({ err: error }, 'the closing of the log of events could not be recorded in PostgreSQL');
      });
      await eventLog.close();
    },
  };
}
