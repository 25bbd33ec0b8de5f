/**
 * The story that a frozen state tells: one of everything that can be stored, created through the HTTP interface.
 * Its dates are fixed; its ids are random.
 */
import type { ApiClient } from '../../test/support/api-client.ts';
import { createBalances } from './balances.ts';
import { type Catalogue, createCatalogue, fields } from './catalogue.ts';
import { type Contracts, createContracts } from './contracts.ts';
import { amendAndEnd, editEverything } from './edits.ts';
import { createPackages, type Packages } from './packages.ts';
import { DECEMBER_EVENTS, LATE_EVENTS, NOVEMBER_EVENTS, OCTOBER_EVENTS } from './usage.ts';

export const STORY_BEGINS = '2026-10-20T10:00:00.000Z';
export const STORY_ENDS = '2026-12-10T06:30:00.000Z';

export interface Story {
  readonly catalogue: Catalogue;
  readonly contracts: Contracts;
  readonly packages: Packages;
}

export async function tellStory(api: ApiClient): Promise<Story> {
  const moveClock = (now: string) => api.post('/v1/sandbox/clock', { now });
  const catalogue = await createCatalogue(api);
  const contracts = await createContracts(api, catalogue);
  const packages = await createPackages(api, catalogue);
  await createBalances(api, catalogue, contracts.usage);
  await api.post('/v1/ingest', OCTOBER_EVENTS);
  await moveClock('2026-11-03T00:00:00Z');
  await api.post('/v1/ingest', LATE_EVENTS);
  await api.post('/v1/ingest', NOVEMBER_EVENTS);
  await moveClock('2026-11-15T09:00:00Z');
  await editEverything(api, catalogue, contracts);
  await amendAndEnd(api, catalogue, contracts);
  await nameTheDraft(api, contracts.usage.customerId);
  await moveClock('2026-12-05T00:00:00Z');
  await api.post('/v1/ingest', DECEMBER_EVENTS);
  await archive(api, catalogue, contracts, packages);
  await moveClock(STORY_ENDS);
  return { catalogue, contracts, packages };
}

/** Its fields are kept with it when it is finalized. */
async function nameTheDraft(api: ApiClient, customer: string): Promise<void> {
  const drafts = await api.get(`/v1/customers/${customer}/invoices`, { query: { status: 'DRAFT' } });
  await api.post('/v1/customFields/setValues', {
    entity: 'invoice',
    entity_id: drafts.text('data[0].id'),
    ...fields('set while a draft'),
  });
}

/** One of each kind is archived, and invoices are voided on the way. */
async function archive(
  api: ApiClient,
  catalogue: Catalogue,
  contracts: Contracts,
  packages: Packages,
): Promise<void> {
  const { voided, leaving } = contracts;
  await api.post('/v1/contracts/archive', {
    customer_id: voided.customerId,
    contract_id: voided.contractId,
    void_invoices: true,
  });
  await api.post('/v1/customers/archive', { id: leaving.customerId });
  await api.post('/v1/contract-pricing/products/archive', { product_id: catalogue.products.retired });
  await api.post('/v1/contract-pricing/rate-cards/archive', { id: catalogue.cards.retired });
  await api.post('/v1/billable-metrics/archive', { id: catalogue.metrics.retired });
  await api.post('/v1/packages/archive', { package_id: packages.retired });
  await api.post('/v1/archiveCustomerBillingProviderConfigurations', {
    customer_id: contracts.everything.customerId,
    customer_billing_provider_configuration_ids: [contracts.retiredBillingConfiguration],
  });
  await api.post('/v1/customFields/removeKey', { entity: 'contract', key: 'withdrawn' });
  await api.post('/v1/customFields/deleteValues', {
    entity: 'customer',
    entity_id: contracts.everything.customerId,
    keys: ['source'],
  });
}
