/**
 * Files of known ids, whatever becomes of them: an id that was accepted is never taken as new, and one that was not is
 * never taken for known.
 */
import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { knownIdMeasures } from '../../src/api/http/service-measures.ts';
import { createBatchStore } from '../../src/app/commands/backfill/store-batch.ts';
import { DAY_MS, HOUR_MS, type Instant, parseRfc3339, SECOND_MS } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { EventRows } from '../../src/metering/ingest/event-rows.ts';
import { NO_RECORD, recordedUpTo } from '../../src/metering/ingest/known-ids/run-record.ts';
import { validateEvents } from '../../src/metering/ingest/validate-events.ts';
import { fill, idsFrom, type KnownIdsStore, openKnownIdsStore } from '../support/known-ids-store.ts';

const MADE = 'a file of known ids is built';
const UNUSABLE = 'a file of known ids cannot be used and is built again';

let store: KnownIdsStore;
beforeEach(async () => {
  store = await openKnownIdsStore();
});
afterEach(() => store.close());

/** Each of them in a separate request, so that no answer depends on another id. */
async function expectKnown(ids: readonly string[], by = store): Promise<void> {
  const answers = await Promise.all(ids.map((id) => by.sendAt(id, by.clock.at - HOUR_MS)));
  expect(answers).toEqual(ids.map(() => ({ accepted: 0, duplicates: 1 })));
}

async function expectNew(ids: readonly string[]): Promise<void> {
  for (const id of ids) expect(await store.send(id)).toEqual({ accepted: 1, duplicates: 0 });
}

async function copies(): Promise<{ rows: number; ids: number }> {
  const [row] = await store.clickhouse.query({
    sql: 'SELECT count() AS rows, uniqExact(transaction_id) AS ids FROM usage_events',
    schema: z.object({ rows: z.coerce.number(), ids: z.coerce.number() }),
  });
  return row ?? { rows: 0, ids: 0 };
}

/** The same ClickHouse, but statements over events fail. */
function withoutReads(clickhouse: ClickHouse): ClickHouse {
  const refuse = async () => {
    throw new Error('ClickHouse does not answer');
  };
  return { ...clickhouse, query: refuse, queryBytes: refuse };
}

