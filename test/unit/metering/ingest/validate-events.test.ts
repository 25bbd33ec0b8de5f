import { describe, expect, it } from 'vitest';
import { DAY_MS, formatInstant, HOUR_MS } from '../../../../src/core/time.ts';
import type { ReadEvent } from '../../../../src/metering/ingest/event-rows.ts';
import {
  type EventError,
  type Validation,
  validateEvents,
} from '../../../../src/metering/ingest/validate-events.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const CONTEXT = { now: NOW, windowDays: 34 };

const GOOD = {
  transaction_id: 'tx-1',
  customer_id: 'acme',
  event_type: 'tokens',
  timestamp: '2026-11-20T10:00:00Z',
  properties: { model: 'large' },
};

function validate(body: unknown): Validation {
  return validateText(JSON.stringify(body));
}

function validateText(body: string | Buffer): Validation {
  return validateEvents(Buffer.from(body), CONTEXT);
}

function eventsOf(validation: Validation): readonly ReadEvent[] {
  if (!('rows' in validation)) throw new Error(validation.message);
  const { rows } = validation;
  return Array.from({ length: rows.count }, (_, index) => rows.read(index));
}

function refusalOf(validation: Validation): { message: string; errors: readonly EventError[] } {
  if ('rows' in validation) throw new Error('the body was accepted');
  return validation;
}

/** The stored properties of the only event of a body. */
function propertiesOf(validation: Validation): unknown {
  const [event] = eventsOf(validation);
  return Object.fromEntries(event?.properties ?? []);
}

/** The properties as raw JSON, so that numbers reach the service exactly as written here. */
function withProperties(json: string): Validation {
  const { properties, ...rest } = GOOD;
  return validateText(`[${JSON.stringify(rest).slice(0, -1)},"properties":${json}}]`);
}

describe('a request', () => {
  it.each([
    ['empty text', ''],
    ['broken JSON', '[{"transaction_id":'],
    ['a trailing comma', '[{},]'],
    ['NaN', '[NaN]'],
    ['a control character in a string', '["\u0001"]'],
    ['a byte order mark', '\ufeff[]'],
    ['brackets of a million levels that never close', '['.repeat(1_000_000)],
  ])('a request with %s is refused as a whole', (_, text) => {
    expect(refusalOf(validateText(text))).toEqual({ message: 'the body is not valid JSON', errors: [] });
  });

  it.each(['null', '1', '"text"', '{}', 'true'])(
    'a request that holds %s instead of an array is refused',
    (text) => {
      expect(refusalOf(validateText(text)).message).toBe('the body must be a JSON array of events');
    },
  );

  it('a request that is not UTF-8 is refused', () => {
    const body = Buffer.concat([
      Buffer.from('[{"transaction_id":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}]'),
    ]);
    expect(refusalOf(validateText(body)).message).toBe('the body is not valid UTF-8');
  });

  it('a request takes 1 to 100 events', () => {
    const many = Array.from({ length: 100 }, (_, i) => ({ ...GOOD, transaction_id: `tx-${i}` }));
    expect(eventsOf(validate(many))).toHaveLength(100);
    expect(refusalOf(validate([])).message).toBe('the body must hold 1 to 100 events, not 0');
    expect(refusalOf(validate([...many, GOOD])).message).toBe('the body must hold 1 to 100 events, not 101');
  });

  it('a request names only the bad events, each with index, id and field', () => {
    const refusal = refusalOf(validate([GOOD, { ...GOOD, event_type: '' }, GOOD, { customer_id: 'acme' }]));
    expect(refusal.errors).toEqual([
      { index: 1, transaction_id: 'tx-1', message: 'event_type: must have 1 to 256 characters' },
      { index: 3, transaction_id: null, message: 'transaction_id: is required' },
    ]);
    expect(refusal.message).toBe(
      '2 of 4 events are invalid, nothing was stored: [1] tx-1: event_type: must have 1 to 256 characters; ' +
        '[3] without transaction_id: transaction_id: is required',
    );
  });

  it('a request with a hundred bad events has a short message and a hundred errors', () => {
    const refusal = refusalOf(validate(Array.from({ length: 100 }, () => 1)));
    expect(refusal.errors).toHaveLength(100);
    expect(refusal.message.length).toBeLessThan(600);
    expect(refusal.message).toMatch(/; and 95 more$/);
  });

  it('echoes no more of a hostile id than a valid one has', () => {
    const [error] = refusalOf(validate([{ ...GOOD, transaction_id: 'x'.repeat(1_000_000) }])).errors;
    expect(error?.transaction_id).toBe('x'.repeat(128));
    expect(error?.message).toBe('transaction_id: must have 1 to 128 characters');
  });
});

