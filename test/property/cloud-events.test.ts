/** A CloudEvent is stored as the event of usage that it stands for, to the byte, however it is written. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatInstant } from '../../src/core/time.ts';
import type { CloudEventIdentity } from '../../src/metering/ingest/cloud-events.ts';
import {
  createCloudEventReader,
  createEventReader,
  type Validation,
} from '../../src/metering/ingest/validate-events.ts';
import { runs } from '../support/shares-of-tests.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const CONTEXT = { now: NOW, windowDays: 34 };
const usage = createEventReader();
const readers = {
  'source-and-id': createCloudEventReader('source-and-id'),
  id: createCloudEventReader('id'),
};

/** The event as it would be stored. */
function stored(validation: Validation) {
  if (!('rows' in validation)) return validation.errors.map(({ index }) => index);
  const { rows } = validation;
  return {
    bytes: rows.bytes.toString('latin1', 0, rows.length),
    ends: [...rows.ends.subarray(0, rows.count)],
    timestamps: [...rows.timestamps.subarray(0, rows.count)],
    hashes: [...rows.hashes.subarray(0, 3 * rows.count)],
  };
}

interface Sent {
  readonly id: string;
  readonly source: string;
  readonly subject: string;
  readonly type: string;
  readonly time: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;
}

const text = fc.oneof(
  { weight: 9, arbitrary: fc.stringMatching(/^[a-z0-9:/._-]{1,40}$/) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }) },
  { weight: 2, arbitrary: fc.integer({ min: 60, max: 130 }).map((length) => 'x'.repeat(length)) },
);
const sent: fc.Arbitrary<Sent> = fc.record({
  id: text,
  source: text,
  subject: text,
  type: text,
  time: fc.option(
    fc.oneof(
      fc.integer({ min: NOW - 34 * 86_400_000, max: NOW }).map(formatInstant),
      fc.constantFrom('2026-11-20T10:00:00+02:00', '2026-11-20T10:00:00.123456789Z', '1999-01-01T00:00:00Z'),
    ),
    { nil: undefined },
  ),
  data: fc.option(
    fc.dictionary(
      fc.string({ maxLength: 8 }),
      fc.oneof(
        fc.string(),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        fc.jsonValue(),
      ),
      { maxKeys: 5 },
    ),
    { nil: undefined },
  ),
});

function cloudEvent({ time, data, ...event }: Sent, extra: object = {}) {
  return {
    specversion: '1.0',
    ...event,
    ...(time === undefined ? {} : { time }),
    ...(data === undefined ? {} : { datacontenttype: 'application/json', data }),
    ...extra,
  };
}

function usageEvent({ id, source, subject, type, time, data }: Sent, identity: CloudEventIdentity) {
  const escaped = `${source}/${id.replaceAll('%', '%25').replaceAll('/', '%2F')}/`;
  const whole = identity === 'id' ? id : id.includes('/') ? escaped : `${source}/${id}`;
  const hash = () => `cloudevents:${createHash('sha256').update(whole).digest('hex')}`;
  return {
    transaction_id: Array.from(whole).length > 128 ? hash() : whole,
    customer_id: subject,
    event_type: type,
    timestamp: time ?? formatInstant(NOW),
    properties: data,
  };
}

const body = (value: unknown) => Buffer.from(JSON.stringify(value));

it('a CloudEvent is stored as the same event of usage, in one pass or with extensions, alone or in a list', () => {
  fc.assert(
    fc.property(
      fc.array(sent, { minLength: 1, maxLength: 4 }),
      fc.constantFrom('source-and-id', 'id'),
      (events, identity) => {
        const reader = readers[identity];
        const expected = stored(
          usage.read(body(events.map((event) => usageEvent(event, identity))), CONTEXT),
        );
        const list = events.map((event) => cloudEvent(event));
        expect(stored(reader.read(body(list), CONTEXT))).toEqual(expected);
        const extended = events.map((event) =>
          cloudEvent(event, { traceparent: '00-x', datacontenttype: null }),
        );
        expect(stored(reader.read(body(extended), CONTEXT))).toEqual(expected);
        if (list.length === 1) expect(stored(reader.read(body(list[0]), CONTEXT))).toEqual(expected);
      },
    ),
    { numRuns: runs(3_000) },
  );
});

/** Few parts, so that joined ones are equal by chance. */
const joined = fc
  .array(fc.constantFrom('a', 'x', '/', '//', '%', '%2F', '%25', '1'), { minLength: 1, maxLength: 5 })
  .chain((parts) => fc.constantFrom(1, 60).map((times) => parts.join('').repeat(times)));

