/**
 * `npm run backfill` as an operator runs it: a process beside the real service, on real stores. Older events
 * count once, whatever else was sent before or after, and finalized invoices do not change.
 */
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runBackfill } from '../../src/app/commands/backfill/backfill.ts';
import { openLocalFile, recognise } from '../../src/app/commands/backfill/files/input-file.ts';
import { createProgressFile, NOTHING_DONE } from '../../src/app/commands/backfill/progress-file.ts';
import { LINES_PER_BATCH } from '../../src/app/commands/backfill/rows/read-batches.ts';
import { createBatchStore } from '../../src/app/commands/backfill/store-batch.ts';
import { parseRfc3339 } from '../../src/core/time.ts';
import { createBackfills } from '../support/backfill-process.ts';
import { type Program, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import { completion, createScenario } from '../support/scenario.ts';
import { startTestService } from '../support/service.ts';
import { mainCases } from '../support/shares-of-tests.ts';
import { createTestDirectory } from '../support/stores.ts';

const TOKEN = 'token-of-this-test';
const DAY_MS = 86_400_000;

const backfills = createBackfills();
const backfill = backfills.run;
const programs: Program[] = [];
let front: FrontProcess | undefined;
afterEach(async () => {
  for (const program of programs) program.child.kill('SIGKILL');
  await Promise.all(programs.splice(0).map((program) => program.ended));
  await front?.kill();
  front = undefined;
});

const atDaysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

function event(id: string, daysAgo: number, fields: Readonly<Record<string, unknown>> = {}): object {
  return {
    transaction_id: id,
    customer_id: 'acme',
    event_type: 'tokens',
    timestamp: atDaysAgo(daysAgo),
    properties: { n: 1 },
    ...fields,
  };
}

const ndjson = (events: readonly object[]) => events.map((each) => `${JSON.stringify(each)}\n`).join('');

/** The line up to which the one file of a data directory is recorded as done. */
async function savedLine({ DATA_DIR = '' }: { readonly DATA_DIR?: string }): Promise<number> {
  const folder = join(DATA_DIR, 'backfill');
  const [name = ''] = (await readdir(folder)).filter((each) => each.endsWith('.json'));
  const saved = z.object({ line: z.number() });
  return saved.parse(JSON.parse(await readFile(join(folder, name), 'utf8'))).line;
}

interface Running {
  readonly program: Program;
  call(path: string, body: unknown): Promise<unknown>;
  /** Events of `acme` of all time. */
  counted(): Promise<number>;
  stop(): Promise<void>;
}

const createdBody = z.object({ data: z.object({ id: z.string() }) });
const usageBody = z.object({ data: z.array(z.object({ value: z.number().nullable() })) });

async function startService(env: Record<string, string>): Promise<Running> {
  const program = runProgram('src/main.ts', [], { PORT: '0', API_TOKEN: TOKEN, LOG_LEVEL: 'fatal', ...env });
  programs.push(program);
  await program.said('/docs');
  const url = /ready at (\S+)/.exec(program.stdout())?.[1] ?? '';
  const call = async (path: string, body: unknown): Promise<unknown> => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status} ${text}`);
    return JSON.parse(text);
  };
  const created = async (path: string, body: unknown) => createdBody.parse(await call(path, body)).data.id;
  let counting: Promise<readonly [customerId: string, metricId: string]> | undefined;
  return {
    program,
    call,
    async counted() {
      counting ??= Promise.all([
        created('/v1/customers', { name: 'Acme', ingest_aliases: ['acme'] }),
        created('/v1/billable-metrics/create', { name: 'all', aggregation_type: 'COUNT' }),
      ]);
      const [customerId, metricId] = await counting;
      const usage = await call('/v1/usage/groups', {
        customer_id: customerId,
        billable_metric_id: metricId,
        window_size: 'NONE',
        starting_on: '2000-01-01T00:00:00Z',
        ending_before: `${new Date().getUTCFullYear() + 1}-01-01T00:00:00Z`,
      });
      return usageBody.parse(usage).data[0]?.value ?? 0;
    },
    async stop() {
      program.child.kill('SIGTERM');
      await program.ended;
    },
  };
}

describe('beside the embedded stores', () => {
  it('a backfill beside the embedded stores loads events of any age once, gzip or not, against all that is stored and within the file', async () => {
    const dir = await createTestDirectory();
    const env = { DATA_DIR: await createDataDirectory() };
    const file = join(dir, 'events.ndjson');
    let service = await startService(env);
    await service.call('/v1/ingest', [event('live-1', 1), event('live-2', 20)]);

    await writeFile(file, ndjson([event('old-1', 400)]));
    const refused = await backfill(env, file);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('is in use by another tallyhouse process');
    expect(refused.err).toContain('stop the service');
    await service.stop();

    const events = [
      event('live-1', 500, { properties: { n: 100 } }),
      // More months than ClickHouse takes in one insert.
      ...Array.from({ length: 120 }, (_, month) => event(`month-${month}`, 40 + month * 30)),
      event('month-7', 3),
    ];
    // The name says nothing: gzip is recognised by its content, here in two members.
    await writeFile(
      file,
      Buffer.concat([gzipSync(ndjson(events)), gzipSync(`\n  \n${ndjson([event('old-2', 90)])}`)]),
    );
    const first = await backfill(env, file);
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toContain('121 events stored, 2 were there already');
    const again = await backfill(env, file);
    expect(again).toMatchObject({ code: 0 });
    expect(again.out).toContain('0 events stored, 123 were there already');

    service = await startService(env);
    expect(await service.counted()).toBe(123);
    // Loaded ids are remembered from now on, like all that are accepted.
    expect(await service.call('/v1/ingest', [event('month-100', 1), event('old-2', 1)])).toEqual({
      accepted: 0,
      duplicates: 2,
    });
    await service.stop();
  });

  it('a backfill beside the embedded stores ends at the first invalid line with its number, and continues there when the file is corrected', async () => {
    const dir = await createTestDirectory();
    const env = { DATA_DIR: await createDataDirectory() };
    const file = join(dir, 'events.ndjson');
    const good = ndjson([event('a', 100), event('b', 100)]);
    await writeFile(file, `${good}{"transaction_id":"c"}\n${ndjson([event('d', 100)])}`);
    const stopped = await backfill(env, file);
    expect(stopped.code).toBe(3);
    expect(stopped.err).toContain('line 3 is not a valid event: customer_id: is required');
    const same = await backfill(env, file);
    expect(same).toMatchObject({ code: 3 });
    expect(same.out).toContain('Going on after line 2');
    await writeFile(file, `${good}${ndjson([event('c', 100), event('d', 100)])}`);
    const corrected = await backfill(env, file);
    expect(corrected).toMatchObject({ code: 0, err: '' });
    expect(corrected.out).toContain('beginning at the first line');
    expect(corrected.out).toContain('2 events stored, 2 were there already');
  });

  it('a backfill beside the embedded stores skips invalid lines into a report that says which and why, and never overwrites another file', async () => {
    const dir = await createTestDirectory();
    const env = { DATA_DIR: await createDataDirectory() };
    const file = join(dir, 'events.ndjson');
    const report = join(dir, 'report.ndjson');
    const bad = [
      'no json',
      `${JSON.stringify(event('two', 1))},${JSON.stringify(event('in-one', 1))}`,
      JSON.stringify(event('future', -3)),
      `[${JSON.stringify(event('array', 1))}]`,
      JSON.stringify({ ...event('before', 1), timestamp: '1969-12-31T23:59:59Z' }),
      `{"transaction_id":"${'x'.repeat(5_000_000)}"}`,
    ];
    await writeFile(
      file,
      `\uFEFF${ndjson([event('a', 900)])}${bad.join('\r\n')}\r\n${JSON.stringify(event('z', 1))}`,
    );
    expect(await backfill(env, file, '--skip-invalid', report)).toMatchObject({ code: 4, err: '' });
    const lines = (await readFile(report, 'utf8')).trimEnd().split('\n');
    const rows = lines.map((line) =>
      z.object({ line: z.number(), reason: z.string() }).parse(JSON.parse(line)),
    );
    expect(rows.map((row) => row.line)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(rows.map((row) => row.reason)).toEqual([
      'is not valid JSON',
      'must hold exactly one JSON object',
      expect.stringContaining('timestamp: must be at most 24 hours in the future'),
      'the event must be an object',
      expect.stringContaining('timestamp: is too far in the past'),
      'is longer than 4194304 bytes',
    ]);
    const refused = await backfill(env, file, '--skip-invalid', report);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('there is such a file already');
    expect((await readFile(report, 'utf8')).trimEnd().split('\n')).toEqual(lines);
  });

  it('a backfill beside the embedded stores says what is wrong with a call and a file that is cut off, and stores what comes before', async () => {
    const dir = await createTestDirectory();
    const env = { DATA_DIR: await createDataDirectory() };
    const withoutSource = expect.stringContaining("missing required argument 'source'");
    expect(await backfill(env)).toMatchObject({ code: 2, err: withoutSource });
    const events = Array.from({ length: 5_000 }, (_, i) => event(`e-${i}`, 50));
    const path = join(dir, 'cut.gz');
    await writeFile(path, gzipSync(ndjson(events)).subarray(0, 5_000));
    const damaged = await backfill(env, path);
    expect(damaged).toMatchObject({
      code: 1,
      err: expect.stringContaining('gzip data is damaged or cut off after line '),
    });
    const line = Number(/Everything up to line (\d+) is stored/.exec(damaged.err)?.[1]);
    expect(line).toBeGreaterThan(100);
    await writeFile(path, gzipSync(ndjson(events)));
    const whole = await backfill(env, path);
    const rest = `${5_000 - line} events stored, ${line} were there already`;
    expect(whole.out.replaceAll(',', '')).toContain(rest.replaceAll(',', ''));
  });
});

describe('killed or interrupted in the middle', () => {
  /** Lines of a batch; every thousandth line is no event, every tenth repeats an id. */
  const BATCH = LINES_PER_BATCH;
  const linesOf = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      i % 1_000 === 999 ? `bad ${i}\n` : ndjson([event(`e-${i - (i % 10 === 9 ? 1 : 0)}`, 100 + (i % 60))]),
    ).join('');

  const FILES = [
    ['a file', false, 3 * BATCH + 1_000, '36,900 events stored, 24,039 were there already, 61 invalid'],
    ['a gzip file', true, 2 * BATCH + 1_000, '18,900 events stored, 22,059 were there already, 41 invalid'],
  ] as const;

  it.each(mainCases(FILES, 1))(
    '%s is gone on with where it was, and every event counts once',
    async (_, isGzip, count, summary) => {
      const dir = await createTestDirectory();
      const env = { DATA_DIR: await createDataDirectory() };
      const file = join(dir, 'events.ndjson');
      const report = join(dir, 'report.ndjson');
      const lines = linesOf(count);
      await writeFile(file, isGzip ? gzipSync(lines, { level: 1 }) : lines);
      const args = [file, '--skip-invalid', report];
      // The report is recorded before the first batch. The second batch is on disk, but nothing says so: it is stored
      // already when it arrives again.
      const killed = await backfills.endedAt(env, 'SIGKILL', 'save', 4, ...args);
      expect(killed.code).toBe('SIGKILL');
      expect(await savedLine(env)).toBe(BATCH);
      if (!isGzip) {
        const interrupted = await backfills.endedAt(env, 'SIGTERM', 'save', 2, ...args);
        expect(interrupted).toMatchObject({
          code: 130,
          err: expect.stringContaining('interrupted after line'),
        });
        expect(interrupted.out).toContain('Going on after line 20,000,');
        expect([2 * BATCH, 3 * BATCH]).toContain(await savedLine(env));
      }
      const from = await savedLine(env);
      const rest = await backfill(env, ...args);
      expect(rest).toMatchObject({ code: 4, err: '' });
      expect(rest.out).toContain(`Going on after line ${from / 1_000},000,`);
      expect(rest.out).toContain(summary);
      const skipped = (await readFile(report, 'utf8')).trimEnd().split('\n');
      expect(skipped).toHaveLength(count / 1_000);
      expect(new Set(skipped).size).toBe(count / 1_000);
      expect(await readdir(join(env.DATA_DIR, 'backfill'))).toEqual([]);
      const service = await startService(env);
      expect(await service.counted()).toBe(count * 0.9);
      await service.stop();
    },
  );
});

describe('beside a running service on a ClickHouse server', () => {
  it('a backfill beside a running service on a ClickHouse server loads while the service ingests, and the service knows the loaded ids', async () => {
    const dir = await createTestDirectory();
    front = await startFrontProcess({ directory: join(dir, 'front'), port: 0 });
    const env = { DATA_DIR: await createDataDirectory(), CLICKHOUSE_URL: frontUrl(front.port, 'shared') };
    const service = await startService(env);
    const ids = Array.from({ length: 2_000 }, (_, i) => `e-${i}`);
    const file = join(dir, 'events.ndjson');
    await writeFile(file, ndjson(ids.map((id) => event(id, 60))));
    // The service is sent half of the same ids, with other content, at the same time.
    const [loaded] = await Promise.all([
      backfill(env, file),
      ...Array.from({ length: 10 }, (_, request) =>
        service.call(
          '/v1/ingest',
          ids.slice(request * 100, request * 100 + 100).map((id) => event(id, 2)),
        ),
      ),
    ]);
    expect(loaded).toMatchObject({ code: 0, err: '' });
    await expect.poll(() => service.counted(), { interval: 200 }).toBe(ids.length);
    await appendFile(file, ndjson([event('one-more', 900)]));
    expect((await backfill(env, file)).out).toContain('1 events stored, 2,000 were there already');
    // Either the service knows it by now, or it takes the repeat and removes it again.
    await service.call('/v1/ingest', [event('one-more', 1)]);
    await expect.poll(() => service.counted(), { interval: 200 }).toBe(ids.length + 1);
    expect(await service.call('/v1/ingest', [event('one-more', 1)])).toEqual({ accepted: 0, duplicates: 1 });
  });
});

describe('a finalized invoice', () => {
  it('a finalized invoice never changes by older events, nor does its breakdown; usage shows them, and an open period takes them', async () => {
    const service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
    try {
      const { customerId, tokensMetricId } = await createScenario(service.api, { alias: 'late' });
      const sent = completion('late', { id: 'late-1', at: '2026-11-05T11:30:00.000Z', tokens: 1000 });
      await service.api.post('/v1/ingest', [sent]);
      await service.moveClock('2026-12-10T00:00:00Z');
      const invoices = `/v1/customers/${customerId}/invoices`;
      const period = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };
      const finalized = async () => ({
        invoices: (await service.api.get(invoices, { query: { status: 'FINALIZED' } })).body,
        days: (await service.api.get(`${invoices}/breakdowns`, { query: { ...period, window_size: 'DAY' } }))
          .body,
      });
      const draftTotal = async () =>
        (await service.api.get(invoices, { query: { status: 'DRAFT' } })).digits('data[0].total');
      const before = await finalized();
      expect(before.invoices).toMatchObject({ data: [{ status: 'FINALIZED' }] });
      const draftBefore = await draftTotal();

      const dir = await createTestDirectory();
      const path = join(dir, 'late.ndjson');
      const late = ['2026-09-01T00:00:00.000Z', '2026-11-05T11:30:00.000Z', '2026-11-30T23:59:59.999Z'];
      const events = late.map((at, i) => completion('late', { id: `loaded-${i}`, at, tokens: 5000 }));
      const open = completion('late', { id: 'open', at: '2026-12-02T00:00:00.000Z', tokens: 1000 });
      await writeFile(path, ndjson([...events, { ...sent, properties: { tokens: 9 } }, open]));
      const file = await recognise(await openLocalFile(path), null);
      const now = parseRfc3339('2026-12-10T00:00:00Z') ?? 0;
      const done = await runBackfill({
        store: createBatchStore(service.clickhouse),
        clock: { now: () => now },
        file,
        from: NOTHING_DONE,
        progressFile: createProgressFile(dir, file, 'test'),
        report: null,
        onProgress: () => {},
        signal: new AbortController().signal,
      });
      expect(done).toMatchObject({ stored: 4, duplicates: 1, line: 5 });

      expect(await finalized()).toEqual(before);
      await service.restart();
      expect(await finalized()).toEqual(before);
      const usage = await service.api.post('/v1/usage/groups', {
        customer_id: customerId,
        billable_metric_id: tokensMetricId,
        window_size: 'NONE',
        starting_on: '2026-09-01T00:00:00Z',
        ending_before: '2026-12-01T00:00:00Z',
      });
      expect(usage.digits('data[0].value')).toBe('16000');
      expect(await draftTotal()).not.toBe(draftBefore);
    } finally {
      await service.close();
    }
  });
});
