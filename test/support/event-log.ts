/** The log of events of a data directory, as a start of the service opens it. */
import { openEventLog, type StoredEventLog } from '../../src/embedded/event-log/event-log.ts';
import {
  type FoundLog,
  findEventLog,
  type RecordedPosition,
} from '../../src/embedded/event-log/find-event-log.ts';
import { countRows } from '../../src/metering/ingest/encode-events.ts';

export async function findLog(dataDir: string, recorded: RecordedPosition | null = null): Promise<FoundLog> {
  return await findEventLog(dataDir, { recorded, countRows });
}

/** Accepts what is missing. */
export async function openLog(
  dataDir: string,
  recorded: RecordedPosition | null = null,
): Promise<StoredEventLog> {
  return await openEventLog(await findLog(dataDir, recorded));
}
