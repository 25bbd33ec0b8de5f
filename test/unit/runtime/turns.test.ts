/** Work in turn, and its input, which is prepared ahead. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type InTurn, inTurns } from '../../../src/runtime/turns.ts';

type Fails = 'nowhere' | 'ahead' | 'at work';

interface Given {
  readonly fails: Fails;
  /** Turns of the microtask queue that pass before it is given. */
  readonly after: number;
}

const given: fc.Arbitrary<Given> = fc.record({
  fails: fc.constantFrom<Fails>('nowhere', 'nowhere', 'ahead', 'at work'),
  after: fc.nat(6),
});

test('work is done one after the other as it was given, and input is prepared for the next one only', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(given, { maxLength: 6 }), fc.scheduler(), async (all, scheduler) => {
      const inTurn = inTurns();
      const happened: string[] = [];
      const running = Promise.all(
        all.map(async ({ after, fails }, index) => {
          for (let turn = 0; turn < after; turn += 1) await Promise.resolve();
          return await outcomeOf(inTurn, `${index}`, { fails, scheduler, happened });
        }),
      );
      await scheduler.waitFor(running);
      expect(await running).toEqual(all.map(({ fails }) => fails));

      const order = happened.filter((what) => what.startsWith('give')).map(nameOf);
      const works = happened.filter((what) => what.startsWith('begin') || what.startsWith('end'));
      const worked = order.filter((name) => all[Number(name)]?.fails !== 'ahead');
      expect(works).toEqual(worked.flatMap((name) => [`begin ${name}`, `end ${name}`]));
      expect(happened.filter((what) => what.startsWith('make')).map(nameOf)).toEqual(order);
      for (const [index, name] of order.entries()) expectMadeInTime(happened, name, order[index - 1]);
    }),
  );
});

interface Play {
  readonly fails: Fails;
  readonly scheduler: fc.Scheduler;
  readonly happened: string[];
}

/** Gives work, and tells where it failed. */
async function outcomeOf(inTurn: InTurn, name: string, { fails, scheduler, happened }: Play): Promise<Fails> {
  happened.push(`give ${name}`);
  const made = { name };
  try {
    const result = await inTurn(
      async () => {
        happened.push(`make ${name}`);
        await scheduler.schedule(Promise.resolve(), `ahead ${name}`);
        happened.push(`made ${name}`);
        if (fails === 'ahead') throw new Error('ahead');
        return made;
      },
      async (own) => {
        expect(own).toBe(made);
        happened.push(`begin ${name}`);
        await scheduler.schedule(Promise.resolve(), `work ${name}`);
        happened.push(`end ${name}`);
        if (fails === 'at work') throw new Error('at work');
        return name;
      },
    );
    expect(result).toBe(name);
    return 'nowhere';
  } catch (error) {
    return (error as Error).message as Fails;
  }
}

/** Not before the work before it has begun, or could not. */
function expectMadeInTime(happened: readonly string[], name: string, before: string | undefined): void {
  if (before === undefined) return;
  const begun = happened.indexOf(`begin ${before}`);
  const after = begun === -1 ? happened.indexOf(`made ${before}`) : begun;
  expect(happened.indexOf(`make ${name}`)).toBeGreaterThan(after);
}

function nameOf(what: string): string {
  return what.split(' ')[1] ?? '';
}

test('while work is done, the input of the next one is prepared', async () => {
  const inTurn = inTurns();
  let made = () => {};
  const isMade = new Promise<void>((resolve) => {
    made = resolve;
  });
  const first = inTurn(
    async () => undefined,
    () => isMade,
  );
  const second = inTurn(
    async () => made(),
    async () => 'done',
  );
  await first;
  expect(await second).toBe('done');
});
