/** Runs of known ids, beside a map: what was accepted is found, exactly, in a run and in one that several were merged into. */
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { createDeduplicationIndex } from '../../src/metering/ingest/deduplication-index.ts';
import { findInRuns } from '../../src/metering/ingest/known-ids/find-in-runs.ts';
import { mergeOnThread } from '../../src/metering/ingest/known-ids/merge-on-thread.ts';
import { mergeRuns } from '../../src/metering/ingest/known-ids/merge-runs.ts';
import { createPageReader } from '../../src/metering/ingest/known-ids/read-on-thread.ts';
import type { Run } from '../../src/metering/ingest/known-ids/run.ts';
import { writeRun } from '../../src/metering/ingest/known-ids/spill.ts';
import { runs as timesOf } from '../support/shares-of-tests.ts';
import { createTestDirectory } from '../support/stores.ts';

const WINDOW = 10_000;
const T0 = 1_800_000_000;
const SECONDS_PER_RUN = 1_000;

// Few first and second words, so that many slots have one key and lie on several pages, and the ends of all shards.
const hash = fc.tuple(
  fc.constantFrom(0, 1, 1_023, 1_024, 0xffff_ffff),
  fc.constantFrom(0, 7, 0x8000_0000, 0xffff_ffff),
  fc.integer({ min: 0, max: 600 }),
);
const accepted = fc.record({
  hash,
  second: fc.integer({ min: 0, max: SECONDS_PER_RUN - 1 }),
  ahead: fc.constantFrom(0, 0, 0, 90, 5_400, 86_400),
});
const contents = fc.array(fc.array(accepted, { maxLength: 1_500 }), { minLength: 1, maxLength: 4 });

interface AcceptedId {
  readonly hash: readonly [number, number, number];
  readonly second: number;
  readonly ahead: number;
}

const pages = createPageReader();
afterAll(() => pages.close());

type Model = Map<string, { readonly seconds: number; readonly aheadUnits: number }>;

async function makeRun(directory: string, ids: readonly AcceptedId[], number: number) {
  const from = T0 + number * SECONDS_PER_RUN;
  const index = createDeduplicationIndex(WINDOW);
  const model: Model = new Map();
  for (const { hash: words, second, ahead } of ids) {
    const key = words.join();
    if (model.has(key)) continue;
    const seconds = from + second;
    model.set(key, { seconds, aheadUnits: ahead / 90 });
    index.add(Uint32Array.from(words), 0, { acceptedSeconds: seconds, aheadSeconds: ahead }, seconds);
  }
  const { run } = await writeRun(index, directory, { from, to: from + SECONDS_PER_RUN });
  expect(run.ids).toBe(model.size);
  return { run, model };
}

/** Looks up all of these hashes at once. */
async function expectFound(runs: readonly Run[], models: readonly Model[], keys: readonly string[]) {
  const words = Uint32Array.from(keys.flatMap((key) => key.split(',').map(Number)));
  const { acceptances, unread } = await findInRuns(runs, words, keys.length, pages);
  expect(unread.size).toBe(0);
  const order = (a: { seconds: number }, b: { seconds: number }) => a.seconds - b.seconds;
  const expected = keys.map((key) => models.flatMap((model) => model.get(key) ?? []).sort(order));
  expect(acceptances.map((found) => found.toSorted(order))).toEqual(expected);
}

it('runs of known ids find every id that was accepted and no other one, before and after they are merged', async () => {
  const directory = await createTestDirectory();
  await fc.assert(
    fc.asyncProperty(contents, fc.array(hash, { maxLength: 50 }), async (all, others) => {
      const made = [];
      for (const [number, ids] of all.entries()) made.push(await makeRun(directory, ids, number));
      const runs = made.map(({ run }) => run);
      const models = made.map(({ model }) => model);
      const keys = [...new Set([...models.flatMap((model) => [...model.keys()]), ...others.map(String)])];
      await expectFound(runs, models, keys);
      const merged = await mergeRuns(runs, directory, T0 - 1);
      expect(merged.ids).toBe(models.reduce((sum, { size }) => sum + size, 0));
      await expectFound([merged], models, keys);
      // Past the window, only ids that could still be sent again are left.
      const oldest = T0 + SECONDS_PER_RUN;
      const later = await mergeRuns(runs, directory, oldest);
      const kept = models.map(
        (model) =>
          new Map(
            [...model].filter(
              ([, { seconds, aheadUnits }]) => seconds > oldest || seconds + aheadUnits * 90 >= oldest,
            ),
          ),
      );
      await expectFound([later], kept, keys);
      for (const run of [...runs, merged, later]) await run.close();
    }),
    { numRuns: timesOf(25) },
  );
});

it('runs of known ids find every id in a run that a thread has merged, and create no run where the merge is given up', async () => {
  const directory = await createTestDirectory();
  const ids = (number: number) =>
    Array.from(
      { length: 1_000 },
      (_, i): AcceptedId => ({
        hash: [Math.imul(i + 1, 2_654_435_761) >>> 0, i * 7, number],
        ...{ second: i % SECONDS_PER_RUN, ahead: 0 },
      }),
    );
  const made = [await makeRun(directory, ids(0), 0), await makeRun(directory, ids(1), 1)];
  const runs = made.map(({ run }) => run);
  const models = made.map(({ model }) => model);
  const options = { directory, oldestSeconds: T0 - 1, idsMin: 0 };
  const merged = await mergeOnThread(runs, { ...options, signal: new AbortController().signal });
  expect(merged.ids).toBe(2_000);
  await expectFound(
    [merged],
    models,
    models.flatMap((model) => [...model.keys()]),
  );
  await expect(mergeOnThread(runs, { ...options, signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  for (const run of [...runs, merged]) await run.close();
});
