/**
 * How long the search for one transaction id takes among a hundred million events, all of them in the window, when nothing
 * is left to merge. `restart.ts` searches while there is.
 */
import { quantile, table } from './report.ts';
import { timeSearches, withStoredEvents } from './stored-service.ts';

const EVENTS = 100_000_000;
/** The first round finds parts unopened; the later ones show what a day looks like. */
const ROUNDS = 3;

export async function benchSearch(): Promise<string> {
  return await withStoredEvents({ events: EVENTS, areMerged: true }, async (service) => {
    const rows: string[][] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const times = await timeSearches(service);
      const shares = [0.5, 0.99].map((share) => `${quantile(times, share).toFixed(0)} ms`);
      rows.push([`${round}`, String(times.length), ...shares]);
    }
    const memory = ((await service.memoryMb()) / 1024).toFixed(2);
    const start = (service.startMs / 1000).toFixed(0);
    return `search of one id among 100 million events (target 100 ms, goal 20 ms; restart ${start} s, memory ${memory} GB)\n\n${table(
      ['round', 'searches', 'p50', 'p99'],
      rows,
    )}`;
  });
}
