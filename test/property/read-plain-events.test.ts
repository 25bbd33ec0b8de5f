/** The reader of plain bodies gives what the general reader gives, or leaves the body to it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatInstant } from '../../src/core/time.ts';
import { EventRows } from '../../src/metering/ingest/event-rows.ts';
import { createTimestampBytesParser } from '../../src/metering/ingest/event-timestamp.ts';
import { createPlainEventReader } from '../../src/metering/ingest/read-plain-events.ts';
import { validateEvents } from '../../src/metering/ingest/validate-events.ts';
import { runs } from '../support/shares-of-tests.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const DAY_MS = 86_400_000;
const CONTEXT = { now: NOW, windowDays: 34 };
const BOUNDS = { now: NOW, earliest: NOW - 34 * DAY_MS, latest: NOW + DAY_MS };

const readPlain = createPlainEventReader();
const parseTimestamp = createTimestampBytesParser();
const plain = new EventRows();

/** Whether the body was plain; then its rows are those of the general reader, to the byte. */
function isReadAlike(json: string): boolean {
  const body = Buffer.from(json);
  if (!readPlain(body, plain, { ...BOUNDS, parseTimestamp })) return false;
  const general = validateEvents(body, CONTEXT);
  if (!('rows' in general)) throw new Error(`read as plain although ${general.message}: ${json}`);
  const { rows } = general;
  expect(plain.count).toBe(rows.count);
  expect(plain.bytes.toString('latin1', 0, plain.length)).toBe(rows.bytes.toString('latin1', 0, rows.length));
  expect([...plain.ends.subarray(0, rows.count)]).toEqual([...rows.ends.subarray(0, rows.count)]);
  expect([...plain.timestamps.subarray(0, rows.count)]).toEqual([...rows.timestamps.subarray(0, rows.count)]);
  expect([...plain.hashes.subarray(0, 3 * rows.count)]).toEqual([...rows.hashes.subarray(0, 3 * rows.count)]);
  return true;
}

/** So that many bodies have nothing odd in them. */
function rarely<T>(odd: fc.Arbitrary<T>, common: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 300, arbitrary: common }, { weight: 1, arbitrary: odd });
}

function seldom<T>(odd: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: odd });
}

const space = rarely(
  fc.constantFrom('\v', '\f', '\u00a0', '\ufeff'),
  fc.constantFrom('', '', '', '', ' ', '\n', '\t', '\r\n'),
);
const character = rarely(
  fc.constantFrom(
    '\\"',
    '\\\\',
    '\\n',
    '\\u0041',
    '\\u0000',
    '\\ud800',
    '\\x',
    '\n',
    '\u0001',
    'é',
    '💡',
    '"',
  ),
  fc.constantFrom('a', 'b', '7', '-', '_', '.', ' ', '{', ']', ':', ',', "'", '/', '\u007f'),
);
const text = (constraints: { minLength?: number; maxLength: number }) =>
  fc.array(character, { size: 'max', ...constraints }).map((parts) => `"${parts.join('')}"`);
const longText = fc
  .tuple(
    fc.constantFrom(126, 127, 128, 129, 255, 256, 257, 16_383, 16_384, 65_537),
    fc.constantFrom('x', 'x', 'x', 'é'),
  )
  .map(([length, letter]) => `"${letter.repeat(length)}"`);

const digits = fc.stringMatching(/^\d{1,17}$/);
const plainNumber = fc.oneof(
  fc.integer().map(String),
  fc.integer().map((n) => String(n / 1_000)),
  fc.constantFrom('0', '0.0', '1.0', '1.50', '-1.500', '0.0000001', '999999999999999', '-0.5'),
);
const oddNumber = fc.oneof(
  fc.double().map(String),
  fc
    .tuple(fc.constantFrom('', '-', '+'), digits, fc.constantFrom('', '.'), fc.oneof(fc.constant(''), digits))
    .map((parts) => parts.join('')),
  fc.constantFrom('-0', '-0.0', '01', '1.', '.5', '1e3', '1E-7', '9007199254740993', '-', '--1', '1x', '0x1'),
);
const oddValue = fc.oneof(
  oddNumber,
  longText,
  fc.constantFrom('null', 'tru', 'True', 'falsee', 'undefined', '{}', '[]', '[1]', '{"a":1}', ''),
);
const value = rarely(
  oddValue,
  fc.oneof(text({ maxLength: 30 }), plainNumber, fc.constantFrom('true', 'false', '"1.50"')),
);
const name = rarely(
  fc.oneof(fc.constantFrom('"a"', '"0"', '"12"', '"-1"', '"1a"', 'a', '"a'), longText),
  fc.oneof(
    fc.constantFrom('"__proto__"', '"constructor"', '""', '"model"', '"input_tokens"', '"toString"'),
    fc.stringMatching(/^[a-z]{1,8}$/).map((letters) => `"${letters}"`),
  ),
);

/** Members with white space around everything. */
const object = (member: fc.Arbitrary<readonly [string, string]>, maxLength: number) =>
  fc
    .tuple(
      fc.array(fc.tuple(member, space, space, space), { maxLength }),
      space,
      rarely(fc.constant(','), fc.constant('')),
    )
    .map(([members, inside, comma]) => {
      const texts = members.map(([[key, val], a, b, c]) => `${a}${key}${b}:${c}${val}`);
      return `{${texts.join(`${inside},`)}${inside}${comma}}`;
    });