describe('the fields of an event', () => {
  const bad: [string, unknown, string][] = [
    ['transaction_id', undefined, 'transaction_id: is required'],
    ['transaction_id', null, 'transaction_id: is required'],
    ['transaction_id', 7, 'transaction_id: must be a string'],
    ['transaction_id', '', 'transaction_id: must have 1 to 128 characters'],
    ['transaction_id', 'x'.repeat(129), 'transaction_id: must have 1 to 128 characters'],
    ['transaction_id', '😀'.repeat(129), 'transaction_id: must have 1 to 128 characters'],
    ['transaction_id', 'a\0b', 'transaction_id: must not contain the character U+0000'],
    ['transaction_id', '\ud800', 'transaction_id: must not contain half of a surrogate pair'],
    ['transaction_id', '\udc00\ud800', 'transaction_id: must not contain half of a surrogate pair'],
    ['customer_id', undefined, 'customer_id: is required'],
    ['customer_id', '', 'customer_id: must have 1 to 256 characters'],
    ['customer_id', 'x'.repeat(257), 'customer_id: must have 1 to 256 characters'],
    ['customer_id', ['acme'], 'customer_id: must be a string'],
    ['customer_id', 'a\0', 'customer_id: must not contain the character U+0000'],
    ['event_type', undefined, 'event_type: is required'],
    ['event_type', '', 'event_type: must have 1 to 256 characters'],
    ['event_type', 'x'.repeat(257), 'event_type: must have 1 to 256 characters'],
    ['timestamp', undefined, 'timestamp: is required'],
    ['timestamp', 1_763_640_000, 'timestamp: must be a string'],
    ['properties', [], 'properties: must be an object'],
    ['properties', 'x', 'properties: must be an object'],
    ['properties', 5, 'properties: must be an object'],
  ];
  it.each(bad)('%s = %j is refused', (field, value, message) => {
    expect(refusalOf(validate([{ ...GOOD, [field]: value }])).errors.map((error) => error.message)).toEqual([
      message,
    ]);
  });

  it.each([null, 1, 'event', [], true])('an event that is %j instead of an object is refused', (event) => {
    expect(refusalOf(validate([event])).errors).toEqual([
      { index: 0, transaction_id: null, message: 'the event must be an object' },
    ]);
  });

  it.each([
    ['transaction_id', 'x'.repeat(128)],
    ['transaction_id', '😀'.repeat(128)],
    ['transaction_id', ' "\\\n\u2028é '],
    ['customer_id', 'x'.repeat(256)],
    ['event_type', 'x'.repeat(256)],
  ])('%s = %j is taken as it is', (field, value) => {
    const [event] = eventsOf(validate([{ ...GOOD, [field]: value }]));
    const { transactionId, customerRef, eventType } = event ?? {};
    expect({ transaction_id: transactionId, customer_id: customerRef, event_type: eventType }).toMatchObject({
      [field]: value,
    });
  });

  it('unknown members are ignored, whatever they hold', () => {
    const event = { ...GOOD, extra: { deep: [1e300, null] }, constructor: 1, timestamp_ms: 5 };
    expect(eventsOf(validate([event]))).toHaveLength(1);
    expect(eventsOf(validateText(`[${JSON.stringify(GOOD).slice(0, -1)},"x":1e400}]`))).toHaveLength(1);
  });
});

