/**
 * Several processes on one ClickHouse: each `createIngest` is one, with a separate index. Whatever they
 * accept side by side, one copy of every id counts once they have looked at what the others stored.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { DAY_MS, formatInstant, HOUR_MS, type Instant, MINUTE_MS } from '../../src/core/time.ts';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { createIngest } from '../../src/metering/ingest/ingest.ts';
import type { Ingest } from '../../src/metering/ingest/ingest-operations.ts';
import { NO_RECORD } from '../../src/metering/ingest/known-ids/run-record.ts';
import { createOlderIds } from '../support/older-ids.ts';
import { createTestClickHouse } from '../support/stores.ts';

const START = Date.UTC(2026, 10, 20, 12);
const WINDOW_DAYS = 34;
/** Longer than an event of another process may come late. */
const RECENT_SECONDS = 1_800;

interface Sent {
  readonly id: string;
  readonly customer?: string;
  readonly type?: string;
  readonly hoursAgo?: number;
}

function body(events: readonly Sent[], now: Instant): Buffer {
  const wire = events.map(({ id, customer = 'acme', type = 'tokens', hoursAgo = 1 }) => ({
    transaction_id: id,
    customer_id: customer,
    event_type: type,
    timestamp: formatInstant(now - hoursAgo * HOUR_MS),
    properties: { said_by: customer },
  }));
  return Buffer.from(JSON.stringify(wire));
}

const eventRow = z.object({ transaction_id: z.string(), customer_ref: z.string(), event_type: z.string() });

