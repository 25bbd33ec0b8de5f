/**
 * The index of known ids in all of its tiers beside a map: ids in memory, in files, past the window, looked up while ids
 * leave memory, after writes that failed, stops, kills and damaged files. The window is short and few ids fit in memory.
 */
import { readdir, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import {
  createKnownIds,
  type KnownIds,
  type LookedUp,
} from '../../src/metering/ingest/known-ids/known-ids.ts';
import { createPageReader } from '../../src/metering/ingest/known-ids/read-on-thread.ts';
import { createOlderIds, type OlderIdsForTest } from '../support/older-ids.ts';
import { runs } from '../support/shares-of-tests.ts';
import { createTestClickHouse } from '../support/stores.ts';

const pages = createPageReader();
afterAll(() => pages.close());

const WINDOW_DAYS = 0.25;
const WINDOW = WINDOW_DAYS * 86_400;
/** How far ahead an event is dated is rounded up to this. */
const AHEAD_UNIT = 90;
const T0 = 1_800_000_000;
const RECENT_IDS = 6;
const LOOKUPS_MAX = 5;

type Hash = readonly [number, number, number];

interface Accepted {
  readonly at: number;
  /** The last second of a timestamp that the accepted event can have. */
  readonly reach: number;
  readonly timestamp: number;
  /** Whether its row is in ClickHouse; otherwise its write can still fail. */
  isStored: boolean;
}

/** The guarantee of the index, written as simply as possible. */
class Model {
  readonly accepted = new Map<string, Accepted[]>();

  isKnown(key: string, now: number, timestamp: number): boolean {
    const known = this.accepted.get(key) ?? [];
    return known.some(({ at, reach }) => now - at < WINDOW || timestamp <= reach);
  }

  accept(key: string, now: number, timestamp: number): void {
    const reach = now + Math.ceil(Math.max(0, timestamp - now) / AHEAD_UNIT) * AHEAD_UNIT;
    const one = { at: now, reach, timestamp, isStored: false };
    this.accepted.set(key, [...(this.accepted.get(key) ?? []), one]);
  }

  pending(): [string, Accepted][] {
    const all = [...this.accepted].flatMap(([key, each]) => each.map((one) => [key, one] as const));
    return all.filter(([, one]) => !one.isStored).map(([key, one]) => [key, one]);
  }

  /** The write of the last event with this id has failed. */
  release(key: string): void {
    this.accepted.get(key)?.pop();
  }
}

// Few distinct words, so that ids share shards, keys of files and pages.
const hash = fc.tuple(
  fc.constantFrom(3, 3 + 1024, 4, 0xffff_ffff),
  fc.constantFrom(0, 7, 0xffff_ffff),
  fc.integer({ min: 0, max: 2 }),
);

const event = fc.record({
  hash,
  dated: fc.oneof(fc.constantFrom(-WINDOW, -1, 0, 1), fc.integer({ min: -WINDOW, max: WINDOW - 1 })),
});

const command = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      events: fc.array(event, { minLength: 1, maxLength: 6 }),
      /** Otherwise its lookup takes until `go`, and the next steps happen in the meantime. */
      waits: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('go' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('tidy' as const), waits: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('store' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fail' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      seconds: fc.oneof(
        { weight: 1, arbitrary: fc.constantFrom(1, 2, WINDOW - 1, WINDOW) },
        // The clock is set back.
        { weight: 1, arbitrary: fc.integer({ min: -30, max: -1 }) },
        { weight: 4, arbitrary: fc.integer({ min: 0, max: WINDOW / 6 }) },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('restart' as const),
      isKilled: fc.boolean(),
      damage: fc.constantFrom('none', 'none', 'removed', 'cut' as const),
    }),
  },
);

let clickhouse: ClickHouse;
let older: OlderIdsForTest;
beforeAll(async () => {
  clickhouse = await createTestClickHouse();
  older = await createOlderIds(clickhouse, RECENT_IDS);
});
afterAll(() => clickhouse.close());

let rowsEver = 0;

/** As an insert of the service does it. */
async function insert(rows: readonly [string, Accepted][]): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.map(([key, { at, timestamp }]) => {
    rowsEver += 1;
    return `('row-${rowsEver}', 'acme', 'use', fromUnixTimestamp64Milli(${timestamp * 1000}, 'UTC'),
      fromUnixTimestamp64Milli(${at * 1000}, 'UTC'), ${rowsEver}, ${key})`;
  });
  await clickhouse.command(
    `INSERT INTO usage_events (transaction_id, customer_ref, event_type, timestamp, ingested_at, version,
      id_hash_a, id_hash_b, id_hash_c) VALUES ${values.join()}`,
  );
}

/** A process with its index, beside the model. */
class Process {
  readonly model: Model;
  known: KnownIds;
  now: number;
  floor = 0;

  constructor(model: Model, now: number) {
    this.model = model;
    this.now = now;
    this.known = createKnownIds({
      ...{ clickhouse, windowDays: WINDOW_DAYS, older, pages },
      stored: () => this.store(),
      startAfter: (seconds) => {
        this.floor = Math.max(this.floor, seconds);
      },
      log: { error: ({ err }) => expect.unreachable(String(err)) },
    });
  }

  async start(): Promise<void> {
    const { suspects } = await this.known.restore(this.now * 1000);
    expect([...suspects]).toEqual([]);
  }

  async store(): Promise<void> {
    const pending = this.model.pending();
    // From here on a failure of these writes is not possible any more.
    for (const [, one] of pending) one.isStored = true;
    await insert(pending);
  }