it('a CloudEvent never has the identity of one with another source or id, in one pass, extended or hashed', () => {
  const transactionId = (source: string, id: string, extra: object = {}) => {
    const event = { id, source, subject: 'c', type: 't', time: undefined, data: undefined };
    const read = readers['source-and-id'].read(body(cloudEvent(event, extra)), CONTEXT);
    if (!('rows' in read)) throw new Error(read.message);
    return read.rows.read(0).transactionId;
  };
  fc.assert(
    fc.property(joined, fc.nat(), fc.nat(), (text, first, second) => {
      // The same text, cut into a source and an id at two places, with the slash between them and without.
      const cuts = [first, second].map((at) => 1 + (at % Math.max(1, text.length - 1)));
      const pairs = cuts.flatMap((at) => [
        [text.slice(0, at), text.slice(at) || '/'] as const,
        [text.slice(0, at), text.slice(at + 1) || '/'] as const,
      ]);
      for (const [source, id] of pairs) {
        expect(transactionId(source, id)).toBe(transactionId(source, id, { extension: 1 }));
        for (const [otherSource, otherId] of pairs) {
          const isSame = source === otherSource && id === otherId;
          expect(transactionId(source, id) === transactionId(otherSource, otherId)).toBe(isSame);
        }
      }
    }),
    { numRuns: runs(1_000) },
  );
});

it('a CloudEvent keeps the id under which an earlier version stored it, and only that one', () => {
  const event = { source: 'x', subject: 'c', type: 't', time: undefined, data: undefined };
  const events = body(['a/1', 'a/2'].map((id) => cloudEvent({ ...event, id })));
  const read = createCloudEventReader('source-and-id', new Set(['x/a/1'])).read(events, CONTEXT);
  if (!('rows' in read)) throw new Error(read.message);
  expect([0, 1].map((row) => read.rows.read(row).transactionId)).toEqual(['x/a/1', 'x/a%2F2/']);
});

it('a CloudEvent of a body that is damaged is read or refused', () => {
  fc.assert(
    fc.property(fc.array(sent, { maxLength: 3 }), fc.nat(), fc.nat(255), (events, at, byte) => {
      const damaged = body(events.map((event) => cloudEvent(event)));
      damaged[at % damaged.length] = byte;
      expect(() => readers['source-and-id'].read(damaged, CONTEXT)).not.toThrow();
    }),
    { numRuns: runs(2_000) },
  );
});

it.each<[string, unknown, string]>([
  ['no object', 5, 'the body must be a CloudEvent or a JSON array of them'],
  ['another version', [{ specversion: '0.3' }], 'specversion: must be "1.0"'],
  ['no id', [{ specversion: '1.0', source: 's' }], 'id: is required'],
  [
    'an empty source',
    [{ specversion: '1.0', id: 'i', source: '' }],
    'source: must be a string of at least one character',
  ],
  ['no subject', [{ specversion: '1.0', id: 'i', source: 's', type: 't' }], 'subject: is required'],
  ['no type', [{ specversion: '1.0', id: 'i', source: 's', subject: 'c' }], 'type: is required'],
  [
    'a time without an offset',
    [{ specversion: '1.0', id: 'i', source: 's', subject: 'c', type: 't', time: '2026-11-20T10:00:00' }],
    'time: must be an RFC 3339 timestamp',
  ],
  [
    'data that is a text',
    [{ specversion: '1.0', id: 'i', source: 's', data: 'x' }],
    'data: must be a JSON object',
  ],
  [
    'data in base64',
    [{ specversion: '1.0', id: 'i', source: 's', data_base64: 'eA==' }],
    'data_base64: send data',
  ],
  [
    'data of another type',
    [{ specversion: '1.0', id: 'i', source: 's', datacontenttype: 'text/xml', data: {} }],
    'datacontenttype: must be application/json',
  ],
  [
    'a property with too many digits',
    [{ specversion: '1.0', id: 'i', source: 's', subject: 'c', type: 't', data: { n: 'N' } }],
    'data.n: the number has too many digits',
  ],
])('a CloudEvent with %s is refused in its own words', (_what, content, message) => {
  const refused = readers['source-and-id'].read(
    Buffer.from(JSON.stringify(content).replace('"N"', '1e400')),
    CONTEXT,
  );
  if ('rows' in refused) throw new Error('it was not refused');
  expect(refused.message).toContain(message);
});

it('a CloudEvent of a list beyond 1,000 is refused, and of an empty one stores nothing', () => {
  const one = cloudEvent({ id: 'i', source: 's', subject: 'c', type: 't', time: undefined, data: undefined });
  const many = Array.from({ length: 1_001 }, (_, n) => ({ ...one, id: `i${n}` }));
  const reader = readers['source-and-id'];
  expect(reader.read(body(many), CONTEXT)).toMatchObject({
    message: 'the body must hold 0 to 1000 events, not 1001',
  });
  for (const [events, count] of [
    [many.slice(1), 1_000],
    [[], 0],
  ] as const) {
    expect(reader.read(body(events), CONTEXT)).toMatchObject({ rows: { count } });
  }
});
