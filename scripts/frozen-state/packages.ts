/** The packages of the frozen story, and contracts created from them. */
import type { ApiClient } from '../../test/support/api-client.ts';
import { CONTRACTS, createdId } from '../../test/support/catalogue-api.ts';
import { everyTemplate, onePrepaidCommit, PACKAGES } from '../../test/support/package-terms.ts';
import { type Catalogue, fields } from './catalogue.ts';
import { type Reference, withFields } from './contracts.ts';

export interface Packages {
  readonly everything: string;
  readonly small: string;
  readonly retired: string;
  readonly contract: Reference;
}

export async function createPackages(api: ApiClient, { terms }: Catalogue): Promise<Packages> {
  const everything = await createdId(api, PACKAGES, {
    ...withFields(everyTemplate(terms), false),
    uniqueness_key: 'package-1',
    aliases: [
      { name: 'start' },
      { name: 'pro', starting_at: '2026-01-01T00:00:00Z', ending_before: '2028-01-01T00:00:00Z' },
    ],
    billing_provider: 'stripe',
    delivery_method: 'direct_to_billing_provider',
  });
  const small = await createdId(api, PACKAGES, {
    ...onePrepaidCommit(terms),
    rate_card_id: undefined,
    rate_card_alias: 'list',
    aliases: [{ name: 'start', starting_at: '2026-11-01T00:00:00Z' }],
  });
  const retired = await createdId(api, PACKAGES, { ...onePrepaidCommit(terms), name: 'Retired' });
  const customer_id = await createdId(api, '/v1/customers', {
    name: 'Packaged',
    ingest_aliases: ['packaged'],
    customer_billing_provider_configurations: [
      {
        billing_provider: 'stripe',
        delivery_method: 'direct_to_billing_provider',
        configuration: { stripe_customer_id: 'cus_2', stripe_collection_method: 'send_invoice' },
      },
    ],
  });
  const contractId = await createdId(api, CONTRACTS, {
    customer_id,
    package_alias: 'pro',
    starting_at: '2026-10-05T00:00:00Z',
    uniqueness_key: 'from-package',
    ...fields('from a package'),
  });
  await createdId(api, CONTRACTS, { customer_id, package_id: small, starting_at: '2026-11-10T00:00:00Z' });
  return { everything, small, retired, contract: { customerId: customer_id, contractId } };
}
