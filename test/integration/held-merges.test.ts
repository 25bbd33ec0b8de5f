/**
 * Merges that a start holds back: nothing that waits for one hangs, and they continue whatever the outcome of the
 * start. In a separate process, because they are held back for the whole engine.
 */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { migrateStores } from '../../src/app/stores/migrate-stores.ts';
import { createEmbeddedClickHouse } from '../../src/app/stores/stores.ts';
import { formatInstant } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { withHeldMerges } from '../../src/metering/client/held-merges.ts';
import { createIngest } from '../../src/metering/ingest/ingest.ts';
import type { Ingest } from '../../src/metering/ingest/ingest-operations.ts';
import { applySchema } from '../../src/metering/schema/schema.ts';
import { runProgram } from '../support/child-process.ts';
import { createEmptyDatabase, createTestDirectory } from '../support/stores.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

let directory = '';
let clickhouse: ClickHouse;

beforeEach(async () => {
  directory = join(await createTestDirectory(), 'engine');
  clickhouse = await createEmbeddedClickHouse({ directory });
  await applySchema(clickhouse, undefined);
});

afterEach(() => clickhouse.close());

/** The engine of another process on the same data, started again. */
async function startedAgain(): Promise<ClickHouse> {
  await clickhouse.close();
  clickhouse = await createEmbeddedClickHouse({ directory });
  return clickhouse;
}

function ingestOn(store: ClickHouse, now = NOW): Ingest {
  return createIngest({ clickhouse: store, clock: { now: () => now }, windowDays: 34, log: { error() {} } });
}

/** One event each of processes that do not know of each other. */
async function store(...events: readonly (readonly [id: string, customer: string])[]): Promise<void> {
  const processes = events.map((_, index) => ingestOn(clickhouse, NOW + index));
  for (const each of processes) await each.rebuild();
  for (const [index, [id, customer]] of events.entries()) {
    const timestamp = formatInstant(NOW);
    const event = { transaction_id: id, customer_id: customer, event_type: 'use', timestamp };
    await processes[index]?.ingest(Buffer.from(JSON.stringify([event])));
  }
  for (const each of processes) await each.close();
}

const parts = () => count("system.parts WHERE active AND table = 'usage_events'");

async function count(rows: string): Promise<number> {
  const sql = `SELECT count() AS found FROM ${rows}`;
  const [row] = await clickhouse.query({ sql, schema: z.object({ found: z.coerce.number() }) });
  return row?.found ?? 0;
}

/** Fails while merges are held back. */
const merge = () => clickhouse.command('OPTIMIZE TABLE usage_events FINAL');

describe('merges that are held back', () => {
  it('wait, with mutations, until they are started', async () => {
    await store(['a', 'acme'], ['b', 'acme']);
    const held = await withHeldMerges(await startedAgain());
    await expect(merge()).rejects.toMatchObject({ type: 'ABORTED' });
    await held.command(
      "ALTER TABLE usage_events UPDATE properties = map('n', '1') WHERE true SETTINGS mutations_sync = 0",
    );
    const changed = () => count("usage_events WHERE properties['n'] = '1'");
    expect(await changed()).toBe(0);
    await held.startMerges?.();
    await expect.poll(changed).toBe(2);
    await merge();
    expect(await parts()).toBe(1);
  });

  it('merges that are held back continue when the index of known events is built', async () => {
    await store(['a', 'acme'], ['b', 'acme']);
    const ingest = ingestOn(await withHeldMerges(await startedAgain()));
    expect(await ingest.rebuild()).toEqual({ ids: 2 });
    await merge();
    expect(await parts()).toBe(1);
    await ingest.close();
  });

  it('merges that are held back continue before conflicting copies are removed, which waits for a mutation', async () => {
    await store(['a', 'acme'], ['a', 'globex']);
    const ingest = ingestOn(await withHeldMerges(await startedAgain()));
    expect(await ingest.rebuild()).toEqual({ ids: 1 });
    expect(ingest.stats().conflictsRemoved).toBe(1);
    expect(await count("usage_events FINAL WHERE customer_ref = 'acme'")).toBe(1);
    expect(await count('usage_events FINAL')).toBe(1);
    await ingest.close();
  });

  it('merges that are held back continue where the index cannot be built', async () => {
    await store(['a', 'acme'], ['b', 'acme']);
    await clickhouse.command('RENAME TABLE usage_events TO hidden');
    const ingest = ingestOn(await withHeldMerges(await startedAgain()));
    await expect(ingest.rebuild()).rejects.toMatchObject({ type: 'UNKNOWN_TABLE' });
    await clickhouse.command('RENAME TABLE hidden TO usage_events');
    await merge();
    expect(await parts()).toBe(1);
    expect(await ingest.rebuild()).toEqual({ ids: 2 });
    await ingest.close();
  });

  it('merges that are held back continue at the next start when the process is killed meanwhile', async () => {
    await store(['a', 'acme'], ['b', 'acme']);
    await clickhouse.close();
    const program = runProgram('test/support/programs/hold-merges.ts', [directory]);
    await program.said('held');
    program.child.kill('SIGKILL');
    expect(await program.ended).toBe('SIGKILL');
    await startedAgain();
    await merge();
    expect(await parts()).toBe(1);
  });

  it('merges that are held back continue before migrations, which may wait for a mutation', async () => {
    await store(['a', 'acme'], ['b', 'acme']);
    await clickhouse.command('TRUNCATE TABLE schema_migrations');
    const held = await withHeldMerges(clickhouse);
    await migrateStores({ postgres: await createEmptyDatabase(), clickhouse: held, cluster: undefined });
    await merge();
    expect(await parts()).toBe(1);
  });
});
