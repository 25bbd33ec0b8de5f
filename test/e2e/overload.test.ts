/**
 * More connections than the service can serve, which send again a few milliseconds after a refusal, or hang up and send
 * again. At every moment: what was acknowledged ≤ what is counted ≤ what was sent, and each id counts once.
 */
import { afterEach, expect, it } from 'vitest';
import { type Program, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';

const TOKEN = 'given-to-the-process';
const CONNECTIONS = 250;
const PER_REQUEST = 100;
const TEXT = 'x'.repeat(200);
const BEFORE = 1_000;
const PAUSE_MS = 5;

let program: Program | undefined;
afterEach(async () => {
  program?.child.kill('SIGKILL');
  await program?.ended;
});

it('counts at least what was acknowledged and at most what was sent, each id once: before, in and after overload', async () => {
  const dataDir = await createDataDirectory();
  // So that a fast machine refuses too.
  const env = { PORT: '0', DATA_DIR: dataDir, API_TOKEN: TOKEN, RATE_LIMIT_INGEST: '15' };
  program = runProgram('src/main.ts', [], env);
  await program.said('is ready at');
  const url = /ready at (\S+)/.exec(program.stdout())?.[1] ?? '';
  const send = async (path: string, body: string, signal?: AbortSignal) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body,
      ...(signal && { signal }),
    });
    return { status: response.status, text: await response.text() };
  };
  const created = async (path: string, body: object): Promise<string> =>
    (JSON.parse((await send(path, JSON.stringify(body))).text) as { data: { id: string } }).data.id;
  const customer_id = await created('/v1/customers', { name: 'Busy', ingest_aliases: ['busy'] });
  const metric = {
    event_type_filter: { in_values: ['call'] },
    property_filters: [{ name: 'n', exists: true }],
  };
  const all = await created('/v1/billable-metrics/create', {
    ...{ ...metric, name: 'all', aggregation_type: 'COUNT' },
  });
  const each = await created('/v1/billable-metrics/create', {
    ...{ ...metric, name: 'each', aggregation_type: 'UNIQUE', aggregation_key: 'n' },
  });
  const day = 86_400_000;
  const today = Math.floor(Date.now() / day) * day;
  /** Null where the service is too busy to say. */
  const counted = async (billable_metric_id: string): Promise<number | null> => {
    const answer = await send(
      '/v1/usage/groups',
      JSON.stringify({
        ...{ customer_id, billable_metric_id, window_size: 'NONE' },
        starting_on: new Date(today - day).toISOString(),
        ending_before: new Date(today + 2 * day).toISOString(),
      }),
    );
    if (answer.status !== 200) expect([429, 503]).toContain(answer.status);
    const { data } = JSON.parse(answer.text) as { data?: { value: number }[] };
    return data === undefined ? null : (data[0]?.value ?? 0);
  };
  const known = async (metricId: string): Promise<number> => {
    for (;;) {
      const value = await counted(metricId);
      if (value !== null) return value;
    }
  };
  let attempts = 0;
  /** Another attempt at the same ids says another time, as clients do that make their events anew. */
  const body = (first: number) => {
    attempts += 1;
    const timestamp = new Date(today + attempts).toISOString();
    return JSON.stringify(
      Array.from({ length: PER_REQUEST }, (_, index) => ({
        transaction_id: `event-${first + index}`,
        ...{ customer_id: 'busy', event_type: 'call', timestamp },
        properties: { n: String(first + index), text: TEXT },
      })),
    );
  };

  let sent = 0;
  let acknowledged = 0;
  let refused = 0;
  let hungUp = 0;
  for (; sent < BEFORE; sent += PER_REQUEST, acknowledged += PER_REQUEST)
    expect((await send('/v1/ingest', body(sent))).status).toBe(200);
  expect(await known(all)).toBe(BEFORE);

  const connection = async (number: number): Promise<void> => {
    const first = BEFORE + number * PER_REQUEST;
    sent += PER_REQUEST;
    for (let attempt = 0; ; attempt += 1) {
      // A third hangs up at its first attempt, at whatever moment.
      const hangsUp = attempt === 0 && number % 3 === 0;
      const signal = hangsUp ? AbortSignal.timeout(number) : undefined;
      const answer = await send('/v1/ingest', body(first), signal).catch((error: unknown) => {
        if (!hangsUp) throw error;
        return null;
      });
      if (answer?.status === 200) break;
      if (answer === null) hungUp += 1;
      else {
        expect([429, 503]).toContain(answer.status);
        refused += 1;
      }
      await new Promise((resolve) => {
        setTimeout(resolve, PAUSE_MS);
      });
    }
    acknowledged += PER_REQUEST;
  };
  let isOver = false;
  let looks = 0;
  const watch = async (): Promise<void> => {
    while (!isOver) {
      const least = acknowledged;
      const value = await counted(all);
      if (value === null) continue;
      looks += 1;
      expect(value).toBeGreaterThanOrEqual(least);
      expect(value).toBeLessThanOrEqual(sent);
    }
  };
  const watching = watch();
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, number) => connection(number)));
  isOver = true;
  await watching;
  expect(refused).toBeGreaterThan(0);
  expect(hungUp).toBeGreaterThan(0);
  expect(looks).toBeGreaterThan(0);
  const total = BEFORE + CONNECTIONS * PER_REQUEST;
  expect(await known(all)).toBe(total);
  expect(await known(each)).toBe(total);

  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
});
