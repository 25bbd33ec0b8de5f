import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatInstant, parseRfc3339 } from '../../src/core/time.ts';
import { createTimestampParser } from '../../src/metering/ingest/event-timestamp.ts';
import {
  extractNumbers,
  mayLoseDigits,
  numberText,
  plainDecimal,
} from '../../src/metering/ingest/number-text.ts';
import { validateEvents } from '../../src/metering/ingest/validate-events.ts';
import { runs } from '../support/shares-of-tests.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const CONTEXT = { now: NOW, windowDays: 34 };

/** Numbers as JSON allows them, with up to `digits` digits on each side. */
function numberToken(digits: number): fc.Arbitrary<string> {
  const tail = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: digits }).map((list) => list.join(''));
  const integer = fc.oneof(
    fc.constant('0'),
    fc.tuple(fc.integer({ min: 1, max: 9 }), tail).map((parts) => parts.join('')),
  );
  return fc
    .tuple(
      fc.constantFrom('', '-'),
      integer,
      fc.oneof(
        fc.constant(''),
        tail.filter((text) => text !== '').map((text) => `.${text}`),
      ),
    )
    .map((parts) => parts.join(''));
}

/** The value of a number token as an exact fraction: numerator over a power of ten. */
function exact(token: string): { numerator: bigint; scale: number } {
  const [mantissa = '', exponent = '0'] = token.toLowerCase().split('e');
  const [integer = '', fraction = ''] = mantissa.split('.');
  const scale = fraction.length - Number(exponent);
  const numerator = BigInt(integer + fraction);
  return scale >= 0 ? { numerator, scale } : { numerator: numerator * 10n ** BigInt(-scale), scale: 0 };
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [exact(a), exact(b)];
  return left.numerator * 10n ** BigInt(right.scale) === right.numerator * 10n ** BigInt(left.scale);
}

const exponent = fc.oneof(
  fc.constant(''),
  fc
    .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 60 }))
    .map((parts) => parts.join('')),
);

describe('the text of a number', () => {
  it('the text of a number is the same on the fast and the slow way wherever the fast way is taken', () => {
    fc.assert(
      fc.property(numberToken(14), (token) => {
        fc.pre(!mayLoseDigits(`[${token}]`));
        expect(numberText(JSON.parse(token), null)).toBe(plainDecimal(token));
      }),
      { numRuns: runs(5_000) },
    );
  });

  it('the text of a number has exactly the value that was sent, without exponent or needless zeros', () => {
    fc.assert(
      fc.property(numberToken(40), exponent, (mantissa, power) => {
        const token = mantissa + power;
        const text = plainDecimal(token) ?? '';
        expect(text).toMatch(/^(0|-?(0\.\d*[1-9]|[1-9]\d*(\.\d*[1-9])?))$/);
        expect(isEqual(text, token)).toBe(true);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('the text of a number is never taken from a double that lost a digit', () => {
    fc.assert(
      fc.property(numberToken(20), exponent, (mantissa, power) => {
        const token = mantissa + power;
        const isExact = isEqual(numberText(JSON.parse(token), null) ?? '0', token);
        expect(isExact || mayLoseDigits(`{"a": ${token}}`)).toBe(true);
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('the text of a number is found for every number of a JSON document and for nothing else', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const { json: replaced, numbers } = extractNumbers(json);
        const restore = (value: unknown): unknown => {
          if (typeof value === 'number') return Number(numbers[value]);
          if (Array.isArray(value)) return value.map(restore);
          if (typeof value !== 'object' || value === null) return value;
          return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, restore(member)]));
        };
        const parsed: unknown = JSON.parse(json);
        const plain = (value: unknown) => JSON.stringify(value);
        fc.pre(!json.includes('__proto__'));
        expect(plain(restore(JSON.parse(replaced)))).toBe(plain(parsed));
      }),
    );
  });
});

describe('timestamps', () => {
  it('timestamps are read like the core reads them, whatever their form', () => {
    const parse = createTimestampParser();
    const wellFormed = fc
      .tuple(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        fc.constantFrom('Z', '+05:30', 'z'),
      )
      .map(([date, offset]) => formatInstant(date.getTime()).replace('Z', offset));
    const withoutFraction = wellFormed.map((text) => text.replace(/\.\d+/, ''));
    const mangled = fc
      .tuple(
        fc.oneof(wellFormed, withoutFraction),
        fc.nat({ max: 23 }),
        fc.constantFrom('0', '9', '3', 'T', ':', '-', 'x', '.', '₅'),
      )
      .map(([text, at, character]) => text.slice(0, at) + character + text.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(wellFormed, withoutFraction, mangled, fc.string()), (text) => {
        expect(parse(text)).toBe(parseRfc3339(text));
      }),
      { numRuns: runs(5_000) },
    );
  });
});

describe('the validator', () => {
  it('the validator never throws, whatever the bytes are', () => {
    const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
    const json = fc.json().map((text) => Buffer.from(text));
    const events = fc
      .array(
        fc.dictionary(
          fc.constantFrom('transaction_id', 'customer_id', 'event_type', 'timestamp', 'properties'),
          fc.jsonValue(),
        ),
        { maxLength: 4 },
      )
      .map((list) => Buffer.from(JSON.stringify(list)));
    fc.assert(
      fc.property(fc.oneof(bytes, json, events), (body) => {
        const validation = validateEvents(body, CONTEXT);
        expect('rows' in validation || validation.message.length > 0).toBe(true);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('produces the same text whether one number of the body forces the slow way or not', () => {
    const properties = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,5}$/),
      fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.boolean(),
        fc.constant(null),
        fc.array(fc.oneof(numberToken(6), fc.constant('"1e5"')).map((token) => JSON.parse(token))),
        numberToken(6).map(Number),
      ),
      { maxKeys: 6 },
    );
    fc.assert(
      fc.property(properties, (sent) => {
        const event = {
          transaction_id: 'tx',
          customer_id: 'acme',
          event_type: 'tokens',
          timestamp: formatInstant(NOW),
          properties: sent,
        };
        fc.pre(!/\d[eE]/.test(JSON.stringify(sent).replaceAll('"1e5"', '')));
        const fast = JSON.stringify([event]);
        const slow = `${fast.slice(0, -2)},"forces_the_slow_way":[1e0]}]`;
        // A number at all is what makes the validator look for long ones.
        const withNumber = (json: string) =>
          json.replace('"properties":{', '"properties":{"n":1,').replace(',}', '}');
        const [left, right] = [fast, slow].map((json) => {
          const validation = validateEvents(Buffer.from(withNumber(json)), CONTEXT);
          return 'rows' in validation ? validation.rows.read(0) : validation;
        });
        expect(left).toEqual(right);
        expect(left).toHaveProperty('transactionId');
      }),
    );
  });
});
