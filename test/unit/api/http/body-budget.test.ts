import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BodyShare, createBodyBudget } from '../../../../src/api/http/body-budget.ts';
import { Refusal } from '../../../../src/core/errors.ts';

const BYTES_MAX = 100;

describe('the budget of bodies', () => {
  it('the budget of bodies refuses the body that has been arriving for the longest', () => {
    const budget = createBodyBudget(BYTES_MAX);
    const refused: string[] = [];
    const open = (name: string, bytes: number) => {
      const share = budget.open(() => refused.push(name));
      share.take(bytes);
      return share;
    };
    open('a', 40);
    open('b', 40);
    open('c', 30);
    expect([refused, budget.held()]).toEqual([['a'], 70]);
  });

  it('the budget of bodies does not refuse a body that has arrived; without room the new one is refused', () => {
    const budget = createBodyBudget(BYTES_MAX);
    const whole = budget.open(() => expect.unreachable());
    whole.take(90);
    whole.complete();
    expect(() => budget.open(() => {}).take(20)).toThrow(Refusal);
    whole.release();
    expect(budget.held()).toBe(0);
  });

  it('the budget of bodies never holds more than its size, and exactly what its shares hold', () => {
    const step = fc.record({
      body: fc.nat(7),
      does: fc.constantFrom('take', 'take', 'take', 'complete', 'release'),
      bytes: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = createBodyBudget(BYTES_MAX);
        const bodies = new Map<number, { share: BodyShare; bytes: number }>();
        const shareOf = (name: number) => {
          const known = bodies.get(name);
          if (known !== undefined) return known;
          const opened = { share: budget.open(() => bodies.delete(name)), bytes: 0 };
          bodies.set(name, opened);
          return opened;
        };
        for (const { body, does, bytes } of steps) {
          const one = shareOf(body);
          if (does === 'complete') one.share.complete();
          else if (does === 'release') {
            one.share.release();
            bodies.delete(body);
          } else {
            try {
              one.share.take(bytes);
              one.bytes += bytes;
            } catch {
              one.share.release();
              bodies.delete(body);
            }
          }
          const held = [...bodies.values()].reduce((sum, other) => sum + other.bytes, 0);
          expect(budget.held()).toBe(held);
          expect(held).toBeLessThanOrEqual(BYTES_MAX);
        }
      }),
    );
  });
});