describe('the files of known ids', () => {
  it('the files of known ids hold what memory does not, and answer for it', async () => {
    const ids = await fill(store);
    const { recent, filtered, runs } = store.ingest().stats().knownIds;
    expect(recent.ids).toBeLessThanOrEqual(5);
    expect(recent.ids + filtered.ids).toBe(ids.length);
    expect(runs).toBeGreaterThan(1);
    expect(runs).toBeLessThan(10);
    expect(await store.files()).toHaveLength(runs);
    await expectKnown(ids);
    await expectNew(idsFrom(1_000, 20));
    expect(store.ingest().stats().knownIds.lookups.known).toBeGreaterThan(50);
    expect(await copies()).toEqual({ rows: 80, ids: 80 });
  });

  it('the files of known ids are read back at the next start, which reads from ClickHouse only what is newer', async () => {
    const ids = await fill(store);
    const files = await store.files();
    await store.stop();
    await store.start();
    expect(store.logged).toEqual([]);
    expect(await store.files()).toEqual(files);
    expect(store.ingest().stats().knownIds.recent.ids).toBeLessThanOrEqual(5);
    await expectKnown(ids);
    expect(store.logged).toEqual([]);
  });

  it('the files of known ids are counted in the figures of the service, with the lookups that they cost', async () => {
    const ids = await fill(store);
    const registry = new Registry();
    knownIdMeasures(registry, store.ingest());
    await expectKnown(ids);
    const { recent, filtered, lookups } = store.ingest().stats().knownIds;
    const lines = (await registry.metrics()).split('\n');
    for (const [line, value] of [
      ['tallyhouse_known_transaction_ids{tier="recent"}', recent.ids],
      ['tallyhouse_known_transaction_ids{tier="filtered"}', filtered.ids],
      ['tallyhouse_known_transaction_ids_bytes{tier="recent"}', recent.bytes],
      ['tallyhouse_known_transaction_ids_bytes{tier="filtered"}', filtered.bytes],
      ['tallyhouse_known_id_lookups_total{result="known"}', lookups.known],
      ['tallyhouse_known_id_lookups_total{result="new"}', lookups.new],
      // Each request waited alone.
      ['tallyhouse_known_id_lookup_seconds_count', lookups.known + lookups.new],
    ] as const)
      expect(lines).toContain(`${line} ${value}`);
    expect(lookups.known).toBeGreaterThan(50);
  });

  it('the files of known ids are built at each start of a process without a durable disk, part after part, as the log says', async () => {
    Object.assign(store.olderIds, { record: NO_RECORD });
    const ids = await fill(store);
    for (let start = 0; start < 2; start += 1) {
      await store.stop();
      store.figures.length = 0;
      await store.start();
      const { runs, filtered } = store.ingest().stats().knownIds;
      const built = store.figures.filter(({ message }) => message === MADE).map(({ fields }) => fields);
      expect(built).toHaveLength(runs);
      expect(runs).toBeGreaterThan(5);
      const read = built.map((fields) => fields.readEvents);
      expect(read).toEqual(built.map((_, at) => sumOf(built.slice(0, at + 1).map((each) => each.ids))));
      expect(read.at(-1)).toBe(filtered.ids);
      for (const fields of built) expect(fields.allEvents).toBe(filtered.ids);
      // Each begins where the one before ends.
      expect(built.slice(1).map(({ from }) => from)).toEqual(built.slice(0, -1).map(({ to }) => to));
      expect(parseRfc3339(String(built.at(-1)?.to)) ?? 0).toBeLessThanOrEqual(store.clock.at);
      await expectKnown(ids);
    }
  });

  it('the files of known ids go when all of their ids are past the window', async () => {
    const ids = await fill(store);
    store.clock.at += 60 * DAY_MS;
    await store.send('later');
    expect(await store.files()).toEqual([]);
    expect(store.ingest().stats().knownIds.filtered).toEqual({ ids: 0, bytes: 0 });
    await store.stop();
    await store.start();
    expect(store.logged).toEqual([]);
    await expectNew(ids);
  });

  it.each([34, 400])(
    'the files of known ids know an id up to the last second of a window of %i days',
    async (windowDays) => {
      const windowed = await openKnownIdsStore({ windowDays });
      try {
        const [first = '', ...others] = await fill(windowed);
        const end = (await acceptedAt(windowed.clickhouse, first)) + windowDays * DAY_MS;
        windowed.clock.at = end - 10 * SECOND_MS - 1;
        await windowed.stop();
        await windowed.start();
        await expectKnown([first, ...others], windowed);
        windowed.clock.at = end - 1;
        expect(await windowed.sendAt(first, windowed.clock.at)).toEqual({ accepted: 0, duplicates: 1 });
        windowed.clock.at = end;
        expect(await windowed.sendAt(first, windowed.clock.at)).toEqual({ accepted: 1, duplicates: 0 });
        expect(windowed.ingest().stats().knownIds.filtered.ids).toBeGreaterThan(50);
        // As old as an event may be, and no older.
        const oldest: Instant = windowed.clock.at - windowDays * DAY_MS;
        await expect(windowed.sendAt('too-old', oldest - HOUR_MS)).rejects.toMatchObject({ kind: 'invalid' });
        expect(await windowed.sendAt('old', oldest)).toEqual({ accepted: 1, duplicates: 0 });
      } finally {
        await windowed.close();
      }
    },
  );

  const damages: readonly { what: string; damage: (path: string) => Promise<void> }[] = [
    { what: 'missing', damage: (path) => rm(path) },
    { what: 'empty', damage: (path) => truncate(path, 0) },
    { what: 'cut short', damage: async (path) => truncate(path, (await readFile(path)).length - 1) },
    { what: 'cut to its first page', damage: (path) => truncate(path, 4_096) },
    { what: 'changed in a bit of its header', damage: (path) => flip(path, 60) },
    { what: 'changed in a bit of its filter', damage: (path) => flip(path, 4_096 * 2 + 8) },
    {
      what: 'changed in its last bit',
      damage: async (path) => flip(path, (await readFile(path)).length - 1),
    },
    { what: 'of another version', damage: (path) => replaceVersion(path) },
  ];
  it.each(damages)(
    'files of known ids are built again from ClickHouse where one is $what',
    async ({ damage }) => {
      const ids = await fill(store);
      const files = await store.files();
      await store.stop();
      // The record names them in the order of their times: one of the oldest ids, one of the newest.
      const recorded = (await store.olderIds.record.read())?.runs ?? [];
      const [oldest, newest] = [recorded[0]?.name ?? '', recorded.at(-1)?.name ?? ''];
      expect(files).toContain(oldest);
      for (const file of [oldest, newest]) await damage(store.path(file));
      await store.start();
      expect(store.logged.filter((message) => message === UNUSABLE)).toHaveLength(2);
      expect(store.logged).toContain(MADE);
      expect(await store.files()).not.toContain(oldest);
      expect(await store.files()).not.toContain(newest);
      await expectKnown(ids);
      await expectNew(idsFrom(1_000, 10));
    },
  );

  it('the files of known ids that cannot be read later are no answer: ClickHouse is asked', async () => {
    const ids = await fill(store);
    for (const file of await store.files()) await flip(store.path(file), 4_096 + 5);
    await expectKnown(ids);
    await expectNew(idsFrom(1_000, 20));
    expect(store.logged).toContain('a file of known ids cannot be read; ClickHouse is asked instead');
  });

  it('the files of known ids refuse a request as a whole where neither they nor ClickHouse answer, and take it later', async () => {
    const ids = await fill(store);
    await store.stop();
    let isDown = false;
    const flaky: ClickHouse = {
      ...store.clickhouse,
      query: (query) =>
        isDown ? withoutReads(store.clickhouse).query(query) : store.clickhouse.query(query),
    };
    await store.start(flaky);
    const files = await store.files();
    for (const file of files) await flip(store.path(file), 4_096 + 5);
    const before = await copies();
    isDown = true;
    const [known = ''] = ids;
    await expect(store.send('new-1', known, 'new-2')).rejects.toMatchObject({ kind: 'unavailable' });
    isDown = false;
    expect(await copies()).toEqual(before);
    for (const file of files) await flip(store.path(file), 4_096 + 5);
    expect(await store.send('new-1', known, 'new-2')).toEqual({ accepted: 2, duplicates: 1 });
  });

  it('the files of known ids of another data directory are not read', async () => {
    const ids = await fill(store);
    const other = await openKnownIdsStore();
    try {
      await fill(other, 500);
      await store.stop();
      await store.putFiles(await other.copyFiles());
      await store.start();
      expect(store.logged).toContain(UNUSABLE);
      await expectKnown(ids);
      await expectNew(idsFrom(500, 20));
    } finally {
      await other.close();
    }
  });

  it('the files of known ids of an earlier time are not enough', async () => {
    const ids = await fill(store);
    await store.stop();
    const earlier = await store.copyFiles();
    await store.start();
    ids.push(...(await fill(store, 500)));
    await store.stop();
    await store.putFiles(earlier);
    await store.start();
    await expectKnown(ids);
    await expectNew(idsFrom(1_000, 20));
  });

  it('the files of known ids of a later time than the stored events, which were restored, do not know what is not stored', async () => {
    const ids = await fill(store);
    await store.stop();
    const backup = await backUp(store.clickhouse);
    await store.start();
    const lost = await fill(store, 500);
    await store.stop();
    await backup.restore();
    await store.start();
    await expectKnown(ids);
    await expectNew(lost);
  });

  it('files of known ids are built again where stored events were lost for good', async () => {
    const ids = await fill(store);
    await store.stop();
    await store.clickhouse.command(
      "ALTER TABLE usage_events DELETE WHERE transaction_id IN ('id-3', 'id-30') SETTINGS mutations_sync = 2",
    );
    Object.assign(store.olderIds, { storeState: async () => 'two lost' });
    await store.start();
    await expectNew(['id-3', 'id-30']);
    await expectKnown(ids);
  });

  it('the files of known ids know the ids of a backfill that was dated before what they cover', async () => {
    const ids = await fill(store);
    await store.stop();
    const earlier = store.clock.at - 20 * DAY_MS;
    const backfill = createBatchStore(store.clickhouse, {
      acceptedFrom: await recordedUpTo(store.clickhouse),
      others: 'none',
    });
    const rows = new EventRows();
    const lines = idsFrom(500, 10).map((id) => ({
      transaction_id: id,
      customer_id: 'acme',
      event_type: 'use',
      timestamp: '2026-01-01T00:00:00Z',
    }));
    const body = Buffer.from(JSON.stringify(lines));
    validateEvents(body, { now: earlier, windowDays: Number.POSITIVE_INFINITY }, rows);
    expect(await backfill.store(rows, earlier)).toMatchObject({ stored: 10, duplicates: 0 });
    await store.start();
    await expectKnown([...idsFrom(500, 10), ...ids]);
  });

  it('the files of known ids cannot be written: the ids stay in memory, and go into files when they can', async () => {
    await store.stop();
    await rm(store.olderIds.directory, { recursive: true });
    await store.start();
    await rm(store.olderIds.directory, { recursive: true });
    const ids = idsFrom(0, 20);
    for (const id of ids) {
      store.clock.at += 10_000;
      const event = {
        transaction_id: id,
        customer_id: 'acme',
        event_type: 'use',
        timestamp: new Date(store.clock.at).toISOString(),
      };
      await store.ingest().ingest(Buffer.from(JSON.stringify([event])));
    }
    await expect.poll(() => store.logged).toContain('known ids could not be written to their files');
    expect(store.ingest().stats().knownIds.filtered.ids).toBe(0);
    await store.stop();
    await store.start();
    await expectKnown(ids);
    expect(store.ingest().stats().knownIds.filtered.ids).toBeGreaterThan(10);
  });

  it('files of known ids are built for a window that has become longer', async () => {
    const ids = await fill(store);
    store.clock.at += 40 * DAY_MS;
    await store.send('later');
    await store.stop();
    const longer = await openKnownIdsStore({ windowDays: 400 });
    try {
      await copyEvents(store.clickhouse, longer.clickhouse, longer);
      longer.clock.at = store.clock.at;
      await longer.start();
      await expectKnown(ids, longer);
    } finally {
      await longer.close();
    }
  });
});

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(path, bytes);
}

