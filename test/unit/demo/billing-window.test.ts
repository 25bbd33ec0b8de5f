import { describe, expect, it } from 'vitest';
import { addMonths, DAY_MS, floorToDay, HOUR_MS, MINUTE_MS } from '../../../src/core/time.ts';
import { billingWindow } from '../../../src/demo/billing-window.ts';

describe('the billing period of the demo', () => {
  it('the billing period of the demo covers the present, starts at most 31 days ago and is one calendar month, on every day of four years', () => {
    for (let day = Date.UTC(2024, 0, 1); day < Date.UTC(2028, 0, 1); day += DAY_MS) {
      for (const now of [day, day + 13 * HOUR_MS + MINUTE_MS, day + DAY_MS - 1]) {
        const { start, end } = billingWindow(now);
        expect(start).toBe(floorToDay(start));
        expect(end).toBe(addMonths(start, 1));
        expect(start).toBeLessThanOrEqual(now);
        expect(end).toBeGreaterThan(now);
        expect(floorToDay(now) - start).toBeLessThanOrEqual(31 * DAY_MS);
        expect(floorToDay(now) - start).toBeGreaterThanOrEqual(26 * DAY_MS);
      }
    }
  });
});
