/**
 * Every operation at its documented limits on the built service: for how long one request holds the event loop, which is
 * CPU time of the main thread between two turns. Prints a Markdown table, the worst first.
 */
import { processEnvironment } from '../src/config.ts';
import type { LimitsClient } from '../test/support/at-limits/client.ts';
import type { OperationAtLimit } from '../test/support/at-limits/operation.ts';
import { OPERATIONS_AT_LIMITS } from '../test/support/at-limits/operations.ts';
import { NOW } from '../test/support/at-limits/parts.ts';
import { createWorld, type LimitsWorld } from '../test/support/at-limits/world.ts';
import { quantile, table } from './report.ts';
import { startTemporaryService, type TemporaryService } from './temporary-service.ts';

const LIMITS = {
  values: 10_000,
  eventsOfValue: 20,
  contracts: 1_000,
  rates: 10_000,
  aliases: 2_000,
  commits: 1_000,
  seats: 1_000,
  issuedLines: 10_000,
  importedLines: 8_000,
  alerts: 1_190,
  names: 700,
  models: 10_000,
} as const;
const RUNS = 3;
const GOAL_MS = 50;

/** Milliseconds. */
interface Measured {
  readonly passed: number;
  readonly hold: number;
}

/** `BENCH_LOOP`: only operations whose name has it. */
export async function benchLoop(): Promise<string> {
  const { BENCH_LOOP = '' } = processEnvironment();
  const service = await startTemporaryService(undefined, { SANDBOX_NOW: NOW, RATE_LIMIT_WRITE: '0' });
  try {
    const client: LimitsClient = {
      get: async (path) => (await service.get(path)).body,
      post: async (path, body) => (await service.post(path, body)).body,
      take: (path) => taken(service, path),
    };
    const world = await createWorld(client, LIMITS);
    const rows: { readonly of: OperationAtLimit; readonly runs: readonly (Measured | string)[] }[] = [];
    for (const of of OPERATIONS_AT_LIMITS) {
      if (`${of.operation} ${of.at}`.includes(BENCH_LOOP)) {
        rows.push({ of, runs: await measured(service, client, world, of) });
      }
    }
    return report(rows);
  } finally {
    await service.close();
  }
}

async function taken({ host, port, token }: TemporaryService, path: string): Promise<void> {
  const response = await fetch(`http://${host}:${port}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${path} → ${response.status}`);
}

/** An operation that is done once may be refused when it is repeated; the table states it. */
async function measured(
  service: TemporaryService,
  client: LimitsClient,
  world: LimitsWorld,
  { call }: OperationAtLimit,
): Promise<(Measured | string)[]> {
  const runs: (Measured | string)[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    await service.longestHoldMs();
    const start = performance.now();
    try {
      await call(client, world);
    } catch (error) {
      runs.push(String(error).slice(0, 160));
      continue;
    }
    runs.push({ passed: performance.now() - start, hold: await service.longestHoldMs() });
  }
  return runs;
}

function report(
  rows: readonly { readonly of: OperationAtLimit; readonly runs: readonly (Measured | string)[] }[],
): string {
  const lines = rows.map(({ of, runs }) => {
    const done = runs.filter((run) => typeof run !== 'string');
    const holds = done.map(({ hold }) => hold);
    const refused = runs.find((run) => typeof run === 'string') ?? '';
    const cells = [
      of.operation,
      of.at,
      Math.min(...holds).toFixed(0),
      quantile(holds, 1).toFixed(0),
      quantile(
        done.map(({ passed }) => passed),
        0.5,
      ).toFixed(0),
      done.length > 1 ? '' : refused,
    ];
    return { longest: Math.max(...holds), cells };
  });
  lines.sort((a, b) => b.longest - a.longest);
  const over = lines.filter(({ longest }) => !(longest <= GOAL_MS)).length;
  return `${JSON.stringify(LIMITS)}; the loop is held for more than ${GOAL_MS} ms by ${over} of ${lines.length}\n\n${table(
    ['operation', 'at its limit', 'holds the loop, least ms', 'most ms', 'answered in, ms', 'refused'],
    lines.map(({ cells }) => cells),
  )}`;
}
