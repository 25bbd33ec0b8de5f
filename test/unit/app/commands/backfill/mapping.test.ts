import { describe, expect, it } from 'vitest';
import { createEventWriter } from '../../../../../src/app/commands/backfill/rows/event-of-row.ts';
import {
  MappingProblem,
  mappingOfArguments,
  mappingOfFile,
  SAME_NAMES,
} from '../../../../../src/app/commands/backfill/rows/mapping.ts';
import { sinceEpoch, timestampOf } from '../../../../../src/app/commands/backfill/rows/timestamp.ts';
import { parseValue, type Value } from '../../../../../src/app/commands/backfill/rows/value.ts';

const given = (parts: Readonly<Record<string, string>>) =>
  mappingOfArguments({
    map: undefined,
    eventType: undefined,
    properties: undefined,
    timestamps: undefined,
    ...parts,
  });

function rowOf(json: string): ReadonlyMap<string, Value> {
  const value = parseValue(json);
  return new Map(Object.entries(value ?? {}));
}

const written = (mapping: ReturnType<typeof given>, json: string) =>
  createEventWriter(mapping ?? SAME_NAMES).write(rowOf(json));

describe('a mapping', () => {
  it('a mapping names the columns of the fields, and every other column is a property', () => {
    const mapping = given({ map: 'transaction_id=id, customer_id=org unit,timestamp=at', eventType: 'call' });
    expect(
      written(mapping, '{"id":7,"org unit":"acme","at":"2026-01-01T00:00:00Z","n":1.50,"none":null}'),
    ).toEqual({
      json: '{"transaction_id":"7","customer_id":"acme","event_type":"call","timestamp":"2026-01-01T00:00:00Z","properties":{"n":1.5}}',
    });
  });

  it('a mapping says which columns are properties', () => {
    const mapping = given({ properties: 'a' });
    expect(written(mapping, '{"transaction_id":"x","a":"1","b":"2"}')).toEqual({
      json: '{"transaction_id":"x","properties":{"a":"1"}}',
    });
  });

  it('a mapping from a file also renames, adds texts, reads into objects and their JSON text, and leaves rows out', () => {
    const mapping = mappingOfFile(
      JSON.stringify({
        transaction_id: { column: 'id', prefix: 'x:' },
        customer_id: 'who.id',
        event_type: { value: 'call' },
        timestamp: 'at',
        timestamps: 'utc',
        properties: { provider: { value: 'openai' }, tokens: 'usage.in.total', named: 'a.b' },
        only: { kind: ['A', 'B'], live: 'true' },
      }),
    );
    const row = (kind: string) =>
      `{"id":1,"who":"{\\"id\\":\\"acme\\"}","at":"2026-01-01 10:00","kind":"${kind}","live":true,"usage":{"in":{"total":12345678901234567890}},"a.b":"dotted"}`;
    expect(written(mapping, row('B'))).toEqual({
      json: '{"transaction_id":"x:1","customer_id":"acme","event_type":"call","timestamp":"2026-01-01T10:00:00Z","properties":{"provider":"openai","tokens":12345678901234567890,"named":"dotted"}}',
    });
    expect(written(mapping, row('C'))).toBe('left-out');
  });

  it('a mapping takes members of a column called properties as properties, and refuses one that is there twice', () => {
    expect(written(null, '{"properties":"{\\"a\\":1}","b":2}')).toEqual({
      json: '{"properties":{"a":1,"b":2}}',
    });
    expect(written(null, '{"properties":{"a":1},"a":2}')).toEqual({
      problem: 'the property "a" is there twice',
    });
    expect(written(null, '{"properties":"three rooms"}')).toEqual({
      problem: expect.stringContaining('column "properties": is not an object of properties'),
    });
  });

  it.each([
    [{ map: 'transaction_id' }, '"transaction_id" is not FIELD=COLUMN'],
    [{ map: 'id=transaction_id' }, '"id=transaction_id" is not FIELD=COLUMN'],
    [{ map: 'timestamp=a,timestamp=b' }, 'timestamp is there twice'],
    [{ map: 'timestamp=' }, 'timestamp has no column'],
    [{ map: 'timestamp=a,' }, 'a name missing beside a comma'],
    [{ map: 'event_type=a', eventType: 'b' }, 'exclude each other'],
    [{ properties: 'a,a' }, 'a name is there twice'],
    [{ timestamps: 'seconds' }, 'must be one of rfc3339, utc, s, ms, us, ns'],
  ])('%j is refused, saying why', (parts: Readonly<Record<string, string>>, problem) => {
    expect(() => given(parts)).toThrow(MappingProblem);
    expect(() => given(parts)).toThrow(problem);
  });

  it.each([
    ['[', 'it is not JSON'],
    ['[]', 'the mapping'],
    ['{"customer":"a"}', 'Unrecognized key: "customer"'],
    ['{"timestamp":{"column":"a","unit":"s"}}', 'timestamp'],
    ['{"only":{"a":[]}}', 'only.a'],
  ])('a file with %s is refused, saying where', (text, problem) => {
    expect(() => mappingOfFile(text)).toThrow(problem);
  });

  it('a mapping says which column a refused field comes from', () => {
    const writer = createEventWriter(given({ map: 'customer_id=org' }) ?? SAME_NAMES);
    expect(writer.explain('customer_id: is required')).toBe('customer_id: is required (column "org")');
    expect(writer.explain('properties.a: too long')).toBe('properties.a: too long');
  });
});

describe('times', () => {
  it.each([
    ['1700000000', 0, '2023-11-14T22:13:20.000Z'],
    ['1700000000.123456789999', 0, '2023-11-14T22:13:20.123456789Z'],
    ['1700000000123', 3, '2023-11-14T22:13:20.123Z'],
    ['1700000000123456', 6, '2023-11-14T22:13:20.123456Z'],
    ['1700000000123456789', 9, '2023-11-14T22:13:20.123456789Z'],
    ['-1', 9, '1969-12-31T23:59:59.999999999Z'],
  ])('%s with %i decimals are %s', (text, decimals, time) => {
    expect(sinceEpoch(text, decimals)).toBe(time);
  });

  it.each([
    ['2026-01-01 10:00:00.123456', 'utc', '2026-01-01T10:00:00.123456Z'],
    ['2026-01-01', 'utc', '2026-01-01T00:00:00Z'],
    ['2026-01-01 10:00:00+02:00', 'utc', '2026-01-01T10:00:00+02:00'],
    ['2026-01-01T10:00:00Z', 'rfc3339', '2026-01-01T10:00:00Z'],
  ] as const)('%s as %s is %s', (text, form, time) => {
    expect(timestampOf(text, form)).toBe(time);
  });

  it.each([
    ['2026-01-01 10:00:00', 'rfc3339', 'has no offset; with --timestamps utc'],
    [1_700_000_000, 'rfc3339', 'is a number; say with --timestamps'],
    [1_700_000_000_000, 's', 'the wrong unit'],
    [1_700_000_000, 'ms', 'is in the year 1970; --timestamps may have the wrong unit'],
    [1_700_000_000_000, 'us', 'is in the year 1970'],
    ['1700000000000000', 'ns', 'is in the year 1970'],
    ['soon', 's', 'is not a number: "soon"'],
  ] as const)('%s as %s is refused: %s', (value, form, problem) => {
    expect(() => timestampOf(value, form)).toThrow(problem);
  });
});