describe('timestamps', () => {
  const accepted: [string, number][] = [
    ['2026-11-20T10:00:00Z', Date.UTC(2026, 10, 20, 10)],
    ['2026-11-20T10:00:00.5Z', Date.UTC(2026, 10, 20, 10, 0, 0, 500)],
    ['2026-11-20T10:00:00.123Z', Date.UTC(2026, 10, 20, 10, 0, 0, 123)],
    ['2026-11-20T10:00:00.123999999Z', Date.UTC(2026, 10, 20, 10, 0, 0, 123)],
    ['2026-11-20t10:00:00z', Date.UTC(2026, 10, 20, 10)],
    ['2026-11-20T10:00:00+00:00', Date.UTC(2026, 10, 20, 10)],
    ['2026-11-20T10:00:00-00:00', Date.UTC(2026, 10, 20, 10)],
    ['2026-11-20T23:30:00+14:00', Date.UTC(2026, 10, 20, 9, 30)],
    ['2026-11-19T22:00:00.250-05:30', Date.UTC(2026, 10, 20, 3, 30, 0, 250)],
    ['2026-10-31T23:59:59.999Z', Date.UTC(2026, 9, 31, 23, 59, 59, 999)],
  ];
  it.each(accepted)('%s is read', (timestamp, instant) => {
    expect(eventsOf(validate([{ ...GOOD, timestamp }])).map((event) => event.timestamp)).toEqual([instant]);
  });

  it.each([
    '',
    '2026-11-20',
    '2026-11-20T10:00:00',
    '2026-11-20 10:00:00Z',
    '2026-11-20T10:00Z',
    '2026-11-20T10:00:00.Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T10:60:00Z',
    '2026-11-20T10:00:61Z',
    '2026-11-31T10:00:00Z',
    '2026-02-29T10:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-00-01T10:00:00Z',
    '2026-11-20T10:00:00+24:00',
    '2026-11-20T10:00:00+01',
    '2026-11-20T10:00:00+0100',
    '+02026-11-20T10:00:00Z',
    '02026-11-20T10:00:00Z',
    '20261120T100000Z',
    '1763640000',
    ' 2026-11-20T10:00:00Z',
    '2026-11-20T10:00:00Z ',
    '2026-11-20T1a:00:00Z',
    '２026-11-20T10:00:00Z',
    '2026-11-20T10:00:00.1-3Z',
    'x'.repeat(100_000),
  ])('%s is refused', (timestamp) => {
    const [error] = refusalOf(validate([{ ...GOOD, timestamp }])).errors;
    expect(error?.message).toMatch(/^timestamp: must be an RFC 3339 timestamp/);
  });

  it('timestamps may lie exactly 24 hours in the future and exactly the window in the past, and not a millisecond more', () => {
    const at = (instant: number) => validate([{ ...GOOD, timestamp: formatInstant(instant) }]);
    expect(eventsOf(at(NOW + 24 * HOUR_MS))).toHaveLength(1);
    expect(refusalOf(at(NOW + 24 * HOUR_MS + 1)).errors[0]?.message).toBe(
      'timestamp: must be at most 24 hours in the future, so not after 2026-11-21T12:00:00.000Z',
    );
    expect(eventsOf(at(NOW - 34 * DAY_MS))).toHaveLength(1);
    expect(refusalOf(at(NOW - 34 * DAY_MS - 1)).errors[0]?.message).toBe(
      'timestamp: is too far in the past, must not be before 2026-10-17T12:00:00.000Z',
    );
  });
});

