/**
 * More senders than the service can serve: 3,900 connections that send a refused request again after 5 ms, beside 512 in
 * the same run, each with 100 events (30 KB) a request. Only what is answered within the measured time counts.
 */
import { runGenerator } from './ingest.ts';
import type { LoadResult } from './load-generator.ts';
import { table } from './report.ts';
import { startTemporaryService } from './temporary-service.ts';

const CONNECTIONS = [512, 3_900] as const;
const EVENTS_PER_REQUEST = 100;
const RETRY_MS = 5;
/** All connections send at once in the beginning, to a process that has just started. */
const WARM_UP_MS = 10_000;

interface Measured {
  readonly connections: number;
  readonly load: LoadResult;
  readonly peakMb: number;
}

/** `seconds` of each load, on a new service. */
export async function benchOverload(seconds: number): Promise<string> {
  const measured: Measured[] = [];
  for (const connections of CONNECTIONS) {
    const service = await startTemporaryService(undefined, { RATE_LIMIT_INGEST: '0' });
    try {
      const { host, port, token, pid: servicePid } = service;
      const load = await runGenerator({
        ...{ host, port, token, servicePid, connections, eventsPerRequest: EVENTS_PER_REQUEST },
        ...{ eventsPerSecond: 0, warmUpMs: WARM_UP_MS, measureMs: seconds * 1000, retryMs: RETRY_MS },
        ...{ run: `${connections}-${Date.now().toString(36)}`, spreadMinutes: 60 },
      });
      measured.push({ connections, load, peakMb: await service.peakMemoryMb() });
    } finally {
      await service.close();
    }
  }
  return report(measured);
}

const rateOf = ({ accepted, seconds }: LoadResult) => accepted / seconds;

function report(measured: readonly Measured[]): string {
  const best = measured[0] === undefined ? Number.NaN : rateOf(measured[0].load);
  return table(
    [
      ...['connections', 'events/s', 'of the first row', 'accepted p50 ms', 'p99 ms', 'refused requests'],
      ...['connections reset', 'most memory, GB'],
    ],
    measured.map(({ connections, load, peakMb }) => [
      String(connections),
      rateOf(load).toFixed(0),
      `${((rateOf(load) / best) * 100).toFixed(0)} %`,
      load.latencyMs.p50.toFixed(0),
      load.latencyMs.p99.toFixed(0),
      String(load.failures),
      String(load.resets),
      (peakMb / 1024).toFixed(2),
    ]),
  );
}
