/** Files of an S3-compatible store: signed, in pages and ranges, whatever the store or the network does meanwhile. */
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { InputFailure } from '../../src/app/commands/backfill/failure.ts';
import { recognise } from '../../src/app/commands/backfill/files/input-file.ts';
import { openSource } from '../../src/app/commands/backfill/files/open-source.ts';
import { objectsAt } from '../../src/app/commands/backfill/files/s3-files.ts';
import { mappingOfArguments } from '../../src/app/commands/backfill/rows/mapping.ts';
import { parseS3Address } from '../../src/app/s3/s3-address.ts';
import { createS3Requests, s3Settings } from '../../src/app/s3/s3-requests.ts';
import { parquetOf, readEvents } from '../support/event-files.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { type Fault, S3_KEYS, type S3Store, startS3Store } from '../support/s3-store.ts';

const clickhouse = await clickhouseForFile();
let store: S3Store | undefined;
afterEach(async () => {
  await store?.close();
  store = undefined;
});

const event = (id: string) =>
  `${JSON.stringify({ transaction_id: id, customer_id: 'acme', event_type: 'call', timestamp: '2026-01-01T00:00:00Z' })}\n`;

async function started(...options: Parameters<typeof startS3Store>): Promise<S3Store> {
  store = await startS3Store(...options);
  return store;
}

/** Names and ids of all that is read below an address. */
async function idsAt(
  url: string,
  address: string,
  env: Record<string, string> = {},
): Promise<[string, string[]][]> {
  const source = await openSource(address, null, { ...S3_KEYS, AWS_ENDPOINT_URL: url, ...env });
  const read: [string, string[]][] = [];
  for (const { name, open } of source.files) {
    const { events } = await readEvents(await open());
    read.push([name, events.map(({ transactionId }) => transactionId)]);
  }
  return read;
}

/** The objects at an address for a reader without patience. */
async function objectsOf(url: string, address: string) {
  const parsed = parseS3Address(address);
  const settings = s3Settings({ ...S3_KEYS, AWS_ENDPOINT_URL: url });
  return await objectsAt(
    createS3Requests(settings, parsed?.bucket ?? '', { firstPauseMs: 1, silenceMs: 300 }),
    {
      bucket: parsed?.bucket ?? '',
      prefix: parsed?.prefix ?? '',
    },
  );
}

describe('an address of a store', () => {
  it('an address of a store is an object, a folder or a beginning of names, listed page by page, in their order', async () => {
    const { url, put, requests } = await started('exports', { pageKeys: 2 });
    const names = [
      'day/10.jsonl',
      'day/2.jsonl',
      'day/a b+c%20é(1)!.jsonl',
      'day-old/1.jsonl',
      'day/_SUCCESS',
      'day/.x.jsonl',
      'other.jsonl',
    ];
    for (const name of names) put(name, event(name));
    put('day/', '');
    put('day/readme.txt', 'x');
    const folder = ['day/10.jsonl', 'day/2.jsonl', 'day/a b+c%20é(1)!.jsonl'];
    const all = (keys: readonly string[]) => keys.map((key) => [`s3://exports/${key}`, [key]]);
    expect(await idsAt(url, 's3://exports/day')).toEqual(all(folder));
    expect(requests.filter((each) => each.includes('continuation-token')).length).toBeGreaterThan(2);
    expect(await idsAt(url, 's3://exports/day/')).toEqual(all(folder));
    expect(await idsAt(url, 's3://exports/da')).toEqual(all(['day-old/1.jsonl', ...folder]));
    expect(await idsAt(url, 's3://exports/other.jsonl')).toEqual(all(['other.jsonl']));
    expect(await idsAt(url, 's3://exports')).toHaveLength(5);
    await expect(idsAt(url, 's3://exports/none')).rejects.toThrow('there are no files at s3://exports/none');
  });

  it.each([null, 'ignores-encoding'] as const)(
    'keys with signs of addresses are those of the store, when it encodes its lists and when it does not: %s',
    async (fault) => {
      const { url, put, onRequest } = await started('exports');
      onRequest(() => fault);
      const keys = ['a+b.jsonl', 'c%25d.jsonl', 'e f.jsonl', 'g%.jsonl'];
      for (const key of keys) put(key, event(key));
      const found = await objectsOf(url, 's3://exports/');
      expect(found.map(({ name }) => name)).toEqual(keys.map((key) => `s3://exports/${key}`));
      for (const { read, bytes } of found) expect((await read(0, bytes)).length).toBe(bytes);
    },
  );

  it('an address of a store takes the keys of a session, and says what the store refuses, without anything of the signature', async () => {
    const { url, put } = await started('exports', { sessionToken: 'token/of+this session' });
    put('a.jsonl', event('a'));
    expect(await idsAt(url, 's3://exports', { AWS_SESSION_TOKEN: 'token/of+this session' })).toHaveLength(1);
    for (const [env, code] of [
      [{}, 'InvalidToken'],
      [
        { AWS_SECRET_ACCESS_KEY: 'wrong', AWS_SESSION_TOKEN: 'token/of+this session' },
        'SignatureDoesNotMatch',
      ],
      [{ AWS_REGION: 'us-east-1' }, 'AuthorizationHeaderMalformed'],
    ] as const) {
      const refused = await idsAt(url, 's3://exports', env).catch((error: unknown) => error);
      expect(refused).toMatchObject({
        exitCode: 2,
        message: expect.stringContaining(`403 (${code}: not "now")`),
      });
      expect(String(refused)).not.toContain('secret-of-the-signature');
      expect(String(refused)).not.toContain('Signature=');
    }
  });

  it.each([
    ['s3://', {}, 'there must be a bucket'],
    ['s3://-/x', {}, 'there must be a bucket'],
    ['s3://b-1', { AWS_ACCESS_KEY_ID: '' }, 'AWS_ACCESS_KEY_ID is not set'],
    ['s3://b-1', { AWS_SECRET_ACCESS_KEY: '' }, 'AWS_SECRET_ACCESS_KEY is not set'],
    ['s3://b-1', { AWS_ENDPOINT_URL: 'localhost:9000' }, 'AWS_ENDPOINT_URL must be an http or https address'],
  ])('%s with %j is refused, saying why', async (address, env, problem) => {
    await expect(openSource(address, null, { ...S3_KEYS, ...env })).rejects.toThrow(problem);
  });
});