describe('properties', () => {
  const stored: [string, unknown][] = [
    ['null', {}],
    ['{}', {}],
    ['{"a":null}', {}],
    ['{"a":null,"b":"x"}', { b: 'x' }],
    ['{"a":"","":"b"}', { a: '', '': 'b' }],
    ['{"a":" 1.50 "}', { a: ' 1.50 ' }],
    ['{"a":true,"b":false}', { a: 'true', b: 'false' }],
    ['{"a":0,"b":-0,"c":-1.50,"d":100}', { a: '0', b: '0', c: '-1.5', d: '100' }],
    ['{"a":0.000001,"b":0.0000001,"c":1e3}', { a: '0.000001', b: '0.0000001', c: '1000' }],
    ['{"a":9007199254740993}', { a: '9007199254740993' }],
    ['{"a":0.1234567890123456789,"b":1.50}', { a: '0.1234567890123456789', b: '1.5' }],
    ['{"a":"9007199254740993","b":1}', { a: '9007199254740993', b: '1' }],
    ['{"a":{"b":[1,"x",null,true,{}]}}', { a: '{"b":[1,"x",null,true,{}]}' }],
    ['{"a":[9007199254740993,1.0,1e2],"b":1e-7}', { a: '[9007199254740993,1,100]', b: '0.0000001' }],
    ['{"a":{"1e5":"1e5"},"b":1e5}', { a: '{"1e5":"1e5"}', b: '100000' }],
    ['{"a":1,"a":2}', { a: '2' }],
    ['{"a":9007199254740993,"a":9007199254740995}', { a: '9007199254740995' }],
    ['{"a.b":"1","a":{"b":2}}', { 'a.b': '1', a: '{"b":2}' }],
    ['{"10":"x","9":"y"}', { 9: 'y', 10: 'x' }],
    ['{"q\\"\\\\":"\\u0001\\n\\ud83d\\ude00","k":["\\""]}', { 'q"\\': '\u0001\n😀', k: '["\\""]' }],
    ['{"é😀":"ü"}', { 'é😀': 'ü' }],
  ];
  it.each(stored)('%s is stored with every character and digit', (json, texts) => {
    expect(propertiesOf(withProperties(json))).toEqual(texts);
  });

  it('properties may be absent', () => {
    const { properties, ...rest } = GOOD;
    expect(propertiesOf(validate([rest]))).toEqual({});
  });

  it('named like a member of every object are stored like any other', () => {
    const texts = propertiesOf(withProperties('{"__proto__":"a","constructor":"b","toString":1}'));
    expect(JSON.stringify(texts)).toBe('{"__proto__":"a","constructor":"b","toString":"1"}');
  });

  const refused: [string, string][] = [
    ['{"a":1e400}', 'properties.a: the number has too many digits; send it as a string to keep it as it is'],
    [
      '{"a":[{"b":-1e400}]}',
      'properties.a: the number has too many digits; send it as a string to keep it as it is',
    ],
    ['{"a":1e-400}', 'properties.a: the number has too many digits; send it as a string to keep it as it is'],
    ['{"a":"\\u0000"}', 'properties.a: must not contain the character U+0000'],
    ['{"a":["\\u0000"]}', 'properties.a: must not contain the character U+0000'],
    ['{"a":{"\\ud800":1}}', 'properties.a: must not contain half of a surrogate pair'],
    ['{"a":"\\ud83dx"}', 'properties.a: must not contain half of a surrogate pair'],
    ['{"a":"x\\ude00"}', 'properties.a: must not contain half of a surrogate pair'],
  ];
  it.each(refused)('%s are refused', (json, message) => {
    expect(refusalOf(withProperties(json)).errors.map((error) => error.message)).toEqual([message]);
  });

  it('properties have at most 1,000 members, names of 256 characters and 65,536 characters in all', () => {
    const members = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
    const check = (properties: unknown) => validate([{ ...GOOD, properties }]);
    expect(eventsOf(check(members(1_000)))).toHaveLength(1);
    expect(eventsOf(check({ ['n'.repeat(256)]: 'v' }))).toHaveLength(1);
    expect(eventsOf(check({ a: 'v'.repeat(65_535) }))).toHaveLength(1);
    const problems = [members(10_000), { ['n'.repeat(257)]: 'v' }, { a: 'v'.repeat(65_536) }].map(
      (properties) => refusalOf(check(properties)).errors[0]?.message,
    );
    expect(problems).toEqual([
      'properties: must have at most 1000 members',
      `properties.${'n'.repeat(64)}…: the name must have at most 256 characters`,
      'properties: names and values must have at most 65536 characters together',
    ]);
  });

  it('nest at most 16 levels, and deeper ones do not exhaust the stack', () => {
    const nested = (levels: number) => withProperties(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    expect(propertiesOf(nested(16))).toEqual({ a: '['.repeat(16) + ']'.repeat(16) });
    expect(refusalOf(nested(17)).errors[0]?.message).toBe(
      'properties.a: values must not be nested deeper than 16 levels',
    );
    expect(refusalOf(nested(500_000)).errors).toHaveLength(1);
  });
});
