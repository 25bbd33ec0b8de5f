import { ClickHouseError } from '@clickhouse/client';
import { describe, expect, test } from 'vitest';
import { damagedPart } from '../../../../src/metering/stored-parts/guard-parts.ts';
import {
  describeLoss,
  lossesOf,
  type SetAsidePart,
  type StoredPart,
} from '../../../../src/metering/stored-parts/part-losses.ts';

const part = (name: string, rows = 10, tableId = 'first'): StoredPart => {
  const [partition = '', minBlock, maxBlock] = name.split('_');
  return {
    table: 'usage_events',
    name,
    tableId,
    partition,
    minBlock: Number(minBlock),
    maxBlock: Number(maxBlock),
    rows,
  };
};

const setAside = (name: string): SetAsidePart => {
  const { table, partition, minBlock, maxBlock } = part(name);
  return { table, partition, minBlock, maxBlock, name: `broken-on-start_${name}`, reason: 'broken-on-start' };
};

const missing = (name: string, rows = 10) => ({ table: 'usage_events', part: name, kind: 'missing', rows });

describe('parts of the record', () => {
  test('parts of the record are there when a merge or a mutation has moved them into another, whatever its level', () => {
    const recorded = [part('202611_1_1_0'), part('202611_2_5_1'), part('202611_6_6_0')];
    expect(lossesOf(recorded, [part('202611_1_5_2', 19), part('202611_6_6_0_7', 9)], [])).toEqual([]);
  });

  test('parts of the record are missing when no part holds all of their blocks in their partition', () => {
    const recorded = [part('202611_1_5_2', 50), part('202612_6_6_0', 7)];
    const active = [part('202611_2_5_1'), part('202611_6_6_0')];
    expect(lossesOf(recorded, active, [])).toEqual([missing('202611_1_5_2', 50), missing('202612_6_6_0', 7)]);
  });

  test('parts of the record are missing with the last part of their table', () => {
    expect(lossesOf([part('202611_1_5_2', 50)], [], [])).toEqual([missing('202611_1_5_2', 50)]);
  });

  test('count as the part that ClickHouse has set aside, with their rows', () => {
    const recorded = [part('202611_1_1_0', 3), part('202611_2_2_0', 4)];
    const loss = { table: 'usage_events', part: 'broken-on-start_202611_1_2_1', kind: 'broken' };
    expect(lossesOf(recorded, [], [setAside('202611_1_2_1')])).toEqual([{ ...loss, rows: 7 }]);
    expect(lossesOf([], [], [setAside('202611_1_2_1')])).toEqual([{ ...loss, rows: null }]);
  });

  test('parts of the record of a table that was created again are compared by the rows of their partition', () => {
    const recorded = [part('202611_1_1_0', 3), part('202611_2_2_0', 4), part('202612_3_3_0', 5)];
    const active = [part('202611_1_1_0', 6, 'second'), part('202612_2_2_0', 8, 'second')];
    expect(lossesOf(recorded, active, [])).toEqual([missing('202611', 1)]);
  });
});

test('a loss is described with its size and with what to do', () => {
  expect(describeLoss({ table: 'usage_events', part: '202611_1_1_0', kind: 'missing', rows: 3 })).toBe(
    'usage_events/202611_1_1_0 was there and is missing (3 events). Restore ClickHouse from a backup, or accept ' +
      'the loss: npm run accept-loss -- usage_events/202611_1_1_0',
  );
});

describe('a failed query', () => {
  const uuid = 'edcb4846-fd2c-4940-87d3-4b0c76c39e4c';
  const failure = (type: string) =>
    new ClickHouseError({
      message: `Cannot read all data: (while reading from part /d/store/edc/${uuid}/202611_1_1_1/ in table t.e)`,
      code: '33',
      type,
    });

  test('a failed query names the part whose files it could not read', () => {
    expect(damagedPart(failure('CANNOT_READ_ALL_DATA'))).toEqual({ tableId: uuid, part: '202611_1_1_1' });
  });

  test('a failed query is no damage when it met a limit, was cancelled, or is no failure of ClickHouse', () => {
    const others = [failure('MEMORY_LIMIT_EXCEEDED'), failure('QUERY_WAS_CANCELLED'), new Error('no')];
    expect(others.map(damagedPart)).toEqual([null, null, null]);
  });
});
