import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfRemovable, keptFromBy } from '../../../../src/billing/retention/needed-events.ts';
import { DAY_MS, floorToMonth } from '../../../../src/core/time.ts';

const at = (text: string) => Date.parse(`${text}T00:00:00Z`);
const NOW = Date.parse('2026-11-20T13:00:00Z');

describe('the first month that is kept', () => {
  it('the first month that is kept is as many months before the present one as the operator wants', () => {
    expect(keptFromBy({ months: 12, windowDays: 34 }, NOW, null)).toBe(at('2025-11-01'));
  });

  it('the first month that is kept is the one into which events can still be sent, if that is earlier', () => {
    expect(keptFromBy({ months: 1, windowDays: 34 }, NOW, null)).toBe(at('2026-10-01'));
    expect(keptFromBy({ months: 1, windowDays: 60 }, NOW, null)).toBe(at('2026-09-01'));
  });

  it('the first month that is kept is never later than the month of what is needed, nor than any other bound', () => {
    const days = fc.integer({ min: 0, max: 4_000 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 400 }),
        days,
        (months, windowDays, ago) => {
          const need = { from: NOW - ago * DAY_MS, what: 'a period' };
          const first = keptFromBy({ months, windowDays }, NOW, need);
          expect(first).toBe(floorToMonth(first));
          expect(first).toBeLessThanOrEqual(need.from);
          expect(first).toBeLessThan(NOW - windowDays * DAY_MS);
          expect(first).toBe(Math.min(first, keptFromBy({ months, windowDays }, NOW, null)));
        },
      ),
    );
  });
});

describe('months', () => {
  const month = (start: string, lastAccepted: string) => ({
    start: at(start),
    rows: 1,
    lastAcceptedAt: at(lastAccepted),
  });

  it('months go up to the first one with events that were accepted within the window, by a backfill for example', () => {
    const old = month('2025-01-01', '2025-01-20');
    const filled = month('2025-02-01', '2026-11-01');
    const later = month('2025-03-01', '2025-03-20');
    expect(endOfRemovable([old, filled, later], 34, NOW)).toBe(at('2025-02-01'));
    expect(endOfRemovable([old, later], 34, NOW)).toBe(at('2025-04-01'));
    expect(endOfRemovable([filled], 34, NOW)).toBeNull();
    expect(endOfRemovable([], 34, NOW)).toBeNull();
  });
});