  async send(
    events: readonly { readonly hash: Hash; readonly dated: number }[],
    go?: Promise<void>,
  ): Promise<void> {
    const words = Uint32Array.from(events.flatMap(({ hash: each }) => each));
    const seconds = events.map(({ dated }) => this.now + dated);
    const timestamps = Float64Array.from(seconds.map((each) => each * 1000));
    let lookedUp: LookedUp | null = null;
    for (let lookups = 0; ; lookups += 1) {
      const ids = this.known.unsure(words, events.length, { nowSeconds: this.now, timestamps }, lookedUp);
      if (ids === null) break;
      if (lookups === LOOKUPS_MAX) return;
      lookedUp = await this.known.lookUp(ids);
      await go;
      // As ingest does with events that have become too old meanwhile, or whose clock was set back.
      if (seconds.some((each) => each < this.now - WINDOW || each >= this.now + WINDOW)) return;
    }
    const at = Math.max(this.now, this.floor);
    for (const [i, { hash: each }] of events.entries()) {
      const [key, timestamp = 0] = [each.join(), seconds[i]];
      const isNew = this.known.reserve(words, i * 3, this.now, timestamp, lookedUp);
      expect({ key, isNew }).toEqual({ key, isNew: !this.model.isKnown(key, at, timestamp) });
      if (isNew) this.model.accept(key, at, timestamp);
    }
  }

  fail(): void {
    const [last] = this.model.pending().toReversed();
    if (last === undefined) return;
    this.known.release(Uint32Array.from(last[0].split(',').map(Number)), 0);
    this.model.release(last[0]);
  }

  /** Ids that were not written are lost with a process that is killed. */
  async end(isKilled: boolean): Promise<void> {
    if (!isKilled) await this.store();
    await this.known.close();
    for (const [key] of this.model.pending().toReversed()) this.model.release(key);
  }
}

async function damage(kind: 'none' | 'removed' | 'cut'): Promise<void> {
  const [file] = kind === 'none' ? [] : await readdir(older.directory);
  if (file === undefined) return;
  const path = join(older.directory, file);
  await (kind === 'removed' ? rm(path) : truncate(path, 5_000));
}

it('the index of known ids answers like a map of all that was accepted, whatever is in memory, in files, looked up, lost or past the window', async () => {
  const met = { files: 0, known: 0, new: 0, expired: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 40, maxLength: 120 }), async (commands) => {
      await clickhouse.command('TRUNCATE TABLE usage_events');
      await older.clear();
      const model = new Model();
      let process = new Process(model, T0);
      await process.start();
      const note = () => {
        const { lookups, runs: files } = process.known.figures();
        met.files = Math.max(met.files, files);
        met.known += lookups.known;
        met.new += lookups.new;
      };
      let sending: Promise<void>[] = [];
      let held: (() => void)[] = [];
      const settled = async () => {
        for (const go of held) go();
        held = [];
        await Promise.all(sending);
        sending = [];
      };
      for (const step of commands) {
        if (step.kind === 'send') {
          const go = step.waits ? undefined : new Promise<void>((resolve) => held.push(resolve));
          const sent = process.send(step.events, go);
          sending.push(sent);
          if (step.waits) await sent;
        } else if (step.kind === 'go') await settled();
        else if (step.kind === 'store') await process.store();
        else if (step.kind === 'fail') process.fail();
        else if (step.kind === 'wait') process.now += step.seconds;
        else if (step.kind === 'tidy') {
          const before = process.known.figures().filtered.ids;
          process.known.tidy(process.now * 1000);
          if (step.waits) await process.known.idle();
          if (process.known.figures().filtered.ids < before) met.expired += 1;
        } else {
          await settled();
          note();
          await process.end(step.isKilled);
          await damage(step.damage);
          process = new Process(model, process.now);
          await process.start();
        }
      }
      await settled();
      note();
      await process.end(false);
    }),
    { numRuns: runs(30) },
  );
  expect(met.files).toBeGreaterThan(1);
  expect(met.known).toBeGreaterThan(20);
  expect(met.new).toBeGreaterThan(0);
  expect(met.expired).toBeGreaterThan(0);
});

const newEvents = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ hash: [i, 0, first + i] as const, dated: 0 }));

async function started(): Promise<Process> {
  await clickhouse.command('TRUNCATE TABLE usage_events');
  await older.clear();
  const process = new Process(new Model(), T0);
  await process.start();
  return process;
}

/** Lets the ids of earlier seconds leave memory. */
async function tidied(process: Process): Promise<void> {
  process.now += 1;
  process.known.tidy(process.now * 1000);
  await process.known.idle();
}

it('looks an id up again where it was accepted, and left memory, after it was looked up', async () => {
  const process = await started();
  const again = newEvents(1, 1);
  await process.send(again);
  process.now += WINDOW / 2;
  await process.send(newEvents(100, RECENT_IDS + 2));
  await tidied(process);
  // Past the window now, in a file with ids that are not.
  process.now = T0 + WINDOW;
  let go = () => {};
  const late = process.send(again, new Promise<void>((resolve) => (go = resolve)));
  await process.send([...again, ...newEvents(200, RECENT_IDS + 2)]);
  await tidied(process);
  expect(process.known.figures().runs).toBe(2);
  go();
  await late;
  expect(process.known.figures().lookups.known).toBe(3);
  await process.end(false);
});

it('the index of known ids knows an id after a restart that was accepted when the clock was set back to before the ids in files', async () => {
  const process = await started();
  await process.send(newEvents(100, RECENT_IDS + 2));
  await tidied(process);
  expect(process.known.figures().runs).toBe(1);
  process.now = T0 - 5;
  await process.send(newEvents(1, 1));
  await process.end(false);
  const next = new Process(process.model, T0 + 20);
  await next.start();
  await next.send(newEvents(1, 1));
  await next.end(false);
});