const properties = object(fc.tuple(name, value), 8);
const timestamp = rarely(
  fc.oneof(
    fc.integer({ min: NOW - 35 * DAY_MS, max: NOW + 2 * DAY_MS }).map((at) => formatInstant(at)),
    fc.constantFrom('2026-11-20T10:00:00+02:00', '2026-11-20T25:00:00Z', '2026-02-30T10:00:00Z', ''),
  ),
  fc
    .tuple(fc.integer({ min: NOW - 34 * DAY_MS, max: NOW + DAY_MS }), fc.boolean())
    .map(([at, isShort]) =>
      formatInstant(at - (at % 1000) * Number(isShort)).replace(isShort ? /\.\d+/ : '', ''),
    ),
);

/** A UUID in any letter case, and texts that almost are one. */
const uuidLike = fc
  .tuple(fc.uuid(), fc.bigInt({ min: 0n, max: 2n ** 36n - 1n }), fc.option(fc.tuple(fc.nat(35), character)))
  .map(([uuid, capitals, other]) => {
    const letters = [...uuid].map((letter, at) =>
      ((capitals >> BigInt(at)) & 1n) === 1n ? letter.toUpperCase() : letter,
    );
    if (other !== null) letters[other[0]] = other[1];
    return `"${letters.join('')}"`;
  });

/** An event whose members may be missing, repeated, unknown or in another order. */
const event = fc
  .record({
    ids: fc.tuple(
      text({ minLength: 1, maxLength: 40 }),
      fc.oneof(text({ maxLength: 12 }), longText, uuidLike),
      text({ minLength: 1, maxLength: 9 }),
    ),
    timestamp,
    properties: fc.option(rarely(value, properties), { freq: 9 }),
    extra: seldom(
      fc.tuple(
        fc.constantFrom('"transaction_id"', '"extra"', '"propertiez"', '"timestamp_"', '"properties"'),
        value,
      ),
    ),
    dropped: seldom(fc.nat({ max: 4 })),
    turned: fc.nat({ max: 5 }),
    inside: space,
  })
  .map((parts) => {
    const [id, customer, type] = parts.ids;
    const members = [
      ['"transaction_id"', id],
      ['"customer_id"', customer],
      ['"event_type"', type],
      ['"timestamp"', `"${parts.timestamp}"`],
      ...(parts.properties === null ? [] : [['"properties"', parts.properties]]),
      ...(parts.extra === null ? [] : [parts.extra]),
    ].filter((_, i) => i !== parts.dropped);
    const turned = [...members.slice(parts.turned), ...members.slice(0, parts.turned)];
    return `{${turned.map((member) => member.join(`${parts.inside}:`)).join(`,${parts.inside}`)}}`;
  });

const body = fc
  .tuple(fc.array(event, { maxLength: 4 }), space, rarely(fc.constantFrom(',', 'x', '[]'), space))
  .map(([events, inside, behind]) => `${inside}[${events.join(`${inside},`)}]${behind}`);

describe('a body that is read in one pass', () => {
  it('a body that is read in one pass has the rows that the general reader gives it, whatever the body is', () => {
    let plainBodies = 0;
    fc.assert(
      fc.property(body, (json) => {
        if (isReadAlike(json)) plainBodies += 1;
      }),
      { numRuns: runs(4_000) },
    );
    // The test is of use only where it meets both kinds.
    expect(plainBodies).toBeGreaterThan(runs(4_000) / 40);
  });

  it('a body that is read in one pass has them after any byte of it was changed, too', () => {
    const good = fc.record({
      n: fc.oneof(fc.nat(), fc.string({ maxLength: 5 })),
      at: fc.nat(),
      byte: fc.integer({ min: 0, max: 127 }),
    });
    fc.assert(
      fc.property(good, ({ n, at, byte }) => {
        const bytes = Buffer.from(
          JSON.stringify([sample(1, { n, b: true, 'c d': '12.50', e: 0.25 }), sample(2, {})]),
        );
        bytes[at % bytes.length] = byte;
        isReadAlike(bytes.toString('latin1'));
        expect(bytes.length).toBeGreaterThan(0);
      }),
      { numRuns: runs(4_000) },
    );
  });

  it.each([
    [
      '100 events with properties',
      Array.from({ length: 100 }, (_, i) => sample(i, { n: i, model: 'a', cached: true })),
    ],
    ['an event without properties', [sample(1, undefined)]],
    ['64 properties', [sample(1, Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`p${i}`, i])))]],
  ])('a body that is read in one pass is one of %s', (_, events) => {
    expect(isReadAlike(JSON.stringify(events))).toBe(true);
  });

  it.each([
    ['101 events', Array.from({ length: 101 }, (_, i) => sample(i, {}))],
    ['a nested value', [sample(1, { a: { b: 1 } })]],
    ['null', [sample(1, { a: null })]],
    ['a long number', [sample(1, { a: 1e21 })]],
    ['65 properties', [sample(1, Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`p${i}`, i])))]],
    ['a name that looks like an index', [sample(1, { b: 1, 0: 2 })]],
    ['an id that is too long', [{ ...sample(1, {}), transaction_id: 'x'.repeat(129) }]],
  ])('a body that is read in one pass is none with %s', (_, events) => {
    expect(isReadAlike(JSON.stringify(events))).toBe(false);
  });
});

function sample(n: number, properties: object | undefined) {
  return {
    transaction_id: `tx-${n}`,
    customer_id: 'acme',
    event_type: 'tokens',
    timestamp: formatInstant(NOW - n),
    properties,
  };
}
