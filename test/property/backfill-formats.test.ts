/** The same rows become the same events, whether they lie in JSON Lines, CSV or Parquet, plain or gzip. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mappingOfArguments } from '../../src/app/commands/backfill/rows/mapping.ts';
import { parquetOf, readEventFile } from '../support/event-files.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';
import { createTestDirectory } from '../support/stores.ts';

const clickhouse = await clickhouseForFile();
const directory = await createTestDirectory();

interface SourceRow {
  readonly id: string;
  readonly org: string;
  readonly kind: string;
  readonly at: string;
  readonly note: string | null;
  /** Digits as they are stored: without needless zeros. */
  readonly amount: string;
  readonly count: string;
  readonly isPaid: boolean;
}

/** No U+0000 and no half of a surrogate pair, which no event has; a text that is read as none in CSV is quoted there. */
const text = (lengths: fc.StringConstraints) =>
  fc.string({ unit: 'binary', ...lengths }).filter((each) => !each.includes('\0'));
const amount = fc
  .tuple(fc.bigInt({ min: -(10n ** 36n), max: 10n ** 36n }), fc.integer({ min: 0, max: 9 }))
  .map(([unscaled, scale]) => withoutZeros(unscaled, scale));
const row: fc.Arbitrary<SourceRow> = fc.record({
  id: text({ minLength: 1, maxLength: 20 }),
  org: text({ minLength: 1, maxLength: 20 }),
  kind: fc.constantFrom('call', 'a,b', 'say "x"', 'two\nlines', 'cr\r\nlf'),
  at: fc
    .date({ min: new Date('1971-01-01'), max: new Date('2025-12-31'), noInvalidDate: true })
    .map((at) => at.toISOString()),
  note: fc.option(text({ maxLength: 30 })),
  amount,
  count: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  isPaid: fc.boolean(),
});

function withoutZeros(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : '';
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const part = digits.slice(digits.length - scale).replace(/0+$/, '');
  return `${sign}${digits.slice(0, digits.length - scale)}${scale === 0 || part === '' ? '' : `.${part}`}`;
}

const reading = {
  mapping: mappingOfArguments({
    map: 'transaction_id=id,customer_id=org,event_type=kind,timestamp=at',
    eventType: undefined,
    properties: undefined,
    timestamps: undefined,
  }),
  delimiter: null,
};

function jsonLines(rows: readonly SourceRow[]): string {
  const lines = rows.map(({ amount, count, ...rest }) => {
    const line = JSON.stringify(rest);
    return `${line.slice(0, -1)},"amount":${amount},"count":${count}}\n`;
  });
  return lines.join('');
}

function csv(rows: readonly SourceRow[], isMarked: boolean): string {
  const cells = rows.map((each) => [
    ...[each.id, each.org, each.kind, each.at, each.note, each.amount, each.count],
    String(each.isPaid),
  ]);
  const body = stringify([['id', 'org', 'kind', 'at', 'note', 'amount', 'count', 'isPaid'], ...cells], {
    quoted_string: true,
    record_delimiter: isMarked ? 'windows' : 'unix',
  });
  return `${isMarked ? '\uFEFF' : ''}${body}`;
}

const COLUMNS = `id String, org String, kind String, at DateTime64(3, 'UTC'), note Nullable(String), amount Decimal(46, 9), count Int64, isPaid Bool`;

async function parquet(rows: readonly SourceRow[], method: string): Promise<Buffer> {
  const lines = rows.map((each) => JSON.stringify({ ...each, at: each.at.slice(0, -1) })).join('\n');
  return await parquetOf(
    clickhouse,
    `SELECT * FROM format(JSONEachRow, {columns:String}, {lines:String})`,
    { output_format_parquet_compression_method: method, output_format_parquet_row_group_size: 3 },
    { columns: COLUMNS, lines },
  );
}

const withoutNote: SourceRow = {
  ...{ id: '1', org: 'a', kind: 'call', at: '2025-01-01T00:00:00.000Z', note: null },
  ...{ amount: '0', count: '0', isPaid: false },
};

test('rows in JSON Lines, CSV and Parquet are the same events', async () => {
  const codecs = ['none', 'snappy', 'zstd', 'gzip', 'lz4', 'brotli'];
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 12 }),
      fc.constantFrom(...codecs),
      fc.boolean(),
      async (rows, codec, isGzip) => {
        const path = (name: string) => join(directory, name);
        const packed = (content: string) => (isGzip ? gzipSync(content) : content);
        await writeFile(path('rows.jsonl'), packed(jsonLines(rows)));
        await writeFile(path('rows.csv'), packed(csv(rows, isGzip)));
        await writeFile(path('rows.parquet'), await parquet(rows, codec));
        const json = await readEventFile(path('rows.jsonl'), reading);
        expect(json.invalid).toEqual([]);
        expect(json.events.map(({ transactionId }) => transactionId)).toEqual(rows.map(({ id }) => id));
        expect(json.events.map(({ properties }) => new Map(properties).get('amount'))).toEqual(
          rows.map((each) => (each.amount === '-0' ? '0' : each.amount)),
        );
        for (const name of ['rows.csv', 'rows.parquet']) {
          const read = await readEventFile(path(name), reading);
          expect(inOrder(read)).toEqual(inOrder(json));
          // From any row on, as after a stop.
          const from = Math.floor(rows.length / 2);
          expect(inOrder(await readEventFile(path(name), reading, from)).events).toEqual(
            inOrder(json).events.slice(from),
          );
        }
      },
    ),
    // A column without a value, which is a page without bytes.
    { numRuns: runs(60), examples: codecs.map((codec) => [[withoutNote], codec, false]) },
  );
});

/** Properties have no order. */
function inOrder(read: Awaited<ReturnType<typeof readEventFile>>) {
  const events = read.events.map((event) => ({
    ...event,
    properties: [...event.properties].sort(([a], [b]) => (a < b ? -1 : 1)),
  }));
  return { ...read, events };
}
