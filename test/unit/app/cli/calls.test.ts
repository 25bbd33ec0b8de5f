import { afterEach, describe, expect, it, vi } from 'vitest';
import { recordedCall } from '../../../support/recorded-calls.ts';

const asked = async (...args: readonly string[]) => {
  const call = await recordedCall(...args);
  expect([call.code, call.err]).toEqual([0, '']);
  return call.asked;
};

afterEach(() => vi.useRealTimers());

describe('a call is understood', () => {
  it('a call is understood of a backfill: a source and options in any order', async () => {
    const plain = { format: null, mapping: null, delimiter: null, reportFile: null, restart: false };
    expect(await asked('backfill', 'events.gz')).toEqual({ ...plain, source: 'events.gz' });
    const options = [
      '--restart',
      '--skip-invalid',
      'report',
      'events',
      '--format',
      'csv',
      '--delimiter',
      'tab',
    ];
    expect(await asked('backfill', ...options)).toEqual({
      ...plain,
      source: 'events',
      format: 'csv',
      delimiter: '\t',
      reportFile: 'report',
      restart: true,
    });
    expect(await asked('backfill', 'x', '--mapping', 'm.json')).toMatchObject({
      mapping: { file: 'm.json' },
    });
  });

  it('a call is understood of a reconciliation: the last month and this one by default', async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 15, 12), toFake: ['Date'] });
    const nothing = { customerId: null, url: null, token: null, json: false };
    const range = { start: Date.UTC(2025, 11, 1), end: Date.UTC(2026, 0, 15, 12) };
    expect(await asked('reconcile')).toEqual({ ...nothing, range });
    const args = ['--from', '2025-11-01', '--to', '2025-12-01T06:00:00Z', '--customer', 'id', '--json'];
    expect(await asked('reconcile', ...args, '--url', 'http://here', '--token', 'secret')).toEqual({
      range: { start: Date.UTC(2025, 10, 1), end: Date.UTC(2025, 11, 1, 6) },
      customerId: 'id',
      url: 'http://here',
      token: 'secret',
      json: true,
    });
  });

  it('a call is understood of a plan and of its application: files, dates and switches', async () => {
    const nothing = { effectiveAt: null, allowHistory: false, prune: false, json: false };
    const service = { url: null, token: null };
    expect(await asked('plan', 'a.yaml', 'b.json', '--out', 'p')).toEqual({
      ...{ ...nothing, ...service, files: ['a.yaml', 'b.json'], out: 'p' },
    });
    const switches = ['--effective-at', '2027-01-01', '--allow-history', '--prune', '--json'];
    expect(await asked('apply', 'a.yaml', ...switches)).toEqual({
      ...{ ...service, files: ['a.yaml'], plan: null, effectiveAt: Date.UTC(2027, 0, 1) },
      ...{ allowHistory: true, prune: true, json: true },
    });
    expect(await asked('apply', '--plan', 'p')).toMatchObject({ files: [], plan: 'p' });
  });

  it('a call is understood of the demo: a separate server, 500,000 events and 20 customers by default', async () => {
    const given = { server: null, traceFile: null, events: 500_000, customers: 20, keep: false };
    expect(await asked('demo')).toEqual(given);
    const server = ['--url', 'http://127.0.0.1:3000', '--token', 't'];
    expect(await asked('demo', ...server, '--trace', 'a.csv', '--events', '5', '--keep')).toEqual({
      server: { url: new URL('http://127.0.0.1:3000'), token: 't' },
      traceFile: 'a.csv',
      events: 5,
      customers: 20,
      keep: true,
    });
  });

  it('a call is understood of tokens, prices, losses and stray data', async () => {
    const expiresAt = Date.UTC(2027, 0, 1);
    const end = ['--expires', '2027-01-01T00:00:00Z'];
    expect(await asked('token', 'create', '--name', 'ci', '--scope', 'read', ...end)).toEqual({
      kind: 'create',
      name: 'ci',
      scope: 'read',
      expiresAt,
      json: false,
    });
    expect(await asked('token', 'list', '--json')).toEqual({ kind: 'list', json: true });
    const rotation = { kind: 'rotate', id: 'x', expiresAt: undefined, json: false };
    expect(await asked('token', 'rotate', 'x')).toEqual(rotation);
    expect(await asked('token', 'revoke', 'x')).toEqual({ kind: 'revoke', id: 'x', json: false });
    expect(await asked('catalogue', 'import')).toEqual({ file: null, validFrom: null });
    const dated = ['prices.json', '--valid-from', '2026-11-01'];
    const prices = { file: 'prices.json', validFrom: Date.UTC(2026, 10, 1) };
    expect(await asked('catalogue', 'import', ...dated)).toEqual(prices);
    expect(await asked('accept-loss', 'a', 'b')).toEqual(['a', 'b']);
    expect(await asked('stray-data')).toEqual([]);
    expect(await asked('stray-data', '--remove', 'a', 'b')).toEqual(['a', 'b']);
  });

  it('a call is understood of a query: a table, the answer as it is, or a file', async () => {
    const plain = { sql: 'SELECT 1', output: null, json: false, url: null, token: null };
    expect(await asked('sql', 'SELECT 1')).toEqual(plain);
    expect(await asked('sql', 'SELECT 1', '--json')).toEqual({ ...plain, json: true });
    const output = { path: 'x.CSV', accept: 'text/csv' };
    expect(await asked('sql', 'SELECT 1', '--output', 'x.CSV')).toEqual({ ...plain, output });
  });

  it('a call is understood with a file of settings before or after the command', async () => {
    expect(await asked('--env-file', 'x', 'token', 'list')).toMatchObject({ kind: 'list' });
    expect(await asked('token', 'list', '--env-file', 'x')).toMatchObject({ kind: 'list' });
  });
});

