/** A few events for which the results of SQL metrics can be computed by hand. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import type { NaiveEvent } from './naive/usage.ts';

export const MONTH = { start: Date.UTC(2026, 10, 1), end: Date.UTC(2026, 11, 1) };
/** The customer's names: its events come under both. */
export const ACME = ['acme', 'acme-alias'];

let ingested = 0;

function event(
  transactionId: string,
  offset: number,
  eventType: string,
  properties: Readonly<Record<string, string>>,
  customerRef = 'acme',
): NaiveEvent {
  ingested += 1;
  const timestamp = MONTH.start + offset;
  return {
    transactionId,
    customerRef,
    eventType,
    timestamp,
    properties,
    ingestedAt: MONTH.end * 1000 + ingested,
  };
}

const gpt = { model: 'gpt', tokens: '100', price: '0.5', region: 'eu', user: 'u1' };

export const EVENTS: readonly NaiveEvent[] = [
  event('e1', 10 * MINUTE_MS, 'call', gpt),
  event(
    'e2',
    20 * MINUTE_MS,
    'call',
    { ...gpt, tokens: '50', price: '0.25', region: 'us', user: 'u2' },
    'acme-alias',
  ),
  event('e3', 5 * HOUR_MS, 'call', { ...gpt, model: 'mini', tokens: '7', price: '0.1' }),
  event('e4', 5 * HOUR_MS + 30 * MINUTE_MS, 'store', {
    size: '12.5',
    tokens: 'many',
    region: 'eu',
    user: 'u3',
  }),
  event('e5', DAY_MS, 'call', { model: 'mini', tokens: '0.003', region: 'us', user: 'u2' }),
  event('e6', DAY_MS + 13 * HOUR_MS, 'refund', {
    ...{
      model: 'gpt',
      tokens: '-20',
      price: '1',
      region: 'eu',
      free: 'true',
      'a.b': 'dotted',
      Model: 'CASE',
    },
    ...{ meta: '{"tier":"gold","weight":2.50}', 'odd name; -- "x"': "it's" },
  }),
  event('e7', 2 * DAY_MS, 'gauge', { level: '1' }),
  event('e8', 2 * DAY_MS, 'gauge', { level: '2' }),
  // A copy with other content that came later does not count, nor does another customer or month.
  event('e1', 10 * MINUTE_MS, 'call', { ...gpt, tokens: '999', secret: 'copy' }),
  event(
    'f1',
    HOUR_MS,
    'call',
    { ...gpt, tokens: '1000000', model: 'secret-model', secret: 'other customer' },
    'other',
  ),
  event('e9', -1, 'call', { ...gpt, tokens: '5000' }),
  event('e10', MONTH.end - MONTH.start, 'call', { ...gpt, tokens: '7000' }),
];
