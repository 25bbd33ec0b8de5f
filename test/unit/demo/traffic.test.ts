import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/core/time.ts';
import { activity, traffic } from '../../../src/demo/traffic.ts';

const start = Date.UTC(2026, 9, 21);
const end = Date.UTC(2026, 10, 20, 12, 34, 56);
const plan = { seed: 7, events: 20_000, customers: 20, start, end };

describe('simulated traffic', () => {
  const events = [...traffic(plan)];

  it('simulated traffic has exactly the number of events asked for, all inside the window', () => {
    expect(events).toHaveLength(20_000);
    expect(events.every(({ timestamp }) => timestamp >= start && timestamp < end)).toBe(true);
    expect(events.every(({ customer }) => customer >= 0 && customer < 20)).toBe(true);
  });

  it('simulated traffic is the same for the same seed and another for another', () => {
    expect([...traffic(plan)]).toEqual(events);
    expect([...traffic({ ...plan, seed: 8 })]).not.toEqual(events);
  });

  it('simulated traffic carries what the three metrics measure, as text', () => {
    for (const { properties } of events) {
      expect(Object.keys(properties)).toEqual(['model', 'region', 'tokens', 'user_id']);
      expect(properties.tokens).toMatch(/^[1-9]\d*$/);
    }
  });

  it('simulated traffic is heavy at the head: the largest customer sends more than the ten smallest together', () => {
    const counts = Array.from({ length: 20 }, () => 0);
    for (const { customer } of events) counts[customer] = (counts[customer] ?? 0) + 1;
    counts.sort((a, b) => b - a);
    const smallest = counts.slice(10).reduce((sum, count) => sum + count, 0);
    expect(counts[0]).toBeGreaterThan(smallest);
  });

  it('simulated traffic is busier by day than by night, and on weekdays than at weekends', () => {
    const monday = Date.UTC(2026, 9, 26);
    expect(activity(monday + 14 * HOUR_MS)).toBeGreaterThan(5 * activity(monday + 2 * HOUR_MS));
    expect(activity(monday - DAY_MS + 14 * HOUR_MS)).toBeLessThan(activity(monday + 14 * HOUR_MS));
  });

  it('simulated traffic gives its events even to a window of minutes', () => {
    const short = [...traffic({ ...plan, events: 10, customers: 1, start, end: start + 60_000 })];
    expect(short).toHaveLength(10);
    expect(short.every(({ timestamp }) => timestamp >= start && timestamp < start + 60_000)).toBe(true);
  });
});
