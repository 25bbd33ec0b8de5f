/** The cost of ten million ids in the window: the restart, the memory, and finding one of them. */
import { quantile, table } from './report.ts';
import { timeSearches, withStoredEvents } from './stored-service.ts';

const EVENTS = 10_000_000;

export async function benchRestart(): Promise<string> {
  return await withStoredEvents({ events: EVENTS, areMerged: false }, async (service) => {
    const times = await timeSearches(service);
    const memory = await service.memoryMb();
    return table(
      ['with 10 million ids in the window', 'target', 'measured'],
      [
        ['restart to ready', '10 s, aim 3 s', `${(service.startMs / 1000).toFixed(1)} s`],
        ['memory of the process', '1.5 GB, aim 1 GB', `${(memory / 1024).toFixed(2)} GB`],
        [
          'search of one id, right after the start',
          '100 ms',
          `p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`,
        ],
      ],
    );
  });
}
