/**
 * Ten times as many connections as the service can serve, which send again a few milliseconds after a refusal, beside a load
 * that it can serve: in turns on one service, so that both meet the same machine.
 */
import { type Run, runGenerator } from './ingest.ts';
import type { LoadResult } from './load-generator.ts';
import { table } from './report.ts';
import { startTemporaryService, type TemporaryService } from './temporary-service.ts';

const SERVED = 512;
const TOO_MANY = 3_900;
const RETRY_AFTER_MS = 5;
const ROUNDS = 2;
const WARM_UP_MS = 3_000;
const MEMORY_LOOK_MS = 200;

interface Round {
  readonly served: LoadResult;
  readonly tooMany: LoadResult;
  readonly memoryMb: number;
}

export async function benchOverload(seconds: number): Promise<string> {
  const service = await startTemporaryService();
  try {
    const rounds: Round[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const served = await load(service, seconds, { connections: SERVED, run: `served-${round}` });
      let memoryMb = 0;
      const looking = setInterval(async () => {
        memoryMb = Math.max(memoryMb, await service.memoryMb());
      }, MEMORY_LOOK_MS);
      const tooMany = await load(service, seconds, { connections: TOO_MANY, run: `too-many-${round}` });
      clearInterval(looking);
      rounds.push({ served, tooMany, memoryMb });
    }
    return report(rounds);
  } finally {
    await service.close();
  }
}

function load(
  service: TemporaryService,
  seconds: number,
  { connections, run }: Pick<Run, 'connections'> & { readonly run: string },
): Promise<LoadResult> {
  return runGenerator({
    ...{ host: service.host, port: service.port, token: service.token, servicePid: service.pid },
    ...{ connections, run, eventsPerSecond: 0, eventsPerRequest: 100, spreadMinutes: 60 },
    ...{ retryAfterMs: RETRY_AFTER_MS, warmUpMs: WARM_UP_MS, measureMs: seconds * 1000 },
  });
}

const rateOf = ({ accepted, seconds }: LoadResult) => accepted / seconds;

function report(rounds: readonly Round[]): string {
  const row = (name: string, target: string, of: (round: Round) => string) => [
    name,
    target,
    ...rounds.map(of),
  ];
  const ms = ({ latencyMs }: LoadResult) => `${latencyMs.p50.toFixed(0)} / ${latencyMs.p99.toFixed(0)} ms`;
  return table(
    ['overload', 'target', ...rounds.map((_, number) => `round ${number + 1}`)],
    [
      row(`events/s, ${SERVED} connections`, '', ({ served }) => rateOf(served).toFixed(0)),
      row(`events/s, ${TOO_MANY} connections`, '', ({ tooMany }) => rateOf(tooMany).toFixed(0)),
      row('ratio', '0.90 ×', ({ served, tooMany }) => `${(rateOf(tooMany) / rateOf(served)).toFixed(2)} ×`),
      row(`p50 / p99 of accepted, ${SERVED}`, '', ({ served }) => ms(served)),
      row(`p50 / p99 of accepted, ${TOO_MANY}`, '2,000 ms', ({ tooMany }) => ms(tooMany)),
      row('refused', '', ({ tooMany }) => `${tooMany.failures}`),
      row('connections reset', '0', ({ tooMany }) => `${tooMany.resets}`),
      row('memory of the process at most', '1,500 MB', ({ memoryMb }) => `${memoryMb.toFixed(0)} MB`),
    ],
  );
}
