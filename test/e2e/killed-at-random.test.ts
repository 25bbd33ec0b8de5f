/**
 * The service on its embedded stores under a mixed load (usage, holds, recharges, invoices, deliveries to Stripe,
 * webhooks) is killed again and again, each time at another moment. After every start all is so that was answered, and
 * once the rest is asked for again, everything is so once and to the cent.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { startStripeStandIn } from '../../src/demo/stripe/stand-in.ts';
import { runningPostgres } from '../../src/embedded/postgres.ts';
import { connectPostgres } from '../../src/store/postgres-driver/connect-postgres.ts';
import { type BillingProcess, moveClock, startBillingProcess } from '../support/billing-process.ts';
import { type Actor, beginOf, issueOf, type Life } from '../support/crash/actor.ts';
import { HoldingCustomer } from '../support/crash/holding-customer.ts';
import { drawnKills, type Kill, MOMENTS, type Moment } from '../support/crash/kills.ts';
import { MeteredCustomers, stripeEnvironment } from '../support/crash/metered-customers.ts';
import { RechargedCustomer } from '../support/crash/recharged-customer.ts';
import { WebhookMessages } from '../support/crash/webhook-messages.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { createTokenCard } from '../support/held-customer.ts';
import { runs } from '../support/shares-of-tests.ts';

/** Each kind of moment, and credits of holds end after a year. */
const LIVES = Math.max(MOMENTS.length, runs(12));
/** Usage of the month has begun by then, so that invoices are issued beside it. */
const CLOCK_MOVES_AFTER_MS = 200;

let running: BillingProcess | null = null;
afterEach(() => running?.kill());

test('nothing acknowledged is lost, and nothing is counted, billed, collected or reported twice, whenever the service is killed', async () => {
  const directory = await createDataDirectory();
  const stripe = await startStripeStandIn();
  const messages = await WebhookMessages.start();
  const env = { ...stripeEnvironment(stripe), WEBHOOK_ALLOW_PRIVATE: '1' };
  const start = async () => {
    running = await startBillingProcess(null, directory, beginOf(0), env);
    return running;
  };
  let service = await start();
  const catalogue = await createTokenCard(service);
  const metered = new MeteredCustomers(stripe);
  const recharged = new RechargedCustomer(catalogue);
  const holding = new HoldingCustomer(catalogue);
  await messages.create(service);
  await metered.create(service, '2026-11-01T00:00:00Z');
  await recharged.create(service, '2026-11-01T00:00:00Z');
  const actors: Actor[] = [messages, metered, recharged, holding];
  let struck = 0;

  for (const [month, kill] of drawnKills(LIVES).entries()) {
    await moveClock(service, beginOf(month));
    await holding.begin(service);
    const killing = killOf(service, kill);
    stripe.misbehave = () => (killing.strike('request to Stripe') ? kill.fault : null);
    const life: Life = { service, month, strike: killing.strike };
    await Promise.all([...actors.map((actor) => actor.act(life)), moveClockUntilKilled(life, kill)]);
    struck += killing.hasStruck() ? 1 : 0;
    await service.kill();
    stripe.misbehave = () => null;

    service = await start();
    await endLeases(directory);
    const next: Life = { service, month, strike: () => false };
    expect((await service.call('/readyz')).status).toBe(200);
    for (const actor of actors) await actor.expectKept(next);
    for (const actor of actors) await actor.repeat(next);
    // Evaluates all usage, issues the invoices of the month before, and delivers them.
    await moveClock(service, issueOf(month));
    for (const actor of actors) await actor.expectExact(next);
  }
  // A moment may not come before the load ends.
  expect(struck).toBeGreaterThan(LIVES / 2);
  await stripe.close();
  await messages.receiver.close();
});

/** `strike` counts moments, and returns true at the one at which the process is killed. */
function killOf({ program }: BillingProcess, { at, count }: Kill) {
  let counted = 0;
  return {
    hasStruck: () => counted >= count,
    strike(moment: Moment): boolean {
      if (moment !== at) return false;
      counted += 1;
      if (counted !== count) return false;
      program.child.kill('SIGKILL');
      return true;
    },
  };
}

/** Issues the invoices of the month before, beside the usage of this one. */
async function moveClockUntilKilled(life: Life, { afterMs }: Kill): Promise<void> {
  await pause(CLOCK_MOVES_AFTER_MS);
  const moved = moveClock(life.service, issueOf(life.month)).catch(() => undefined);
  await Promise.race([moved, pause(afterMs)]);
  life.strike('clock moves');
  await moved;
}

/** As if the time of the leases of the killed process had passed. */
async function endLeases(directory: string): Promise<void> {
  const connection = await runningPostgres(`${directory}/postgres`);
  if (connection === null) throw new Error('the PostgreSQL of the service is running');
  const client = connectPostgres(connection, { max: 1 });
  await client`update webhook_endpoints set lease_until = clock_timestamp() where lease_until is not null`;
  await client`update invoice_deliveries set lease_until = clock_timestamp() where lease_until is not null`;
  await client.end();
}
