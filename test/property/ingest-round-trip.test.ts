import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant } from '../../src/core/time.ts';
import { createIngest } from '../../src/metering/ingest/ingest.ts';
import { runs } from '../support/shares-of-tests.ts';
import { type IngestStore, openIngestStore } from './ingest-store.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

/** Any text that can be stored: every character but U+0000, surrogates only in pairs. */
function text(constraints: { minLength?: number; maxLength: number }): fc.Arbitrary<string> {
  const unit = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom(
      '"',
      '\\',
      '/',
      '\n',
      '\r',
      '\t',
      '\b',
      '\u0001',
      '\u001f',
      '\u007f',
      '\u2028',
      '\ufeff',
      '\uffff',
      "'",
      '{',
      ']',
      ',',
    ),
  );
  return fc
    .array(
      unit.filter(
        (character) => !character.includes('\0') && Buffer.from(character).toString() === character,
      ),
      constraints,
    )
    .map((units) => units.join(''));
}

const event = fc.record({
  transaction_id: text({ minLength: 1, maxLength: 30 }).filter((id) => id.length <= 128),
  customer_id: text({ minLength: 1, maxLength: 20 }),
  event_type: text({ minLength: 1, maxLength: 10 }),
  at: fc.integer({ min: NOW - 34 * 86_400_000, max: NOW + 86_400_000 }),
  properties: fc.dictionary(text({ maxLength: 12 }), text({ maxLength: 20 }), { maxKeys: 8 }),
});

describe('a stored event', () => {
  let store: IngestStore;
  beforeAll(async () => {
    store = await openIngestStore();
  });
  afterAll(async () => {
    await store.close();
  });

  it('a stored event is read from ClickHouse with every character and millisecond as it was sent', async () => {
    const events = fc.uniqueArray(event, { selector: (e) => e.transaction_id, minLength: 1, maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(events, fc.boolean(), async (sent, isEscaped) => {
        await store.clear();
        const ingest = createIngest({
          clickhouse: store.clickhouse,
          clock: { now: () => NOW },
          windowDays: 34,
          log: { error() {} },
        });
        await ingest.rebuild();
        const json = JSON.stringify(
          sent.map(({ at, ...rest }) => ({ ...rest, timestamp: formatInstant(at) })),
        );
        const body = isEscaped ? json.replace(/[^\x20-\x7e]/g, escapeUnit) : json;
        expect(await ingest.ingest(Buffer.from(body))).toEqual({ accepted: sent.length, duplicates: 0 });
        const stored = (await store.events()).map((row) => ({
          transaction_id: row.transaction_id,
          customer_id: row.customer_ref,
          event_type: row.event_type,
          at: row.timestamp_ms,
          properties: row.properties,
        }));
        expect(stored).toEqual(sent);
        await ingest.close();
      }),
      { numRuns: runs(40) },
    );
  });
});

/** The same character as a JSON escape of its code unit. */
function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
