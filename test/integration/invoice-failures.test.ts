/** An invoice that cannot be issued delays only its own contract. */
import { sql } from 'drizzle-orm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CONTRACTS, createdId } from '../support/catalogue-api.ts';
import { createScenario, type Scenario } from '../support/scenario.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let scenario: Scenario;
let poisoned: string;

beforeEach(async () => {
  service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  scenario = await createScenario(service.api, { alias: 'ada' });
  poisoned = await createdId(service.api, CONTRACTS, {
    customer_id: scenario.customerId,
    rate_card_id: scenario.rateCardId,
    starting_at: '2026-11-01T00:00:00Z',
  });
  const refused = sql.raw(`check (contract_id <> '${poisoned}') not valid`);
  await service.db.execute(sql`alter table invoices add constraint refused ${refused}`);
});
afterEach(() => service.close());

/** The finalized periods of the contract by their starts, as they were issued. */
async function issued(contractId: string): Promise<string[]> {
  const invoices = await service.api.get(`/v1/customers/${scenario.customerId}/invoices`, {
    query: { status: 'FINALIZED', sort: 'date_asc' },
  });
  return invoices
    .list('data')
    .flatMap((_, index) =>
      invoices.text(`data[${index}].contract_id`) === contractId
        ? [invoices.text(`data[${index}].start_timestamp`).slice(0, 7)]
        : [],
    );
}

test('costs no other contract an invoice, stops no clock, and is issued in order when it can be', async () => {
  await service.moveClock('2027-02-10T00:00:00Z');
  expect(await issued(scenario.contractId)).toEqual(['2026-11', '2026-12', '2027-01']);
  expect(await issued(poisoned)).toEqual([]);
  await service.db.execute(sql`alter table invoices drop constraint refused`);
  await service.moveClock('2027-02-11T00:00:00Z');
  expect(await issued(poisoned)).toEqual(['2026-11', '2026-12', '2027-01']);
  expect(await issued(scenario.contractId)).toHaveLength(3);
});

test('an invoice that fails is counted in the metrics', async () => {
  await service.moveClock('2027-02-10T00:00:00Z');
  const answer = await fetch(`${service.url}/metrics`);
  expect(await answer.text()).toMatch(
    /^tallyhouse_jobs_failed_total\{kind="finalize_usage_invoice"\} [1-9]/m,
  );
});