describe.each([
  { ids: 'all known ids in memory', hasFiles: false },
  { ids: 'older known ids in files', hasFiles: true },
])('two processes on one ClickHouse, $ids', ({ hasFiles }) => {
  let clickhouse: ClickHouse;
  const running: Ingest[] = [];

  beforeAll(async () => {
    clickhouse = await createTestClickHouse();
  });
  beforeEach(async () => {
    for (const ingest of running.splice(0)) await ingest.close();
    const cluster = inject('clickhouse')?.cluster;
    await clickhouse.command(
      cluster === undefined
        ? 'TRUNCATE TABLE usage_events'
        : `TRUNCATE TABLE usage_events_local ON CLUSTER '${cluster}'`,
    );
  });
  afterAll(async () => {
    for (const ingest of running) await ingest.close();
    await clickhouse.close();
  });

  /** As with a server: separate files, which the next process does not use. */
  const olderIds = async () =>
    hasFiles
      ? { ...(await createOlderIds(clickhouse)), record: NO_RECORD, recentSeconds: RECENT_SECONDS }
      : undefined;

  async function startProcess(clock: { now(): Instant }): Promise<Ingest> {
    const ingest = createIngest({
      clickhouse,
      clock,
      windowDays: WINDOW_DAYS,
      olderIds: await olderIds(),
      log: { error() {} },
      cluster: inject('clickhouse')?.cluster,
    });
    await ingest.rebuild();
    running.push(ingest);
    return ingest;
  }

  const counting = () =>
    clickhouse.query({
      sql: 'SELECT transaction_id, customer_ref, event_type FROM usage_events FINAL ORDER BY transaction_id, customer_ref',
      schema: eventRow,
    });

  const clockAt = (at: Instant) => {
    const clock = { at, now: () => clock.at };
    return clock;
  };

  it('know an id that the other one stored after one look, whatever the repeat says', async () => {
    const clock = clockAt(START);
    const [first, second] = [await startProcess(clock), await startProcess(clock)];
    await first.ingest(body([{ id: 'a' }, { id: 'b' }], START));
    expect(await second.tail()).toEqual({ rows: 2 });
    const repeats = body([{ id: 'a' }, { id: 'b', customer: 'globex', hoursAgo: 5 }, { id: 'c' }], START);
    expect(await second.ingest(repeats)).toEqual({ accepted: 1, duplicates: 2 });
    expect(await first.tail()).toEqual({ rows: 3 });
    expect(await first.ingest(repeats)).toEqual({ accepted: 0, duplicates: 3 });
    expect(await counting()).toHaveLength(3);
  });

  it('read nothing again while nothing new is stored', async () => {
    const clock = clockAt(START);
    const [first, second] = [await startProcess(clock), await startProcess(clock)];
    await first.ingest(body([{ id: 'a' }], START));
    clock.at += 1_000;
    await first.ingest(body([{ id: 'b' }], START));
    expect(await second.tail()).toEqual({ rows: 2 });
    expect(await second.tail()).toEqual({ rows: 0 });
    await first.ingest(body([{ id: 'c' }], START));
    // Only the changed one of the two seconds is read, and only its changed tenth.
    expect(await second.tail()).toEqual({ rows: 2 });
    clock.at += 500;
    await first.ingest(body([{ id: 'd' }], START));
    expect(await second.tail()).toEqual({ rows: 1 });
    expect(first.stats().conflictsRemoved + second.stats().conflictsRemoved).toBe(0);
  });

  it('count one copy of the same event that both accepted at the same time', async () => {
    const clock = clockAt(START);
    const [first, second] = [await startProcess(clock), await startProcess(clock)];
    const request = body([{ id: 'a' }, { id: 'b' }], START);
    const outcomes = await Promise.all([first.ingest(request), second.ingest(request)]);
    expect(outcomes).toEqual([
      { accepted: 2, duplicates: 0 },
      { accepted: 2, duplicates: 0 },
    ]);
    // FINAL sees to that at once; looking changes nothing.
    expect(await counting()).toHaveLength(2);
    await Promise.all([first.tail(), second.tail()]);
    expect(await counting()).toHaveLength(2);
    expect(first.stats().conflictsRemoved + second.stats().conflictsRemoved).toBe(0);
  });

  it.each([
    { differs: 'customer', later: { id: 'a', customer: 'globex' } },
    { differs: 'event type', later: { id: 'a', type: 'calls' } },
    { differs: 'timestamp', later: { id: 'a', hoursAgo: 400 } },
  ])('count the first accepted copy where two with another $differs raced', async ({ later }) => {
    const [early, late] = [clockAt(START), clockAt(START + 3)];
    const [first, second] = [await startProcess(early), await startProcess(late)];
    await Promise.all([
      first.ingest(body([{ id: 'a' }, { id: 'only-first' }], START)),
      second.ingest(body([later, { id: 'only-second' }], START)),
    ]);
    await Promise.all([first.tail(), second.tail()]);
    expect(await counting()).toEqual(
      ['a', 'only-first', 'only-second'].map((id) => ({
        transaction_id: id,
        customer_ref: 'acme',
        event_type: 'tokens',
      })),
    );
  });

  it('leave the first copy of two in one second where a third one has read it before the other was stored', async () => {
    const [early, late] = [clockAt(START), clockAt(START + 500)];
    const [first, second] = [await startProcess(early), await startProcess(late)];
    const onlooker = await startProcess(late);
    await first.ingest(body([{ id: 'a' }], START));
    expect(await onlooker.tail()).toEqual({ rows: 1 });
    await second.ingest(body([{ id: 'a', customer: 'globex' }], START));
    await onlooker.tail();
    expect(await counting()).toEqual([{ transaction_id: 'a', customer_ref: 'acme', event_type: 'tokens' }]);
  });

  it('agree on the copy that counts when both were accepted in the same microsecond', async () => {
    const clock = clockAt(START);
    const [first, second] = [await startProcess(clock), await startProcess(clock)];
    await Promise.all([
      first.ingest(body([{ id: 'a', customer: 'zeta' }], START)),
      second.ingest(body([{ id: 'a', customer: 'acme' }], START)),
    ]);
    await Promise.all([first.tail(), second.tail()]);
    await Promise.all([first.tail(), second.tail()]);
    expect(await counting()).toEqual([{ transaction_id: 'a', customer_ref: 'acme', event_type: 'tokens' }]);
    expect((await startProcess(clock)).stats().ids).toBe(1);
  });

  it('find a conflict also when one of them is gone, and when both are', async () => {
    for (const survivors of [1, 0]) {
      const [early, late] = [clockAt(START), clockAt(START + 2_000)];
      const [first, second] = [await startProcess(early), await startProcess(late)];
      const id = `with-${survivors}`;
      await Promise.all([
        first.ingest(body([{ id }], START)),
        second.ingest(body([{ id, customer: 'globex' }], START)),
      ]);
      await first.close();
      if (survivors === 1) await second.tail();
      else await second.close();
      const restarted = await startProcess(late);
      expect(await restarted.ingest(body([{ id, customer: 'third' }], START))).toEqual({
        accepted: 0,
        duplicates: 1,
      });
      expect((await counting()).filter((event) => event.transaction_id === id)).toEqual([
        { transaction_id: id, customer_ref: 'acme', event_type: 'tokens' },
      ]);
    }
  });

  it('find a conflict between what a start puts into one file, into another and into memory', async () => {
    // Longer than the shortest time for which a start makes a separate file, and shorter than events come late.
    const apart = 10 * MINUTE_MS;
    const [early, late] = [clockAt(START), clockAt(START + apart)];
    const [first, second] = [await startProcess(early), await startProcess(late)];
    const racing = ['a', 'b'];
    for (const [day, id] of racing.entries()) {
      const others = (of: string) => Array.from({ length: 3 }, (_, i) => ({ id: `${of}-${day}-${i}` }));
      await first.ingest(body([{ id }, ...others('first')], early.at));
      await second.ingest(body([{ id, customer: 'globex' }, ...others('second')], late.at));
      early.at += DAY_MS;
      late.at += DAY_MS;
    }
    await Promise.all([first.close(), second.close()]);
    const { knownIds } = (await startProcess(late)).stats();
    if (hasFiles) expect(knownIds).toMatchObject({ runs: 3, recent: { ids: 4 } });
    const counted = await counting();
    expect(counted).toHaveLength(racing.length * 7);
    expect(counted.filter(({ customer_ref }) => customer_ref !== 'acme')).toEqual([]);
  });

  it('see a row that appears late, after rows that were accepted later', async () => {
    const [slow, quick] = [clockAt(START), clockAt(START + 8 * 60_000)];
    const [first, second] = [await startProcess(slow), await startProcess(quick)];
    await second.ingest(body([{ id: 'new' }], quick.at));
    await second.tail();
    await first.ingest(body([{ id: 'late' }], START));
    await second.tail();
    expect(await second.ingest(body([{ id: 'late' }], START))).toEqual({ accepted: 0, duplicates: 1 });
  });

  it('miss nothing when a sandbox clock jumps by weeks', async () => {
    const clock = clockAt(START);
    const [first, second] = [await startProcess(clock), await startProcess(clock)];
    await first.ingest(body([{ id: 'a' }], clock.at));
    clock.at += 20 * DAY_MS;
    await second.tail();
    expect(await second.ingest(body([{ id: 'a' }], clock.at))).toEqual({ accepted: 0, duplicates: 1 });
  });

  it('know ids of the other one that have left their memory, and the earlier of two copies counts', async () => {
    const clock = clockAt(START);
    const [first, second] = [await startProcess(clock), await startProcess(clock)];
    const ids = Array.from({ length: 12 }, (_, i) => `old-${i}`);
    for (const id of ids) {
      await first.ingest(body([{ id }], clock.at));
      clock.at += 20 * 60_000;
      await second.tail();
      await Promise.all([first.tidied(), second.tidied()]);
    }
    const third = await startProcess(clock);
    const inFiles = [first, second, third].map((each) => each.stats().knownIds.filtered.ids);
    if (hasFiles) expect(Math.min(...inFiles)).toBeGreaterThan(2);
    for (const each of [first, second, third]) {
      for (const id of ids) {
        const repeat = body([{ id, customer: 'globex' }], clock.at);
        expect(await each.ingest(repeat)).toEqual({ accepted: 0, duplicates: 1 });
      }
    }
    expect(await counting()).toHaveLength(ids.length);
  });

  it('leave both events of an id that came again after the window', async () => {
    const clock = clockAt(START);
    const [first, second] = [await startProcess(clock), await startProcess(clock)];
    await first.ingest(body([{ id: 'a' }], clock.at));
    await second.tail();
    clock.at += WINDOW_DAYS * DAY_MS;
    const again = body([{ id: 'a', customer: 'globex' }], clock.at);
    expect(await second.ingest(again)).toEqual({ accepted: 1, duplicates: 0 });
    await Promise.all([first.tail(), second.tail()]);
    await startProcess(clock);
    expect(await counting()).toHaveLength(2);
    // Known to the other as the new one that it is.
    expect(await first.ingest(again)).toEqual({ accepted: 0, duplicates: 1 });
  });

  it('look by themselves where an interval is given, and stop when they are closed', async () => {
    const clock = clockAt(START);
    const first = await startProcess(clock);
    const second = createIngest({
      clickhouse,
      clock,
      windowDays: WINDOW_DAYS,
      log: { error() {} },
      olderIds: await olderIds(),
      tailIntervalMs: 1,
    });
    await second.rebuild();
    running.push(second);
    await first.ingest(body([{ id: 'a' }], START));
    await expect.poll(() => second.stats().ids, { interval: 5 }).toBe(1);
    await second.close();
    await first.ingest(body([{ id: 'b' }], START));
    expect(second.stats().ids).toBe(1);
  });
});
