/** Values that a backfill takes as texts, and says at its end that no metric reads them as numbers. */
import { expect, it } from 'vitest';
import { findUnreadNumbers } from '../../../../../src/app/commands/backfill/findings.ts';
import { EventRows } from '../../../../../src/metering/ingest/event-rows.ts';

function rowsOf(values: readonly string[]): EventRows {
  const rows = new EventRows(values.length);
  for (const value of values) rows.add(0, ['e', 'acme', 'call'], ['text', 'a, b', 'amount', value]);
  return rows;
}

it.each([
  ...['1.234,5', '0,25', '-12,50', '+1.234.567,89', '1 234,5', '1\u202f234,50', "1'234,5"],
  ...['1,234.5', '1,234', "1'234", '1\u2019234.50'],
])('%s is a number that no metric reads', (value) => {
  expect(findUnreadNumbers(rowsOf(['5', value, '7', value]))).toEqual({
    count: 2,
    example: `"${value}" of amount`,
  });
});

it.each([
  '1234.5',
  '1.234',
  '-7',
  '1e5',
  '1,2,3',
  '52.5,13.4',
  'a,1',
  '1,',
  ',5',
  '2026-01-01',
  '[1,2]',
  "it's",
  '',
])('%s is no number that was written for people', (value) => {
  expect(findUnreadNumbers(rowsOf([value, value]))).toEqual({ count: 0, example: null });
});
