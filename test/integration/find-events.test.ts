/** Finding events by id where merges and deletions have rewritten what was inserted. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { findAcceptedIds, findEvents } from '../../src/metering/events/find-events.ts';
import { createIngest } from '../../src/metering/ingest/ingest.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';

const NOW = Date.UTC(2026, 10, 20);

const clickhouse = await clickhouseForFile();

/** Two processes that do not know of each other's events, so that both accept the same id. */
async function ingestTwice(first: readonly string[], second: readonly string[]): Promise<void> {
  const ingests = [NOW, NOW + 1].map((now) =>
    createIngest({
      clickhouse,
      clock: { now: () => now },
      windowDays: 34,
      log: { error: () => {} },
    }),
  );
  await Promise.all(ingests.map((ingest) => ingest.rebuild()));
  for (const [index, ids] of [first, second].entries()) {
    const events = ids.map((id) => ({
      transaction_id: id,
      customer_id: `customer-${id.length}`,
      event_type: 'call',
      timestamp: '2026-11-19T00:00:00Z',
      properties: { process: index },
    }));
    const requests = Array.from({ length: Math.ceil(events.length / 100) }, (_, request) =>
      Buffer.from(JSON.stringify(events.slice(request * 100, request * 100 + 100))),
    );
    await Promise.all(requests.map((body) => ingests[index]?.ingest(body)));
  }
  await Promise.all(ingests.map((ingest) => ingest.close()));
}

async function found(ids: readonly string[]): Promise<string[]> {
  const { accepted } = await findEvents(clickhouse, ids, 0, 1);
  expect(await findAcceptedIds(clickhouse, ids, 0)).toEqual(
    new Set(accepted.map(({ transactionId }) => transactionId)),
  );
  return accepted
    .map(({ transactionId, properties }) => `${transactionId} ${properties.get('process')}`)
    .sort();
}

/** The plan of ClickHouse for a search by the hash of an id. */
async function planFor(id: string): Promise<string> {
  const rows = await clickhouse.query({
    sql: `SELECT explain FROM (
      EXPLAIN projections = 1
      SELECT properties FROM usage_events
      WHERE id_hash_a = (SELECT any(id_hash_a) FROM usage_events WHERE transaction_id = {id:String})
      SETTINGS min_table_rows_to_use_projection_index = 0)`,
    params: { id },
    schema: z.object({ explain: z.string() }),
  });
  return rows.map(({ explain }) => explain).join('\n');
}

/** More than ClickHouse reads at the least, so that there is something to search. */
const OLD = Array.from({ length: 20_000 }, (_, index) => `old-${index}`);
const NEW = Array.from({ length: 50 }, (_, index) => `new-${index}`);

describe('an event', () => {
  it('an event is found once, the first copy of it, before and after merges, beside parts that no merge has seen', async () => {
    await ingestTwice(OLD, OLD.slice(0, 10));
    const firstCopies = OLD.map((id) => `${id} 0`).sort();
    expect(await found(OLD)).toEqual(firstCopies);
    await clickhouse.command('OPTIMIZE TABLE usage_events FINAL');
    expect(await found(OLD)).toEqual(firstCopies);
    expect(await found(['old-7', 'old-19999'])).toEqual(['old-19999 0', 'old-7 0']);
    for (const id of ['old-7', 'old-19999', 'old-3']) expect(await found([id])).toEqual([`${id} 0`]);
    await ingestTwice(NEW, []);
    expect(await found([...OLD, ...NEW])).toEqual([...firstCopies, ...NEW.map((id) => `${id} 0`)].sort());
    expect(await found(['new-7'])).toEqual(['new-7 0']);
    expect(await found(['old-20000', 'OLD-1', ''])).toEqual([]);
    expect(await found(['old-20000'])).toEqual([]);
  });

  it('an event is searched for in the projection that merges build', async () => {
    expect(await planFor('old-7')).toMatch(/Name: by_id\s/);
  });

  it('an event is not found any more once it was deleted', async () => {
    await clickhouse.command("DELETE FROM usage_events WHERE transaction_id = 'old-1'");
    expect(await found(['old-1', 'old-2', 'new-1'])).toEqual(['new-1 0', 'old-2 0']);
    await clickhouse.command('OPTIMIZE TABLE usage_events FINAL');
    expect(await found(['old-1', 'old-2', 'new-1'])).toEqual(['new-1 0', 'old-2 0']);
  });
});
