import { expect, it } from 'vitest';
import { z } from 'zod';
import { isUuid, newId } from '../../../src/core/ids.ts';

it('ids of new entities are UUIDs of version 7, all different, in the order in which they were created', () => {
  const ids = Array.from({ length: 2_000 }, () => newId());
  expect(ids.filter((id) => !isUuid(id) || !z.uuidv7().safeParse(id).success)).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  // Ids of one quarter of a microsecond have no order among them.
  const times = ids.map((id) => id.slice(0, 18));
  expect(times).toEqual(times.toSorted());
  expect(Math.abs(Number.parseInt(newId().replace('-', '').slice(0, 12), 16) - Date.now())).toBeLessThan(
    60_000,
  );
});
