/**
 * For every schedule of faults and kills there is at most one live invoice at Stripe for each of ours, its total is equal to
 * the cent, and `external_invoice` ends equal to it: with two processes that deliver.
 */
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, test } from 'vitest';
import { startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { serviceForFile } from '../support/file-fixtures.ts';
import { runs } from '../support/shares-of-tests.ts';
import { connectedTo } from '../support/stripe/billed-customer.ts';
import { checkSchedule, createKiller, schedule } from '../support/stripe/delivery-schedules.ts';
import { startSecondWorker } from '../support/stripe/second-worker.ts';

const START = Date.UTC(2026, 2, 10);
/** As in a real service, each is longer than the one before. */
const TIMES = { timeoutMs: 150, slowMs: 250, leaseMs: 900 };
const RUNS = runs(30);

const stripe = await startStripeStandIn();
Object.assign(stripe, { slowMs: TIMES.slowMs, retryAfterSeconds: 0.02 });
const killers = [createKiller(), createKiller()] as const;
const hooks = killers.map(({ betweenSteps }) => ({ betweenSteps, leaseMs: TIMES.leaseMs }));
const connected = connectedTo(stripe);
const service = await serviceForFile({
  sandboxNow: '2026-03-10T00:00:00Z',
  stripe: { ...connected.stripe, timeoutMs: TIMES.timeoutMs },
  deliveryHooks: hooks[0],
  log: pino({ level: 'silent' }),
});
let now = START;
const second = await startSecondWorker(service, stripe, {
  clock: { now: () => now },
  timeoutMs: TIMES.timeoutMs,
  hooks: hooks[1] ?? {},
});

afterAll(async () => {
  await second.close();
  await stripe.close();
});

test('whatever fails, there is one invoice, to the cent, and it is known here', async () => {
  const world = {
    ...{ service, stripe, killers },
    async later(minutes: number) {
      const at = now + minutes * 60_000;
      await service.moveClock(at);
      now = at;
    },
  };
  await fc.assert(
    fc.asyncProperty(schedule, (drawn) => checkSchedule(world, drawn)),
    // The order of two processes is not drawn, so that a smaller case need not fail as well.
    { numRuns: RUNS, endOnFailure: true },
  );
});
