/** A month of a small customer, for queries of analysts: few events, whose results can be computed by hand. */

import type { NaiveEvent } from './naive/usage.ts';
import { MONTH } from './sql-metric-events.ts';

let ingested = 0;

function event(
  transactionId: string,
  at: string,
  eventType: string,
  properties: Readonly<Record<string, string>>,
  customerRef = 'studio',
): NaiveEvent {
  ingested += 1;
  return {
    ...{ transactionId, customerRef, eventType, properties },
    timestamp: Date.parse(at),
    ingestedAt: MONTH.end * 1000 + ingested,
  };
}

/** November 1 is a Sunday. */
export const STUDIO_EVENTS: readonly NaiveEvent[] = [
  event('a1', '2026-11-01T00:10:00Z', 'call', {
    ...{ user: 'u1', model: 'gpt-4o', latency: '120', tokens: '100', flags: '1', project: 'p1' },
    ...{ tags: '["beta","eu"]', usage: '{"in":10,"out":5.50,"by":{"cache":2}}', path: '/v1/chat/p1' },
  }),
  event('a2', '2026-11-01T09:30:00Z', 'call', {
    ...{ user: 'u2', model: 'gpt-4o-mini', latency: '80', tokens: '50', flags: '2', project: 'p2' },
    ...{ tags: '["beta"]', usage: '{"in":20}', path: '/v2/chat/p2' },
  }),
  event('a3', '2026-11-02T22:15:00Z', 'call', {
    ...{ user: 'u1', model: 'claude', latency: '200', tokens: '30', flags: '5', project: 'p1' },
    ...{ tags: '[]', usage: 'none', path: '/v1/embed/p1' },
  }),
  event('a4', '2026-11-02T23:45:00Z', 'call', {
    ...{ user: 'u3', model: 'GPT-4o', latency: '400', tokens: '7.5', project: 'p3' },
    started: '2026-11-02T23:40:00Z',
  }),
  event('a5', '2026-11-09T08:00:00Z', 'session.start', { user: 'u1', seats: '[3,1.50,"x",null]' }),
  event('a6', '2026-11-09T09:00:00Z', 'session.start', { user: 'u2' }),
  event('a7', '2026-11-09T10:00:00Z', 'session.end', { user: 'u1' }),
  event('a8', '2026-11-09T10:00:00Z', 'session.start', { user: 'u3' }),
  event('a9', '2026-11-30T23:59:00Z', 'call', {
    ...{ user: 'u2', model: 'claude', latency: '100', tokens: '12', project: 'p4', path: '/v1/chat/p4' },
  }),
  // A copy that came later does not count, nor does another customer.
  event('a9', '2026-11-30T23:59:00Z', 'call', { user: 'u9', latency: '9999', tokens: '9999', flags: '64' }),
  event('b1', '2026-11-05T12:00:00Z', 'call', { user: 'u8', latency: '7777', tokens: '7777' }, 'rival'),
];
