/**
 * Crash safety of ingest: the process is killed several times while ingesting. Afterwards every acknowledged
 * event is stored, and every event counts exactly once, however often it was sent.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { isAlive, type Program, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';

const KILLS = 2;
const SENDERS = 4;
const EVENTS_PER_REQUEST = 25;
/** Requests that have to be acknowledged before each kill. */
const REQUESTS_PER_LIFE = 30;

const METRIC = {
  event_type_filter: { in_values: ['crash'] },
  property_filters: [{ name: 'n', exists: true }],
};

let running: Program | undefined;
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.ended;
});

interface Life {
  readonly program: Program;
  call(path: string, body: unknown): Promise<Response>;
}

async function start(dataDir: string): Promise<Life> {
  const program = runProgram('src/main.ts', [], { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error' });
  running = program;
  await program.said('tallyhouse is ready');
  const url = /ready at (\S+)/.exec(program.stdout())?.[1] ?? '';
  const token = (await readFile(join(dataDir, 'api-token'), 'utf8')).trim();
  return {
    program,
    call: (path, body) =>
      fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
}

/** The request with number `request`; odd ones repeat some events of the one before. */
function eventsOf(request: number): { n: number; event: object }[] {
  const first = request * EVENTS_PER_REQUEST - (request % 2 === 1 ? 10 : 0);
  const timestamp = new Date(Date.now() - 60_000).toISOString();
  return Array.from({ length: EVENTS_PER_REQUEST }, (_, index) => {
    const n = first + index;
    const event = {
      transaction_id: `crash-${n}`,
      customer_id: 'crash-test',
      event_type: 'crash',
      timestamp,
      properties: { n },
    };
    return { n, event };
  });
}

/** Several clients send until the process dies under them. Adds the numbers of acknowledged events. */
async function sendUntilKilled(life: Life, next: () => number, acknowledged: Set<number>, unsure: number[]) {
  let answered = 0;
  const sender = async (): Promise<void> => {
    for (;;) {
      const request = next();
      const events = eventsOf(request);
      try {
        const response = await life.call(
          '/v1/ingest',
          events.map(({ event }) => event),
        );
        await response.text();
        if (!response.ok) throw new Error(`ingest answered ${response.status}`);
      } catch {
        unsure.push(request);
        return;
      }
      for (const { n } of events) acknowledged.add(n);
      answered += 1;
      if (answered === REQUESTS_PER_LIFE) life.program.child.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  await life.program.ended;
}

async function created(life: Life, path: string, body: unknown): Promise<string> {
  const answer = (await (await life.call(path, body)).json()) as { data: { id: string } };
  return answer.data.id;
}

async function usage(life: Life, customerId: string, metricId: string): Promise<number> {
  const day = 86_400_000;
  const today = Math.floor(Date.now() / day) * day;
  const response = await life.call('/v1/usage/groups', {
    customer_id: customerId,
    billable_metric_id: metricId,
    window_size: 'NONE',
    starting_on: new Date(today - day).toISOString(),
    ending_before: new Date(today + 2 * day).toISOString(),
  });
  const answer = (await response.json()) as { data: { value: number }[] };
  return answer.data[0]?.value ?? 0;
}

it('the service loses no acknowledged event and counts none twice over several kills in the middle of ingesting', async () => {
  const dataDir = await createDataDirectory();
  const acknowledged = new Set<number>();
  const unsure: number[] = [];
  let requests = 0;
  for (let life = 0; life < KILLS; life += 1) {
    const service = await start(dataDir);
    await sendUntilKilled(service, () => requests++, acknowledged, unsure);
  }
  expect(acknowledged.size).toBeGreaterThan(KILLS * REQUESTS_PER_LIFE * 10);

  const last = await start(dataDir);
  const customerId = await created(last, '/v1/customers', { name: 'Crash', ingest_aliases: ['crash-test'] });
  const count = await created(last, '/v1/billable-metrics/create', {
    ...METRIC,
    name: 'count',
    aggregation_type: 'COUNT',
  });
  const unique = await created(last, '/v1/billable-metrics/create', {
    ...METRIC,
    name: 'unique',
    aggregation_type: 'UNIQUE',
    aggregation_key: 'n',
  });
  const counted = await usage(last, customerId, count);
  expect(counted).toBe(await usage(last, customerId, unique));
  expect(counted).toBeGreaterThanOrEqual(acknowledged.size);

  // The clients retry requests without an answer. Events that had been stored after all are duplicates now.
  for (const request of unsure) {
    const events = eventsOf(request);
    expect(
      (
        await last.call(
          '/v1/ingest',
          events.map(({ event }) => event),
        )
      ).status,
    ).toBe(200);
    for (const { n } of events) acknowledged.add(n);
  }
  expect(await usage(last, customerId, count)).toBe(acknowledged.size);
  expect(await usage(last, customerId, unique)).toBe(acknowledged.size);

  const pid = last.program.child.pid ?? 0;
  last.program.child.kill('SIGTERM');
  expect(await last.program.ended).toBe(0);
  expect(isAlive(pid)).toBe(false);
}, 180_000);
