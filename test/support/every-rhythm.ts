/**
 * Contracts of every rhythm: statements by week and by quarter, months from the 15th, scheduled invoices of the first at
 * midnight, consolidated and voided ones.
 */
import type { ApiClient } from './api-client.ts';
import { createdId } from './catalogue-api.ts';
import { createHierarchy } from './hierarchies.ts';
import { completion, createScenarioCatalogue } from './scenario.ts';
import type { TestService } from './service.ts';

const DAYS = ['10-20', '11-03', '11-10', '11-17', '11-24', '12-01'].map((day) => `2026-${day}T12:00:00Z`);
/** When the clock of the service stands still. */
export const AFTER_ALL_MONTHS = '2026-12-05T00:00:00Z';

async function contract(api: ApiClient, name: string, terms: Record<string, unknown>): Promise<string> {
  const customer = await createdId(api, '/v1/customers', { name, ingest_aliases: [name] });
  await createdId(api, '/v1/contracts/create', { customer_id: customer, ...terms });
  return customer;
}

/** A contract of each rhythm, with usage day by day as time passes. Begins on 18 October. */
export async function contractsOfEveryRhythm(service: TestService): Promise<void> {
  const { api } = service;
  const { rateCardId: rate_card_id } = await createScenarioCatalogue(api);
  const fee = await createdId(api, '/v1/contract-pricing/products/create', { name: 'Fee', type: 'FIXED' });
  const by = (frequency: string, starting_at: string, day = 'CONTRACT_START') => ({
    ...{ rate_card_id, starting_at, usage_statement_schedule: { frequency, day } },
  });
  await contract(api, 'Weekly', by('WEEKLY', '2026-10-05T00:00:00Z'));
  await contract(api, 'Quarterly', by('QUARTERLY', '2026-09-01T00:00:00Z'));
  await contract(api, 'Fifteenth', by('MONTHLY', '2026-10-15T00:00:00Z'));
  const corrected = await contract(api, 'Corrected', by('MONTHLY', '2026-10-01T00:00:00Z', 'FIRST_OF_MONTH'));
  await contract(api, 'Fees', {
    ...{ rate_card_id, starting_at: '2026-10-01T00:00:00Z' },
    scheduled_charges: ['2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z'].map((timestamp) => ({
      ...{ product_id: fee, schedule: { schedule_items: [{ timestamp, amount: 12_345 }] } },
    })),
  });
  const time = { startingAt: '2026-10-01T00:00:00Z', endingBefore: '2027-10-01T00:00:00Z' };
  const { parent, children } = await createHierarchy(api, { ...time, children: { Child: {} } });
  const aliases = ['Weekly', 'Quarterly', 'Fifteenth', 'Corrected', parent.alias];
  aliases.push(...Object.values(children).map(({ alias }) => alias));
  for (const [round, at] of DAYS.entries()) {
    await service.moveClock(at);
    await api.post(
      '/v1/ingest',
      aliases.map((alias, index) =>
        completion(alias, { id: `${alias}-${round}`, at, tokens: 100_000 * (index + round + 1) }),
      ),
    );
  }
  await service.moveClock(AFTER_ALL_MONTHS);
  const query = { status: 'FINALIZED', sort: 'date_desc', limit: 2 };
  const [november, october] = (await api.get(`/v1/customers/${corrected}/invoices`, { query }))
    .list('data')
    .map((each) => (each as { readonly id: string }).id);
  for (const id of [october, november]) await api.post('/v1/invoices/void', { id });
  await api.post('/v1/invoices/regenerate', { id: october });
}