describe('an object', () => {
  it('an object of a store is read in ranges, of Parquet only those of the wanted columns', async () => {
    const { url, put, requests } = await started('exports');
    const sql = `SELECT concat('e-', toString(number)) AS transaction_id, 'acme' AS customer_id, 'call' AS event_type,
      toDateTime64('2026-01-01', 3, 'UTC') AS timestamp, randomString(4000) AS blob, number AS n FROM numbers(4000)`;
    const parquet = await parquetOf(clickhouse, sql, { output_format_parquet_compression_method: 'none' });
    put('wide.parquet', parquet);
    put('long.jsonl.gz', gzipSync(Array.from({ length: 20_000 }, (_, i) => event(`e-${i}`)).join('')));
    expect((await idsAt(url, 's3://exports/long.jsonl.gz'))[0]?.[1]).toHaveLength(20_000);
    requests.length = 0;
    const mapping = mappingOfArguments({
      map: undefined,
      eventType: undefined,
      properties: 'n',
      timestamps: undefined,
    });
    const source = await openSource('s3://exports/wide.parquet', null, { ...S3_KEYS, AWS_ENDPOINT_URL: url });
    const file = await source.files[0]?.open();
    const { events } = await readEvents(file ?? expect.fail(), { mapping, delimiter: null });
    expect(events).toHaveLength(4_000);
    const bytes = requests
      .map((each) => /bytes=(\d+)-(\d+)$/.exec(each))
      .map((range) => Number(range?.[2] ?? 0) - Number(range?.[1] ?? 0));
    expect(parquet.length).toBeGreaterThan(16_000_000);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(parquet.length / 4);
  });

  const FAULTS: readonly (readonly [Fault, string])[] = [
    ['unavailable', 'answered 503 (SlowDown: not "now"), 6 times'],
    ['cut', '6 times'],
    ['reset', '6 times'],
    ['silent', 'sent nothing for 0.3 s, 6 times'],
  ];

  it.each(FAULTS)(
    'an object of a store is read whole where a store is %s now and then, and given up where it is always',
    async (fault, problem) => {
      const { url, put, onRequest } = await started('exports');
      const ids = Array.from({ length: 500 }, (_, i) => `e-${i}`);
      put('a.jsonl', ids.map(event).join(''));
      onRequest((_, count) => (count % 3 === 0 ? null : fault));
      const [object] = await objectsOf(url, 's3://exports/a.jsonl');
      const file = await recognise(object ?? expect.fail(), null);
      expect((await readEvents(file)).events.map(({ transactionId }) => transactionId)).toEqual(ids);
      onRequest(() => fault);
      const refused = await readEvents(file).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(InputFailure);
      expect(refused).toMatchObject({ message: expect.stringContaining(problem), exitCode: 1 });
    },
  );

  it.each([null, 'ignores-conditions'] as const)(
    'an object of a store that changes while it is read is refused (%s)',
    async (fault) => {
      const { url, put, onRequest } = await started('exports');
      put('a.jsonl', event('a'));
      const [object] = await objectsOf(url, 's3://exports/a.jsonl');
      put('a.jsonl', event('b'));
      onRequest(() => fault);
      await expect(recognise(object ?? expect.fail(), null)).rejects.toThrow(
        's3://exports/a.jsonl has changed while it was read',
      );
    },
  );
});
