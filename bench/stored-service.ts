/** The built service on a data directory that already holds many events, and searches for some of them. */
import { join } from 'node:path';
import { mergeStoredEvents, storeEvents } from './stored-events.ts';
import { startTemporaryService, type TemporaryService, withTemporaryDirectory } from './temporary-service.ts';

const SEARCHES = 50;
const IDS = Array.from({ length: SEARCHES }, (_, index) => `findable-${index}`);

/**
 * Calls `measure` with the service once it is ready; the data are removed afterwards. `areMerged`: nothing is left to merge
 * of them when it starts.
 */
export async function withStoredEvents<Result>(
  { events, areMerged }: { readonly events: number; readonly areMerged: boolean },
  measure: (service: TemporaryService) => Promise<Result>,
): Promise<Result> {
  return await withTemporaryDirectory(async (directory) => {
    // The first start creates PostgreSQL's cluster and all tables. A later start is measured.
    await (await startTemporaryService(directory)).close();
    await storeEvents(join(directory, 'clickhouse'), events, IDS);
    if (areMerged) await mergeStoredEvents(join(directory, 'clickhouse'));
    const service = await startTemporaryService(directory);
    try {
      return await measure(service);
    } finally {
      await service.close();
    }
  });
}

/** The milliseconds of one search each, one after the other. */
export async function timeSearches(service: TemporaryService): Promise<number[]> {
  const times: number[] = [];
  for (const id of IDS) {
    const answer = await service.post('/v1/events/search', { transactionIds: [id] });
    if (!Array.isArray(answer.body) || answer.body.length !== 1) throw new Error('the event was not found');
    times.push(answer.milliseconds);
  }
  return times;
}
