/** A line is written with native JSON where that has the same digits as its decimals. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { doubleOf, stringifyJson } from '../../src/api/base/json.ts';
import { type LineItemWire, lineText } from '../../src/api/routes/invoices/line-output.ts';
import { type Decimal, decimal } from '../../src/core/decimal.ts';

/** Short and long ones, very small and very large ones, and 0. */
const amount: fc.Arbitrary<Decimal> = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.nat({ max: 30 }), fc.nat({ max: 18 }))
  .map(([isNegative, digits, scale, zeros]) => {
    const text = `${digits}${'0'.repeat(zeros)}`.padStart(scale + 1, '0');
    const point = text.length - scale;
    return decimal(`${isNegative ? '-' : ''}${text.slice(0, point)}.${text.slice(point)}0`);
  });
const short = fc.integer({ min: -1_000_000, max: 1_000_000 }).map((value) => decimal(String(value / 1_000)));
const anyAmount = fc.oneof(short, amount);

const line: fc.Arbitrary<LineItemWire> = fc
  .record({
    name: fc.string(),
    quantity: fc.option(anyAmount, { nil: undefined }),
    unit_price: fc.option(anyAmount, { nil: undefined }),
    total: anyAmount,
    values: fc.option(fc.dictionary(fc.string(), fc.string()), { nil: undefined }),
    tags: fc.array(fc.string()),
  })
  .map(({ name, quantity, unit_price, total, values, tags }) => ({
    id: '1f0b2a3c-0000-4000-8000-000000000001',
    name,
    type: 'usage',
    quantity,
    unit_price,
    total,
    credit_type: { id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2', name: 'USD (cents)' },
    sub_line_items: [],
    product_tags: tags,
    presentation_group_values: values,
    tier: undefined,
  }));

test('it is the text that is written of it otherwise, whatever its amounts and texts are', () => {
  fc.assert(
    fc.property(line, (one) => {
      expect(lineText(one)).toBe(stringifyJson(one));
    }),
    { numRuns: 1_000 },
  );
});

test('a double has all digits of its decimal, or there is none', () => {
  fc.assert(
    fc.property(anyAmount, (value) => {
      const double = doubleOf(value);
      if (double !== null) expect(JSON.stringify(double)).toBe(value.toString());
      else expect(JSON.stringify(Number(value.toString()))).not.toBe(value.toString());
    }),
    { numRuns: 1_000 },
  );
});

test.each(['0', '1', '-12.5', '0.000001', '999999999999999', '10050000'])('%s has one', (text) => {
  expect(doubleOf(decimal(text))).toBe(Number(text));
});

test.each(['0.0000001', '1000000000000000000000', '0.12345678901234567891', '9007199254740993'])(
  '%s has none',
  (text) => {
    expect(doubleOf(decimal(text))).toBeNull();
  },
);
