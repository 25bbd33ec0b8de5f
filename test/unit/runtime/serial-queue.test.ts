/** Work of a serial queue (src/runtime/serial-queue.ts). */
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSerialQueue } from '../../../src/runtime/serial-queue.ts';

describe('a serial queue', () => {
  it('a serial queue runs work one at a time in the order of the calls, whatever fails', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ turns: fc.nat(3), fails: fc.boolean() }), { maxLength: 12 }),
        async (works) => {
          const queue = createSerialQueue();
          const begun: number[] = [];
          let running = 0;
          const ends = works.map(({ turns, fails }, index) =>
            queue.run(async () => {
              begun.push(index);
              running += 1;
              expect(running).toBe(1);
              for (let turn = 0; turn < turns; turn += 1) await setImmediate();
              running -= 1;
              if (fails) throw new Error(`work ${index}`);
              return index;
            }),
          );
          expect(queue.figures().waiting).toBe(works.length);
          const settled = Promise.allSettled(ends);
          await queue.idle();
          expect(running).toBe(0);
          expect(begun).toEqual(works.map((_, index) => index));
          expect(queue.figures()).toEqual({
            runs: works.length,
            failures: works.filter(({ fails }) => fails).length,
            waiting: 0,
          });
          expect((await settled).map(({ status }) => status)).toEqual(
            works.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')),
          );
        },
      ),
    );
  });

  it('a closed serial queue ends the work that it was given and refuses any other', async () => {
    const queue = createSerialQueue();
    const given = queue.run(async () => 'done');
    const closed = queue.close();
    await expect(queue.run(async () => 'late')).rejects.toMatchObject({ kind: 'unavailable' });
    await closed;
    await expect(given).resolves.toBe('done');
  });
});
