import { expect, test } from 'vitest';
import { hashText } from '../../../../src/core/byte-hash.ts';
import { createEvaluationQueue } from '../../../../src/jobs/evaluations/evaluation-queue.ts';
import { WHEN_THERE_IS_TIME } from '../../../../src/jobs/evaluations/waiting-customers.ts';
import { createWatchList } from '../../../../src/jobs/evaluations/watch-list.ts';

/** Evaluations that last until the test ends them. */
function recorder() {
  const begun: string[][] = [];
  const ends: (() => void)[] = [];
  return {
    begun,
    end: () => ends.shift()?.(),
    evaluator: {
      name: 'recorder',
      watched: async () => [],
      async evaluate(ids: readonly string[]) {
        begun.push([...ids]);
        await new Promise<void>((resolve) => ends.push(resolve));
        return [];
      },
    },
  };
}

test('a customer that is marked several times is evaluated once, and never twice at the same time', async () => {
  const { begun, end, evaluator } = recorder();
  const queue = createEvaluationQueue({ evaluators: [evaluator], onFailure: () => undefined });
  queue.mark(['a', 'b', 'a']);
  const first = queue.runBatch();
  expect(begun).toEqual([['a', 'b']]);
  queue.mark(['a', 'c']);
  const second = queue.runBatch();
  expect(begun).toEqual([['a', 'b'], ['c']]);
  end();
  await first;
  const third = queue.runBatch();
  expect(begun[2]).toEqual(['a']);
  end();
  end();
  expect(await Promise.all([second, third])).toEqual(['urgent', 'urgent']);
  expect(await queue.runBatch()).toBeNull();
});

test('an evaluation that fails because the service ends is not tried again', async () => {
  const failed: string[] = [];
  let isEnding = false;
  let evaluations = 0;
  const evaluator = {
    name: 'ending',
    watched: async () => [],
    async evaluate() {
      evaluations += 1;
      isEnding = evaluations === 2;
      throw new Error('the stores are closing');
    },
  };
  const onFailure = (id: string) => failed.push(id);
  const queue = createEvaluationQueue({ evaluators: [evaluator], onFailure, isEnding: () => isEnding });
  queue.mark(['a', 'b', 'c']);
  expect(await queue.runBatch()).toBe('urgent');
  expect({ evaluations, failed }).toEqual({ evaluations: 2, failed: [] });
});

test('a customer whose evaluation fails fails alone', async () => {
  const failed: string[] = [];
  const done: string[] = [];
  const evaluator = {
    name: 'failing',
    watched: async () => [],
    async evaluate(ids: readonly string[]) {
      if (ids.includes('bad')) throw new Error('cannot be read');
      done.push(...ids);
      return [];
    },
  };
  const queue = createEvaluationQueue({ evaluators: [evaluator], onFailure: (id) => failed.push(id) });
  queue.mark(['a', 'bad', 'b']);
  expect(await queue.runBatch()).toBe('urgent');
  expect({ failed, done }).toEqual({ failed: ['bad'], done: ['a', 'b'] });
  expect(queue.figures()).toEqual({ waiting: 0, evaluated: 2, failed: 1 });
});

test('an evaluator that fails stops none of the others', async () => {
  const failed: string[] = [];
  const done: string[] = [];
  const failing = {
    name: 'failing',
    watched: async () => [],
    evaluate: () => Promise.reject(new Error('cannot be read')),
  };
  const working = {
    name: 'working',
    watched: async () => [],
    async evaluate(ids: readonly string[]) {
      done.push(ids.join());
      return [];
    },
  };
  const evaluators = [failing, working];
  const queue = createEvaluationQueue({ evaluators, onFailure: (id) => failed.push(id) });
  queue.mark(['a', 'b']);
  expect(await queue.runBatch()).toBe('urgent');
  // Together, and one by one, because one of them may be at fault alone.
  expect({ failed, done }).toEqual({ failed: ['a', 'b'], done: ['a,b', 'a', 'b'] });
});

test('urgent customers do not wait for calm ones, and a calm one that becomes urgent is evaluated once', async () => {
  const { begun, end, evaluator } = recorder();
  const queue = createEvaluationQueue({ evaluators: [evaluator], onFailure: () => undefined });
  queue.mark(['a', 'b', 'c'], 1_000_000);
  queue.mark(['b']);
  queue.mark(['b'], 1_000_000);
  expect(queue.figures().waiting).toBe(3);
  for (const run of [queue.runBatch(), queue.runBatch('calm')]) {
    end();
    await run;
  }
  expect(begun).toEqual([['b'], ['a', 'c']]);
  expect(await queue.runBatch('urgent')).toBeNull();
});

test('a calm customer that is due does not wait for the others, and takes no place of urgent ones', async () => {
  const { begun, end, evaluator } = recorder();
  let now = 0;
  const queue = createEvaluationQueue({
    evaluators: [evaluator],
    onFailure: () => undefined,
    elapsedMs: () => now,
  });
  const nextBatch = async () => {
    const run = queue.runBatch('urgent', 'due');
    end();
    return run;
  };
  queue.mark(['later', 'never'], WHEN_THERE_IS_TIME);
  queue.mark(['soon', 'later'], 1_000);
  // The earlier time holds.
  queue.mark(['soon'], 200);
  queue.mark(['soon'], 5_000);
  now = 199;
  expect(await nextBatch()).toBeNull();
  now = 200;
  queue.mark(['urgent']);
  expect([await nextBatch(), await nextBatch(), await nextBatch()]).toEqual(['urgent', 'due', null]);
  now = 1_000;
  expect(await nextBatch()).toBe('due');
  expect(begun).toEqual([['urgent'], ['soon'], ['later']]);
  expect(queue.figures().waiting).toBe(1);
});

test('a customer that is due while it is evaluated is evaluated again afterwards', async () => {
  const { begun, end, evaluator } = recorder();
  let now = 0;
  const queue = createEvaluationQueue({
    evaluators: [evaluator],
    onFailure: () => undefined,
    elapsedMs: () => now,
  });
  queue.mark(['a']);
  const first = queue.runBatch('urgent');
  queue.mark(['a'], 100);
  now = 100;
  expect(await queue.runBatch('due')).toBeNull();
  end();
  await first;
  const second = queue.runBatch('due');
  end();
  expect(await second).toBe('due');
  expect(begun).toEqual([['a'], ['a']]);
});

test('an alias is found at its present customer, also when it moves', () => {
  const list = createWatchList();
  const watched = (id: string, ...refs: string[]) => ({
    ...{ id, refs, evaluators: new Set(['one']), meters: [] },
    mark: () => undefined,
  });
  list.replace([], [watched('a', 'a', 'shared'), watched('b', 'b')]);
  list.replace(['b'], [watched('b', 'b', 'shared')]);
  list.replace(['a'], []);
  const found = (ref: string) => list.customersOf(hashText(ref)).map(({ id }) => id);
  expect(['a', 'b', 'shared', 'unknown'].map(found)).toEqual([[], ['b'], ['b'], []]);
  expect(['one', 'other'].map((name) => list.isWatchedBy('b', name))).toEqual([true, false]);
  expect(list.isWatchedBy('a', 'one')).toBe(false);
  expect([...list.customerIds()]).toEqual(['b']);
});
