/** A real ClickHouse and a process that ingests into it with a memory for four ids: nearly all of them are in files. */
import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY_MS, formatInstant, HOUR_MS, type Instant } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createIngest } from '../../src/metering/ingest/ingest.ts';
import type { Ingest } from '../../src/metering/ingest/ingest-operations.ts';
import { createOlderIds, type OlderIdsForTest } from './older-ids.ts';
import { createTestClickHouse, createTestDirectory } from './stores.ts';

const START = Date.UTC(2026, 10, 20, 12);
const WINDOW_DAYS = 34;

export interface KnownIdsStore {
  readonly clickhouse: ClickHouse;
  readonly olderIds: OlderIdsForTest;
  readonly clock: { at: Instant };
  /** The lines that were logged, by their text. */
  readonly logged: string[];
  /** The figures of what was logged, by its text. */
  readonly figures: { readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[];
  ingest(): Ingest;
  /** Sends one event for each id, ten seconds after the ones before, and waits until files are written. */
  send(...ids: readonly string[]): Promise<{ accepted: number; duplicates: number }>;
  /** Sends the event of an id with this timestamp, now. */
  sendAt(id: string, timestamp: Instant): Promise<{ accepted: number; duplicates: number }>;
  stop(): Promise<void>;
  /** After `stop`. `over`: another ClickHouse than that of the store. */
  start(over?: ClickHouse): Promise<void>;
  files(): Promise<string[]>;
  /** The path of a copy of the directory as it is now. */
  copyFiles(): Promise<string>;
  putFiles(copy: string): Promise<void>;
  path(file: string): string;
  close(): Promise<void>;
}

export function idsFrom(first: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `id-${first + i}`);
}

export async function openKnownIdsStore(settings: { windowDays?: number } = {}): Promise<KnownIdsStore> {
  const { windowDays = WINDOW_DAYS } = settings;
  const clickhouse = await createTestClickHouse();
  const olderIds = await createOlderIds(clickhouse);
  const clock = { at: START, now: () => clock.at };
  const logged: string[] = [];
  const figures: KnownIdsStore['figures'] = [];
  const log = (fields: Readonly<Record<string, unknown>>, message: string) => {
    logged.push(message);
    figures.push({ message, fields });
  };
  let running: Ingest | undefined;
  const store: KnownIdsStore = {
    ...{ clickhouse, olderIds, clock, logged, figures },
    ingest: () => {
      if (running === undefined) throw new Error('the process is stopped');
      return running;
    },
    async send(...ids) {
      clock.at += 10_000;
      const outcome = await store.ingest().ingest(bodyOf(ids, clock.at - HOUR_MS));
      await store.ingest().tidied();
      return outcome;
    },
    sendAt: (id, timestamp) => store.ingest().ingest(bodyOf([id], timestamp)),
    async stop() {
      await running?.close();
      running = undefined;
    },
    async start(over = clickhouse) {
      const logs = { error: log, warn: log, info: log };
      running = createIngest({ clickhouse: over, clock, windowDays, olderIds, log: logs });
      await running.rebuild();
    },
    files: async () => (await readdir(olderIds.directory)).sort(),
    path: (file) => join(olderIds.directory, file),
    async copyFiles() {
      const copy = join(await createTestDirectory(), 'copy');
      await cp(olderIds.directory, copy, { recursive: true });
      return copy;
    },
    async putFiles(copy) {
      await rm(olderIds.directory, { recursive: true, force: true });
      await cp(copy, olderIds.directory, { recursive: true });
    },
    async close() {
      await store.stop();
      await clickhouse.close();
    },
  };
  await store.start();
  return store;
}

function bodyOf(ids: readonly string[], timestamp: Instant): Buffer {
  const events = ids.map((transaction_id) => ({
    ...{ transaction_id, customer_id: 'acme', event_type: 'use' },
    timestamp: formatInstant(timestamp),
  }));
  return Buffer.from(JSON.stringify(events));
}

/** Sends many ids over weeks, so that there are several files, of runs and of merged ones. Returns them. */
export async function fill(store: KnownIdsStore, first = 0): Promise<string[]> {
  const all: string[] = [];
  for (let round = 0; round < 12; round += 1) {
    const ids = idsFrom(first + all.length, 5);
    await store.send(...ids);
    all.push(...ids);
    store.clock.at += DAY_MS;
  }
  return all;
}
