/**
 * The record of which files of known ids belong to the stored events. It is in ClickHouse, with the events: if the
 * events are those of another data directory or of an earlier time, so is the record, and files that it does not name
 * are not read.
 */
import { z } from 'zod';
import { NO_EVENTS } from '../../client/around.ts';
import type { ClickHouse } from '../../client/clickhouse.ts';
import type { RunSummary } from './run.ts';

export interface RecordedRuns {
  /**
   * The identity of the stored events when the runs were built; if it has changed, ids are read from ClickHouse again.
   */
  readonly state: string;
  /** Ids accepted before this second are no longer known. */
  readonly coveredFrom: number;
  /** In order. */
  readonly runs: readonly RunSummary[];
}

export interface RunRecord {
  /** Null if there is none. */
  read(): Promise<RecordedRuns | null>;
  write(recorded: RecordedRuns): Promise<void>;
}

const TABLE = 'known_id_runs';
/** The key of the only record. */
const KEY = 1;

const recordedRuns = z.object({
  state: z.string(),
  coveredFrom: z.number(),
  runs: z.array(z.object({ name: z.string(), from: z.number(), to: z.number(), ids: z.number() })),
});

const recordRow = z.object({ version: z.string(), runs: z.string() });

/** The record of an embedded ClickHouse. */
export function createRunRecord(clickhouse: ClickHouse): RunRecord {
  let version = 0;
  return {
    async read() {
      const [row] = await clickhouse.query({
        sql: `SELECT version, runs FROM ${TABLE} ORDER BY version DESC LIMIT 1`,
        lane: 'ingest',
        eventsOf: NO_EVENTS,
        schema: recordRow,
      });
      if (row === undefined) return null;
      version = Number(row.version);
      return recordedRuns.parse(JSON.parse(row.runs));
    },
    async write(recorded) {
      version += 1;
      const rows = Buffer.from(JSON.stringify([KEY, version, JSON.stringify(recorded)]));
      await clickhouse.insertRows({ table: TABLE, columns: ['key', 'version', 'runs'], rows });
    },
  };
}

/** For a process whose files are of no use to the next one, because others store events as well. */
export const NO_RECORD: RunRecord = { read: async () => null, write: async () => {} };

/** The second from which ids are not in the files of an embedded ClickHouse; 0 if there are no files. */
export async function recordedUpTo(clickhouse: ClickHouse): Promise<number> {
  const recorded = await createRunRecord(clickhouse).read();
  return recorded?.runs.at(-1)?.to ?? 0;
}
