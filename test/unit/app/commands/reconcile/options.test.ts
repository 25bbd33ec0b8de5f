import { describe, expect, it } from 'vitest';
import { parseOptions } from '../../../../../src/app/commands/reconcile/options.ts';
import { summary } from '../../../../../src/app/commands/reconcile/reconcile.ts';

const NOW = Date.UTC(2026, 0, 15, 12);

describe('the arguments of a reconciliation', () => {
  it('are all optional: the last month and this one, all customers, the service of the environment', () => {
    const range = { start: Date.UTC(2025, 11, 1), end: NOW };
    expect(parseOptions([], NOW)).toEqual({ range, customerId: null, url: null, token: null });
  });

  it('are a range of days or timestamps, a customer, and where to ask', () => {
    const args = ['--from', '2025-11-01', '--to', '2025-12-01T06:00:00Z', '--customer', 'id'];
    expect(parseOptions([...args, '--url', 'http://here', '--token', 'secret'], NOW)).toEqual({
      range: { start: Date.UTC(2025, 10, 1), end: Date.UTC(2025, 11, 1, 6) },
      customerId: 'id',
      url: 'http://here',
      token: 'secret',
    });
    expect(parseOptions(['-h'], NOW)).toBe('help');
  });

  it.each([
    [['--from', 'yesterday'], '--from must be a day such as 2026-11-01, or an RFC 3339 timestamp'],
    [['--to', '2026-02-30'], '--to must be a day'],
    [['--from', '2026-03-01'], 'has no time in it'],
    [['--all'], "Unknown option '--all'"],
  ])('%j are refused with the reason', (args, reason) => {
    expect(() => parseOptions(args, NOW)).toThrow(reason);
  });
});

const NONE = { customers: 0, invoices: 0, lines: 0, differences: 0, late: 0, unchecked: 0 };

it.each([
  [NONE, 'Reconciled 0 customers, 0 invoices, 0 lines: no differences.'],
  [
    { customers: 1, invoices: 1, lines: 1234, differences: 1, late: 1, unchecked: 1 },
    'Reconciled 1 customer, 1 invoice, 1,234 lines: 1 difference; 1 entry of late usage; 1 invoice not checked against events.',
  ],
])('the summary is one line', (counts, text) => {
  expect(summary(counts)).toBe(text);
});
