import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { createAdmission } from '../../../../src/metering/ingest/admission.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Room for so many requests, each of which takes its place as soon as it is admitted. */
function withRoom(places: number) {
  const room = { places };
  const admission = createAdmission(() => room.places > 0);
  const admitted: number[] = [];
  const enter = async (number: number): Promise<void> => {
    await admission.enter();
    room.places -= 1;
    admitted.push(number);
  };
  return { room, admission, admitted, enter };
}

it('admits at once while there is room and nobody waits', async () => {
  const { admission, enter, admitted } = withRoom(2);
  expect(admission.enter()).toBeNull();
  await enter(1);
  await enter(2);
  expect(admission.enter()).not.toBeNull();
  expect(admitted).toEqual([1, 2]);
});

it('admits those who wait in their order, before those who come later, and no more than there is room for', async () => {
  const { room, admission, admitted, enter } = withRoom(0);
  const all = Array.from({ length: 100 }, (_, number) => enter(number));
  room.places = 40;
  admission.goOn();
  // It has room to come, but others came before it.
  const last = enter(100);
  await expect.poll(() => admitted.length).toBe(40);
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(admitted).toHaveLength(40);
  room.places = 1_000;
  admission.goOn();
  await Promise.all([...all, last]);
  expect(admitted).toEqual(Array.from({ length: 101 }, (_, number) => number));
});

it('leaves turns of the event loop to other work while it admits many', async () => {
  const { room, admission, admitted, enter } = withRoom(0);
  const all = Array.from({ length: 500 }, (_, number) => enter(number));
  room.places = 1_000;
  admission.goOn();
  const seen = new Set<number>();
  while (admitted.length < 500) {
    await nextTurn();
    seen.add(admitted.length);
  }
  await Promise.all(all);
  expect(seen.size).toBeGreaterThan(10);
});

it('refuses after a second those for whom there was no room, and they take no place later', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { room, admission, admitted, enter } = withRoom(0);
  const first = expect(enter(1)).rejects.toMatchObject({ kind: 'overloaded' });
  vi.advanceTimersByTime(999);
  const second = enter(2);
  vi.advanceTimersByTime(1);
  await first;
  room.places = 1;
  admission.goOn();
  await second;
  expect(admitted).toEqual([2]);
});
