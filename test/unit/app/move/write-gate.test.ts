import { expect, test } from 'vitest';
import { createWriteGate } from '../../../../src/app/move/write-gate.ts';

test('a gate is closed when the requests before have ended, and refuses those after', async () => {
  const gate = createWriteGate();
  const leave = [gate.enter(), gate.enter()];
  let isClosed = false;
  const closing = gate.close().then(() => {
    isClosed = true;
  });
  expect(() => gate.enter()).toThrow(expect.objectContaining({ kind: 'unavailable' }));
  leave[0]?.();
  await Promise.resolve();
  expect(isClosed).toBe(false);
  leave[1]?.();
  await closing;
  expect(gate.isClosed()).toBe(true);
  gate.open();
  gate.enter()();
  await gate.close();
});

test('a request that does not end lets nobody believe that nothing is written', async () => {
  const gate = createWriteGate(10);
  gate.enter();
  await expect(gate.close()).rejects.toThrow('do not end');
});
