import { describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../src/metering/client/clickhouse.ts';
import { findEvents } from '../../src/metering/events/find-events.ts';
import { createRepeatLog } from '../../src/metering/events/repeat-log.ts';
import { clickhouseForFile } from '../support/file-fixtures.ts';
import { createTestClickHouse } from '../support/stores.ts';

const clickhouse = await clickhouseForFile();

const NOW = Date.UTC(2026, 10, 20);

function repeat(transactionId: string, properties: readonly [string, string][] = []) {
  return () => ({ transactionId, customerRef: 'c', eventType: 'x', timestamp: NOW, properties });
}

async function findRepeats(store: ClickHouse, ids: readonly string[], receivedFrom: number, max: number) {
  return (await findEvents(store, ids, receivedFrom, max)).repeats;
}

/** A log whose pace the test sets. */
function logAt(start: number, store: ClickHouse = clickhouse) {
  const time = { elapsed: start };
  return { time, log: createRepeatLog({ clickhouse: store, elapsed: () => time.elapsed }) };
}

describe('the log of repeats', () => {
  it('the log of repeats can be read once it is flushed, in the order in which they came', async () => {
    const { log } = logAt(0);
    log.note(
      repeat('a', [
        ['__proto__', '1'],
        ['x;y', "it's\\ \n \u0007"],
      ]),
      NOW,
    );
    log.note(repeat('b'), NOW);
    log.note(repeat('a'), NOW);
    log.note(repeat('a'), NOW - 1);
    await log.flush();
    const found = await findRepeats(clickhouse, ['a'], 0, 10);
    expect(found.map(({ receivedAt }) => receivedAt - NOW)).toEqual([-1, 0, 0]);
    expect(found.map(({ properties }) => [...properties])).toEqual([
      [],
      [
        ['__proto__', '1'],
        ['x;y', "it's\\ \n \u0007"],
      ],
      [],
    ]);
    expect(await findRepeats(clickhouse, ['a'], NOW, 1)).toHaveLength(1);
    expect(log.stats()).toEqual({ written: 4, lost: 0 });
    await log.close();
  });

  it('the log of repeats keeps a burst of 1,000 and then 100 a second, and counts what it forgets', async () => {
    const { log, time } = logAt(0);
    const many = (count: number) => {
      for (let index = 0; index < count; index += 1) log.note(repeat('burst'), NOW);
    };
    many(1_500);
    time.elapsed += 500;
    many(100);
    await log.flush();
    expect(log.stats()).toEqual({ written: 1_050, lost: 550 });
    expect(await findRepeats(clickhouse, ['burst'], 0, 2_000)).toHaveLength(1_050);
    await log.close();
  });

  it('the log of repeats holds no more than 2 MB, however large the events are', async () => {
    const { log } = logAt(0);
    const large: [string, string][] = [['text', ';'.repeat(65_000)]];
    for (let index = 0; index < 100; index += 1) log.note(repeat('large', large), NOW);
    await log.flush();
    expect(log.stats()).toEqual({ written: 32, lost: 68 });
    await log.close();
  });

  it('the log of repeats loses rows that cannot be written and continues', async () => {
    const broken = await createTestClickHouse();
    await broken.command('RENAME TABLE event_repeats TO elsewhere');
    const { log } = logAt(0, broken);
    log.note(repeat('lost'), NOW);
    await log.flush();
    expect(log.stats()).toEqual({ written: 0, lost: 1 });
    await broken.command('RENAME TABLE elsewhere TO event_repeats');
    log.note(repeat('kept'), NOW);
    await log.flush();
    expect(log.stats()).toEqual({ written: 1, lost: 1 });
    await log.close();
    await broken.close();
  });

  it('the log of repeats writes the rest when it is closed, and drops later rows', async () => {
    const { log } = logAt(0);
    log.note(repeat('end'), NOW);
    await log.close();
    log.note(repeat('end'), NOW);
    await log.flush();
    expect(await findRepeats(clickhouse, ['end'], 0, 10)).toHaveLength(1);
    expect(log.stats()).toEqual({ written: 1, lost: 1 });
  });
});
