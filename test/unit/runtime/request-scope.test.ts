/** Values of a request (src/runtime/request-scope.ts). */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createScopeKey } from '../../../src/runtime/request-scope.ts';

describe('the scope of a request', () => {
  it('a value of a scope is seen by everything that its work awaits, and by nothing beside it', async () => {
    const [unit, memory] = [createScopeKey<string>('unit'), createScopeKey<string>('memory')];
    const seen = async () => {
      await setImmediate();
      return [unit.get(), memory.get()];
    };
    const inside = unit.run('a', () => memory.run('b', seen));
    const beside = memory.run('c', seen);
    expect(await seen()).toEqual([undefined, undefined]);
    expect(await inside).toEqual(['a', 'b']);
    expect(await beside).toEqual([undefined, 'c']);
    expect(await unit.run('a', () => unit.run('d', seen))).toEqual(['d', undefined]);
  });

  it('two keys of one name are two keys', () => {
    const [one, other] = [createScopeKey<number>('same'), createScopeKey<number>('same')];
    expect(one.run(1, () => [one.get(), other.get()])).toEqual([1, undefined]);
  });
});