const WRONG: readonly (readonly [args: readonly string[], said: string])[] = [
  [['tokn'], "unknown command 'tokn'\n(Did you mean token?)"],
  [['start', '--port=8080'], 'there is no argument --port=8080: settings are environment variables'],
  [['start', 'now'], 'there is no argument now'],
  [['backfill'], "missing required argument 'source'"],
  [['backfill', 'a', 'b'], 'too many arguments'],
  [['backfill', 'a', '--skip-invalid', ''], '--skip-invalid needs the name of a file'],
  [['backfill', 'a', '--force'], "unknown option '--force'"],
  [['backfill', 'a', '--format', 'xml'], 'Allowed choices are json, csv, parquet.'],
  [['backfill', 'a', '--delimiter', 'xx'], '--delimiter must be one character, or tab'],
  [['backfill', 'a', '--mapping', 'm', '--map', 'customer_id=x'], '--mapping says all of it'],
  [
    ['reconcile', '--from', 'yesterday'],
    "--from <date>' argument 'yesterday' is invalid. It must be a day such",
  ],
  [['reconcile', '--to', '2026-02-30'], '--to <date>'],
  [['reconcile', '--from', '2026-03-01', '--to', '2026-03-01'], 'has no time in it'],
  [['reconcile', '--all'], "unknown option '--all'"],
  [['demo', '--url', 'http://127.0.0.1:3000'], '--url needs --token'],
  [['demo', '--token', 't'], '--token goes with --url'],
  [['demo', '--url', '127.0.0.1:3000', '--token', 't'], 'It must be an http or https address'],
  [['demo', '--url', 'ftp://x', '--token', 't'], 'It must be an http or https address'],
  [['demo', '--events', '0'], 'It must be a whole number from 1 to 10,000,000'],
  [['demo', '--events', '1e6'], 'It must be a whole number'],
  [['demo', '--customers', '501'], 'It must be a whole number from 1 to 500'],
  [['demo', '--evnets', '5'], '(Did you mean --events?)'],
  [['demo', 'file.csv'], 'too many arguments'],
  [['token', 'create', '--scope', 'read'], "required option '--name <name>' not specified"],
  [['token', 'create', '--name', '', '--scope', 'read'], 'It must have 1 to 200 characters'],
  [['token', 'create', '--name', 'x', '--scope', 'admin'], 'Allowed choices are ingest, read, write.'],
  [['token', 'create', '--name', 'x'], "required option '--scope <scope>' not specified"],
  [
    ['token', 'create', '--name', 'x', '--scope', 'read', '--expires', 'soon'],
    'It must be an RFC 3339 timestamp',
  ],
  [['token', 'delete', '--name', 'x'], 'unknown command'],
  [['token', 'revoke'], "missing required argument 'id'"],
  [['token', 'revoke', 'x', '--name', 'x'], "unknown option '--name'"],
  [['token', 'list', 'all'], 'too many arguments'],
  [['export', 'prices.yaml'], 'too many arguments'],
  [['apply'], 'give files or --plan, one of both'],
  [['apply', 'prices.yaml', '--plan', 'p'], 'give files or --plan, one of both'],
  [['apply', '--plan', 'p', '--prune'], '--plan has its own date and switches'],
  [['apply', 'prices.yaml', '--effective-at', '2026-12-01T00:30:00Z'], 'It must be on a full hour in UTC'],
  [['schema', 'x'], 'too many arguments'],
  [['sql'], "missing required argument 'query'"],
  [['sql', 'SELECT', '1'], 'too many arguments'],
  [['sql', 'SELECT 1', '--output', 'x.xlsx'], 'It must end in .csv, .json or .parquet'],
  [['sql', 'SELECT 1', '--json', '--output', 'x.csv'], '--json and --output exclude each other'],
  [['catalogue', 'import', '--valid-from', 'soon'], 'It must be a day such as'],
  [['stray-data', 'x'], 'too many arguments'],
  [['stray-data', '--remove'], 'argument missing'],
  [['completion', 'csh'], 'Allowed choices are bash, zsh, fish.'],
];

describe('a wrong call ends with 2, says what is wrong, and does nothing', () => {
  it.each(WRONG)('%j', async (args, said) => {
    const call = await recordedCall(...args);
    expect([call.code, call.name, call.out]).toEqual([2, undefined, '']);
    expect(call.err).toMatch(/^tallyhouse/);
    expect(call.err).toContain(said);
  });

  it.each([[], ['token'], ['catalogue']])('%j: it says which commands there are', async (...args) => {
    const call = await recordedCall(...args);
    expect([call.code, call.name]).toEqual([2, undefined]);
    expect(call.err).toMatch(/^Usage: .*\n[\s\S]*\nCommands:\n/);
  });
});