/** As a later version would have written it, whose checksum is right. */
async function replaceVersion(path: string): Promise<void> {
  const { sealPage } = await import('../../src/metering/ingest/known-ids/run-layout.ts');
  const bytes = await readFile(path);
  const page = bytes.subarray(0, 4_096);
  const at = page.indexOf('"version":1');
  page.write('"version":2', at);
  sealPage(page);
  await writeFile(path, bytes);
}

function sumOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + Number(value), 0);
}

async function acceptedAt(clickhouse: ClickHouse, id: string): Promise<number> {
  const [row] = await clickhouse.query({
    sql: 'SELECT toUnixTimestamp64Milli(ingested_at) AS at FROM usage_events WHERE transaction_id = {id:String}',
    params: { id },
    schema: z.object({ at: z.coerce.number() }),
  });
  return row?.at ?? 0;
}

const TABLES = ['usage_events', 'known_id_runs'];

async function backUp(clickhouse: ClickHouse): Promise<{ restore(): Promise<void> }> {
  for (const table of TABLES) {
    await clickhouse.command(`CREATE TABLE copy_of_${table} AS ${table}`);
    await clickhouse.command(`INSERT INTO copy_of_${table} SELECT * FROM ${table}`);
  }
  return {
    async restore() {
      for (const table of TABLES) {
        await clickhouse.command(`TRUNCATE TABLE ${table}`);
        await clickhouse.command(`INSERT INTO ${table} SELECT * FROM copy_of_${table}`);
        await clickhouse.command(`DROP TABLE copy_of_${table}`);
      }
    },
  };
}

/** The events and the record, into the ClickHouse of a process that is stopped by this. */
async function copyEvents(from: ClickHouse, to: ClickHouse, process: KnownIdsStore): Promise<void> {
  await process.stop();
  const [row] = await from.query({
    sql: 'SELECT currentDatabase() AS name',
    schema: z.object({ name: z.string() }),
  });
  for (const table of TABLES) {
    await to.command(`TRUNCATE TABLE ${table}`);
    await to.command(`INSERT INTO ${table} SELECT * FROM ${row?.name}.${table}`);
  }
}
