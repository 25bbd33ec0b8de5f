/**
 * The disk of the embedded stores is full: the service lives, says how much room is missing, and continues by itself
 * when there is room. Nothing acknowledged is lost, and nothing is counted twice.
 */
import { open, readFile, rm } from 'node:fs/promises';
import { afterEach, expect, test } from 'vitest';
import { commandOf, type Program } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { hasSmallDisks, runOnSmallDisk } from '../support/small-disk.ts';
import { createTestDirectory } from '../support/stores.ts';

const TOKEN = 'given-to-the-process';
const DISK_MB = 320;
const MISSING = /the disk of DATA_DIR is full: \d+ MB are free, 64 MB are needed, \d+ MB are missing/;

const canTry = hasSmallDisks();
if (!canTry)
  process.stderr.write(
    'full-disk.test.ts is skipped: this system does not let its user mount a small disk\n',
  );

let program: Program | undefined;
afterEach(async () => {
  program?.child.kill('SIGKILL');
  await program?.ended;
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

function client(url: string) {
  const call = async (path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  const created = async (path: string, body: object) =>
    (JSON.parse((await call(path, body)).text) as { data: { id: string } }).data.id;
  return { call, created };
}

function event(n: number) {
  return {
    transaction_id: `event-${n}`,
    customer_id: 'acme',
    event_type: 'call',
    timestamp: new Date().toISOString(),
    properties: { n: String(n), text: 'x'.repeat(2_000) },
  };
}

/** Fills the disk to its last byte. */
async function fill(path: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    for (let size = 1024 * 1024; size >= 512; ) {
      const bytes = Buffer.alloc(size);
      const { bytesWritten } = await file.write(bytes).catch(() => ({ bytesWritten: 0 }));
      if (bytesWritten < size) size /= 2;
    }
  } finally {
    await file.close();
  }
}

test.skipIf(!canTry)(
  'a full disk ends nothing: requests are refused with what is missing, and all continues when there is room',
  async () => {
    const where = await createTestDirectory();
    const disk = { where, megabytes: DISK_MB, content: await createDataDirectory() };
    const command = ['sh', '-c', 'exec "$@" 2>"$DATA_DIR/service.log"', 'sh', ...commandOf('src/main.ts')];
    const env = { PORT: '0', DATA_DIR: where, API_TOKEN: TOKEN, LOG_LEVEL: 'debug' };
    const started = runOnSmallDisk(disk, command, env);
    program = started.program;
    await program.said('is ready at');
    const url = /ready at (\S+)/.exec(program.stdout())?.[1] ?? '';
    const { call, created } = client(url);
    const customer_id = await created('/v1/customers', { name: 'Acme', ingest_aliases: ['acme'] });
    const metric = {
      event_type_filter: { in_values: ['call'] },
      property_filters: [{ name: 'n', exists: true }],
    };
    const metricIds = [
      await created('/v1/billable-metrics/create', { ...metric, name: 'all', aggregation_type: 'COUNT' }),
      await created('/v1/billable-metrics/create', {
        ...{ ...metric, name: 'each', aggregation_type: 'UNIQUE', aggregation_key: 'n' },
      }),
    ];
    const counted = async () => {
      const day = 86_400_000;
      const today = Math.floor(Date.now() / day) * day;
      const values = new Set<number | undefined>();
      for (const billable_metric_id of metricIds) {
        const answer = await call('/v1/usage/groups', {
          ...{ customer_id, billable_metric_id, window_size: 'NONE' },
          starting_on: new Date(today - day).toISOString(),
          ending_before: new Date(today + 2 * day).toISOString(),
        });
        expect(answer.status, answer.text).toBe(200);
        values.add((JSON.parse(answer.text) as { data: { value: number }[] }).data[0]?.value);
      }
      expect(values.size).toBe(1);
      return [...values][0] ?? 0;
    };

    let sent = 0;
    const acknowledged = new Set<number>();
    const refusals: string[] = [];
    const send = async () => {
      const n = sent;
      sent += 1;
      const answer = await call('/v1/ingest', [event(n)]);
      if (answer.status === 200) acknowledged.add(n);
      else {
        expect(answer.status, answer.text).toBe(503);
        refusals.push(answer.text);
      }
      return answer.status;
    };
    let names = 0;
    const change = async () => {
      names += 1;
      const answer = await call('/v1/customers', {
        name: 'x'.repeat(200),
        ingest_aliases: [`other-${names}`],
      });
      if (answer.status !== 200) {
        expect(answer.status, answer.text).toBe(503);
        refusals.push(answer.text);
      }
      return answer.status;
    };

    expect(await send()).toBe(200);
    // Requests are under way while the disk becomes full.
    const filling = fill(started.path('filler'));
    for (let n = 0; n < 200; n += 1) await send();
    await filling;
    await expect.poll(send).toBe(503);
    expect(refusals.at(-1)).toMatch(MISSING);
    await expect.poll(change).toBe(503);
    expect(refusals.at(-1)).toMatch(MISSING);
    const notReady = await call('/readyz');
    expect(notReady.status).toBe(503);
    expect(notReady.text).toMatch(MISSING);
    // PostgreSQL is lost on top of it, and cannot be started without room.
    const [pid = ''] = (await readFile(started.path('postgres/data/postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
    for (let n = 0; n < 20; n += 1) {
      expect(await send()).toBe(503);
      await change();
    }
    expect(program.child.exitCode).toBeNull();

    await rm(started.path('filler'));
    await expect.poll(send).toBe(200);
    await expect.poll(change).toBe(200);
    await expect.poll(async () => (await call('/readyz')).status).toBe(200);
    const count = await counted();
    expect(count).toBeGreaterThanOrEqual(acknowledged.size);
    expect(count).toBeLessThanOrEqual(sent);
    // Refused clients send again.
    for (let n = 0; n < sent; n += 100) {
      const events = Array.from({ length: Math.min(100, sent - n) }, (_, index) => event(n + index));
      expect((await call('/v1/ingest', events)).status).toBe(200);
    }
    expect(await counted()).toBe(sent);
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);
  },
);
