/**
 * Two processes are asked about holds of one customer, many requests at once, round after round, and one of them is
 * killed in each: nothing is granted beyond what there is, and every event counts once.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BillingProcess } from '../support/billing-process.ts';
import { createTokenCard, HELD_EXPIRY, HELD_NOW } from '../support/held-customer.ts';
import { anyBeside, type Beside, HoldRounds, roundOfSteps } from '../support/hold-rounds.ts';
import { createSharedStores, type SharedStores } from '../support/shared-stores.ts';

const ROUNDS = 30;

let stores: SharedStores;
beforeAll(async () => {
  stores = await createSharedStores(HELD_NOW);
});
afterAll(() => stores.close());

/** Balances expire in the middle. */
function besideOf(round: number): Beside {
  if (round === ROUNDS / 2) return { kind: 'clock', now: HELD_EXPIRY };
  return round % 5 === 4 ? { kind: 'top-up', amount: 400, expires: false } : anyBeside();
}

test(`after ${ROUNDS} kills nothing is held or used beyond what there is, and every event counts once`, async () => {
  const survivor = await stores.start('survivor');
  const rounds = await HoldRounds.create(survivor, await createTokenCard(survivor));
  for (let round = 0; round < ROUNDS; round += 1) {
    const victim = await stores.start('victim');
    let alive: readonly BillingProcess[] = [survivor, victim];
    const steps = roundOfSteps();
    // After some answers of the round, a different number each time.
    let answers = 0;
    const counted = (service: BillingProcess): BillingProcess => ({
      ...service,
      async call(...request) {
        const answer = await service.call(...request);
        answers += 1;
        if (answers === 2 + (round % steps.length)) {
          alive = [survivor];
          victim.program.child.kill('SIGKILL');
        }
        return answer;
      },
    });
    await rounds.round(steps, () => alive.map(counted), besideOf(round));
    await victim.kill();
  }
  await rounds.end(survivor);
  expect(survivor.program.child.exitCode).toBe(null);
}, 1_200_000);
