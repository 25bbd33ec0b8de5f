import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseJson } from '../../../../src/api/base/json.ts';
import { checkInput } from '../../../../src/api/http/problems.ts';
import {
  commaList,
  customFields,
  dayAlignedTimestamp,
  enumIn,
  exactNumber,
  hourAlignedTimestamp,
  limit,
  queryBoolean,
  timestamp,
  uuid,
  wholeNumber,
} from '../../../../src/api/wire/fields.ts';
import { type Decimal, USAGE_INTEGER_DIGITS_MAX } from '../../../../src/core/decimal.ts';
import { Refusal } from '../../../../src/core/errors.ts';

function problem(schema: z.ZodType, text: string, source: 'body' | 'query' | 'path' = 'body'): string {
  try {
    checkInput(schema, source, parseJson(text));
  } catch (error) {
    if (error instanceof Refusal) return `${error.kind} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

describe('a refusal', () => {
  const commits = z.object({
    commits: z.array(
      z.object({
        access_schedule: z.object({
          schedule_items: z.array(z.object({ ending_before: hourAlignedTimestamp })),
        }),
      }),
    ),
  });

  it('a refusal names the path of the field', () => {
    const good = '{"access_schedule":{"schedule_items":[]}}';
    const bad = '{"access_schedule":{"schedule_items":[{"ending_before":"2026-01-01T00:30:00Z"}]}}';
    expect(problem(commits, `{"commits":[${good},${good},${bad}]}`)).toBe(
      'invalid commits[2].access_schedule.schedule_items[0].ending_before: must be on a full hour in UTC',
    );
  });

  it.each([
    ['{}', 'invalid commits: is required'],
    ['{"commits":{}}', 'invalid commits: must be an array'],
    ['[]', 'invalid body: must be an object'],
    ['{"commits":[{"access_schedule":1}]}', 'invalid commits[0].access_schedule: must be an object'],
  ])('a refusal says what is missing or of the wrong kind in %s', (text, message) => {
    expect(problem(commits, text)).toBe(message);
  });

  it('a refusal lists at most five problems', () => {
    const schema = z.object(
      Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => [name, z.string()])),
    );
    expect(problem(schema, '{}')).toMatch(/^invalid a: is required; .*e: is required; and 2 more$/);
  });

  it('a refusal goes into the branch of a union that the client meant', () => {
    const schema = z.object({ u: z.union([z.string(), z.object({ q: z.object({ z: z.number() }) })]) });
    expect(problem(schema, '{"u":{"q":{"z":"x"}}}')).toBe('invalid u.q.z: must be a number');
    expect(problem(schema, '{"u":5}')).toBe('invalid u: must be a string, or must be an object');
  });

  it('a refusal answers a malformed id in a path with 404', () => {
    expect(problem(z.object({ customer_id: uuid }), '{"customer_id":"x"}', 'path')).toBe(
      'not_found customer x not found',
    );
  });

  it.each([
    [z.object({ a: z.string().min(1) }), '{"a":""}', 'a: must be at least 1 character long'],
    [z.object({ a: z.array(z.string()).max(2) }), '{"a":["","",""]}', 'a: must have at most 2 items'],
    [z.object({ a: z.literal('x') }), '{"a":"y"}', 'a: must be x'],
    [z.strictObject({ a: z.string() }), '{"a":"y","b":1}', 'b: is not a field of this operation'],
    [z.object({ a: z.string().max(1, 'is too much') }), '{"a":"xx"}', 'a: is too much'],
    [
      z.object({
        a: z.discriminatedUnion('t', [z.object({ t: z.literal('x') }), z.object({ t: z.literal('y') })]),
      }),
      '{"a":{"t":"z"}}',
      'a.t: must be one of x, y',
    ],
  ])('a refusal reads well (%#)', (schema, text, message) => {
    expect(problem(schema, text)).toBe(`invalid ${message}`);
  });
});

describe('uuid', () => {
  it('uuid is read in lower case', () => {
    expect(uuid.parse('D7ABD0CD-4AE9-4DB7-8676-E986A4EBD8DC')).toBe('d7abd0cd-4ae9-4db7-8676-e986a4ebd8dc');
  });
  it('uuid is refused in a body where malformed', () => {
    expect(problem(z.object({ id: uuid }), '{"id":"x"}')).toBe('invalid id: must be a UUID');
  });
});

describe('timestamps', () => {
  it('timestamps are read as instants, digits beyond the millisecond cut', () => {
    expect(timestamp.parse('2026-11-20T01:00:00.1239+01:00')).toBe(Date.UTC(2026, 10, 20, 0, 0, 0, 123));
  });
  it.each(['2026-11-20', '2026-02-30T00:00:00Z', '2026-11-20T00:00:00', 'soon', '1763596800'])(
    'timestamps are refused: %s',
    (text) => {
      expect(timestamp.safeParse(text).success).toBe(false);
    },
  );
  it('timestamps keep to the hour or the day where that is asked', () => {
    expect(hourAlignedTimestamp.safeParse('2026-11-20T05:00:00Z').success).toBe(true);
    expect(hourAlignedTimestamp.safeParse('2026-11-20T05:00:00.001Z').success).toBe(false);
    expect(dayAlignedTimestamp.safeParse('2026-11-20T00:00:00Z').success).toBe(true);
    expect(dayAlignedTimestamp.safeParse('2026-11-20T05:00:00Z').success).toBe(false);
  });
});

const TOO_LONG = `must have at most ${USAGE_INTEGER_DIGITS_MAX} digits before and 30 after the decimal point`;

describe('exactNumber', () => {
  const schema = z.object({ n: exactNumber({ min: '0' }) });
  it.each([
    ['0.1', '0.1'],
    ['9007199254740993', '9007199254740993'],
    ['0.123456789012345678901234567891', '0.123456789012345678901234567891'],
    ['1e3', '1000'],
    ['-0', '0'],
    ['1e-30', '0.000000000000000000000000000001'],
  ])('exactNumber reads %s exactly', (text, digits) => {
    const value: Decimal = schema.parse(parseJson(`{"n":${text}}`)).n;
    expect(value.toFixed()).toBe(digits);
  });
  it.each([
    ['"1"', 'must be a number'],
    ['null', 'must be a number'],
    ['true', 'must be a number'],
    ['-0.01', 'must be at least 0'],
    ['1e999999999', TOO_LONG],
    ['1e-999999999', TOO_LONG],
    ['1e-31', TOO_LONG],
    [`1e${USAGE_INTEGER_DIGITS_MAX}`, TOO_LONG],
  ])('exactNumber refuses %s', (text, message) => {
    expect(problem(schema, `{"n":${text}}`)).toBe(`invalid n: ${message}`);
  });
  it('exactNumber is required unless declared optional', () => {
    expect(problem(schema, '{}')).toBe('invalid n: is required');
  });
  it('exactNumber refuses NaN and Infinity, which only a program can pass', () => {
    expect(schema.safeParse({ n: Number.NaN }).success).toBe(false);
    expect(schema.safeParse({ n: Number.POSITIVE_INFINITY }).success).toBe(false);
  });
});

describe('wholeNumber', () => {
  const schema = z.object({ n: wholeNumber(0, 100) });
  it('wholeNumber accepts other spellings of a whole number', () => {
    expect(schema.parse(parseJson('{"n":1e2}'))).toEqual({ n: 100 });
  });
  it.each(['1.5', '101', '-1', '9007199254740993'])('wholeNumber refuses %s', (text) => {
    expect(problem(schema, `{"n":${text}}`)).toBe('invalid n: must be a whole number from 0 to 100');
  });
});

describe('enumIn', () => {
  const schema = z.object({ e: enumIn(['SUM', 'LATEST_VALUE']) });
  it.each(['LATEST_VALUE', 'latest_value', 'Latest_value'])('enumIn reads %s as UPPER case', (text) => {
    expect(schema.parse({ e: text })).toEqual({ e: 'LATEST_VALUE' });
  });
  it.each(['"average"', '"sUM"', '5'])('enumIn refuses %s with a list of what is allowed', (text) => {
    expect(problem(schema, `{"e":${text}}`)).toBe('invalid e: must be one of SUM, LATEST_VALUE');
  });
});

describe('query parameters', () => {
  const schema = z.object({
    limit: limit(1, 100, 10),
    ids: commaList(uuid).optional(),
    flag: queryBoolean.optional(),
    status: commaList(enumIn(['DRAFT', 'VOID'])).optional(),
  });
  it('query parameters have defaults', () => {
    expect(schema.parse({})).toEqual({ limit: 10 });
  });
  it('query parameters take lists comma-joined, repeated, or both', () => {
    expect(schema.parse({ status: ['draft,VOID', 'Draft'], flag: 'true', limit: '100' })).toEqual({
      limit: 100,
      flag: true,
      status: ['DRAFT', 'VOID', 'DRAFT'],
    });
  });
  it.each([
    ['{"limit":"0"}', 'limit: must be a whole number from 1 to 100'],
    ['{"limit":"101"}', 'limit: must be a whole number from 1 to 100'],
    ['{"limit":"1e1"}', 'limit: must be a whole number from 1 to 100'],
    ['{"limit":["1","2"]}', 'limit: must be given once'],
    ['{"flag":"yes"}', 'flag: must be true or false'],
    ['{"status":"draft,gone"}', 'status[1]: must be one of DRAFT, VOID'],
    ['{"ids":"x"}', 'ids[0]: must be a UUID'],
  ])('query parameters are refused: %s', (text, message) => {
    expect(problem(schema, text, 'query')).toBe(`invalid ${message}`);
  });
});

describe('customFields', () => {
  it('customFields are text to text, values of at most 200 characters', () => {
    const schema = z.object({ custom_fields: customFields });
    expect(schema.parse({ custom_fields: { a: 'b' } })).toEqual({ custom_fields: { a: 'b' } });
    expect(problem(schema, '{"custom_fields":{"a":1}}')).toBe('invalid custom_fields.a: must be a string');
    expect(problem(schema, `{"custom_fields":{"a":"${'x'.repeat(201)}"}}`)).toBe(
      'invalid custom_fields.a: must be at most 200 characters long',
    );
  });
  it('customFields cannot reach a prototype', () => {
    const parsed = customFields.parse(parseJson('{"__proto__":"x","a":"b"}'));
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  });
});
