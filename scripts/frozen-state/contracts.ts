/** The contracts of the frozen story: every term, every statement schedule, renewals and hierarchies. */
import type { ApiClient } from '../../test/support/api-client.ts';
import { CONTRACTS, createdId } from '../../test/support/catalogue-api.ts';
import { everyTerm } from '../../test/support/contract-terms.ts';
import { type Catalogue, fields } from './catalogue.ts';

export interface Reference {
  readonly customerId: string;
  readonly contractId: string;
}

export interface Contracts {
  /** Every term of test/support; edited in every way. */
  readonly everything: Reference;
  /** Its usage is invoiced in October and November. */
  readonly usage: Reference;
  /** Archived with its invoices voided. */
  readonly voided: Reference;
  /** Its customer is archived. */
  readonly leaving: Reference;
  readonly weekly: Reference;
  readonly renewed: Reference;
  readonly renewal: Reference;
  readonly parent: Reference;
  readonly child: Reference;
  /** Amended and ended. */
  readonly amended: Reference;
  readonly retiredBillingConfiguration: string;
}

const OCTOBER = '2026-10-01T00:00:00Z';
const YEAR_END = '2027-10-01T00:00:00Z';
const year = { starting_at: OCTOBER, ending_before: YEAR_END };

export async function createContracts(api: ApiClient, catalogue: Catalogue): Promise<Contracts> {
  const usage = await usageContract(api, catalogue);
  const plain = (alias: string, terms: object = {}) =>
    contractOf(api, alias, { rate_card_id: catalogue.cards.list, starting_at: OCTOBER, ...terms });
  const { everything, retiredBillingConfiguration } = await everythingContract(api, catalogue);
  const renewed = await plain('renewed', { name: 'Old\tand "quoted" \\ ünï', ...rollingTerms(catalogue) });
  const renewal = await next(api, renewed, {
    starting_at: '2026-12-01T00:00:00Z',
    ending_before: '2027-12-01T00:00:00Z',
    transition: {
      type: 'RENEWAL',
      from_contract_id: renewed.contractId,
      future_invoice_behavior: { trueup: 'REMOVE' },
    },
    ...fields('renewal'),
  });
  const parent = await plain('parent', {
    hierarchy_configuration: { parent_behavior: { invoice_consolidation_type: 'CONCATENATE' } },
  });
  const child = await plain('child', {
    hierarchy_configuration: {
      parent: { contract_id: parent.contractId, customer_id: parent.customerId },
      payer: 'PARENT',
      usage_statement_behavior: 'CONSOLIDATE',
    },
  });
  await next(api, parent, {
    starting_at: '2026-11-05T03:00:00Z',
    usage_statement_schedule: { frequency: 'QUARTERLY', day: 'CONTRACT_START' },
  });
  return {
    everything,
    usage,
    voided: await plain('voided', {
      usage_statement_schedule: { frequency: 'MONTHLY', day: 'CONTRACT_START' },
    }),
    leaving: await plain('leaving'),
    weekly: await plain('weekly', {
      usage_statement_schedule: {
        frequency: 'WEEKLY',
        day: 'CUSTOM_DATE',
        billing_anchor_date: '2026-10-06T00:00:00Z',
        invoice_generation_starting_at: '2026-11-03T00:00:00Z',
      },
    }),
    renewed,
    renewal,
    parent,
    child,
    amended: await plain('amended', { usage_statement_schedule: { frequency: 'ANNUAL' } }),
    retiredBillingConfiguration,
  };
}

async function contractOf(api: ApiClient, alias: string, terms: object): Promise<Reference> {
  const customerId = await createdId(api, '/v1/customers', {
    name: `Customer ${alias}`,
    ingest_aliases: [alias, `${alias}-old`],
    custom_fields: { source: 'created', account: alias },
  });
  const contractId = await createdId(api, CONTRACTS, { customer_id: customerId, ...terms, ...fields(alias) });
  return { customerId, contractId };
}

/** Another contract of the same customer. */
async function next(api: ApiClient, of: Reference, terms: object): Promise<Reference> {
  const contractId = await createdId(api, CONTRACTS, { customer_id: of.customerId, ...terms });
  return { customerId: of.customerId, contractId };
}

async function everythingContract(api: ApiClient, { terms }: Catalogue) {
  const alias = 'everything';
  const customerId = await createdId(api, '/v1/customers', {
    name: alias,
    external_id: alias,
    customer_billing_provider_configurations: [
      {
        billing_provider: 'stripe',
        delivery_method: 'direct_to_billing_provider',
        tax_provider: 'anrok',
        configuration: {
          stripe_customer_id: 'cus_1',
          stripe_collection_method: 'auto_charge_payment_intent',
        },
      },
    ],
    custom_fields: { source: 'created', account: alias },
  });
  await api.post(`/v1/customers/${customerId}/setName`, { name: 'Everything Inc.' });
  await api.post(`/v1/customers/${customerId}/updateConfig`, { crm_account_id: 'crm-1' });
  await api.post(`/v1/customers/${customerId}/setIngestAliases`, { ingest_aliases: [alias, 'everything-2'] });
  const added = await api.post('/v1/setCustomerBillingProviderConfigurations', {
    data: [
      {
        customer_id: customerId,
        billing_provider: 'netsuite',
        delivery_method: 'direct_to_billing_provider',
        configuration: { netsuite_customer_id: 'n-1' },
      },
    ],
  });
  const configurations = await api.post('/v1/getCustomerBillingProviderConfigurations', {
    customer_id: customerId,
  });
  const contractId = await createdId(api, CONTRACTS, {
    ...withFields(everyTerm(terms, customerId)),
    uniqueness_key: 'everything-1',
    billing_provider_configuration: { billing_provider_configuration_id: configurations.text('data[0].id') },
  });
  const everything = { customerId, contractId };
  await addLaterPurchase(api, everything);
  return {
    everything,
    retiredBillingConfiguration: added.text('data[0].id'),
  };
}

/** A purchase on a date that the story does not reach: what is on an issued invoice cannot be edited. */
async function addLaterPurchase(api: ApiClient, { customerId, contractId }: Reference): Promise<void> {
  const contract = { customer_id: customerId, contract_id: contractId };
  const before = await api.post('/v2/contracts/get', contract);
  await api.post('/v2/contracts/edit', {
    ...contract,
    update_commits: [
      {
        commit_id: before.text('data.commits[0].id'),
        invoice_schedule: {
          add_schedule_items: [{ timestamp: '2027-03-01T00:00:00Z', unit_price: 10, quantity: 2 }],
        },
      },
    ],
  });
}

const LISTS_WITH_FIELDS = ['commits', 'credits', 'scheduled_charges', 'subscriptions'];

/** Adds custom fields to a contract, or a package's templates, and to each of its terms that can have them. */
export function withFields(body: Record<string, unknown>, own = true): Record<string, unknown> {
  const terms = LISTS_WITH_FIELDS.map((list): [string, unknown] => {
    const items = body[list];
    return [
      list,
      Array.isArray(items)
        ? items.map((item, index) => ({ ...item, ...fields(`${list} ${index}`) }))
        : undefined,
    ];
  });
  return { ...body, ...Object.fromEntries(terms), ...(own ? fields('created') : {}) };
}

/** Terms that roll over at a renewal, and terms that add lines to invoices without usage. */
function rollingTerms({ products }: Catalogue) {
  return {
    commits: [
      {
        type: 'PREPAID',
        name: 'Rolls over',
        product_id: products.fee,
        priority: 7,
        rollover_fraction: 0.5,
        access_schedule: {
          schedule_items: [
            { amount: 100, starting_at: OCTOBER, ending_before: '2026-12-01T00:00:00Z' },
            { amount: 50.25, starting_at: '2026-12-01T00:00:00Z', ending_before: YEAR_END },
          ],
        },
      },
    ],
    recurring_commits: [
      {
        product_id: products.fee,
        name: 'Monthly',
        access_amount: {
          unit_price: 100,
          quantity: 1,
          credit_type_id: '2714e483-4ff1-48e4-9e25-ac732e8f24f2',
        },
        priority: 1,
        starting_at: OCTOBER,
        commit_duration: { value: 1, unit: 'PERIODS' },
        recurrence_frequency: 'MONTHLY',
        rollover_fraction: 0.25,
      },
    ],
  };
}

/** Overrides of every type that prices usage, so that finalized invoices keep them. */
async function usageContract(api: ApiClient, { products, coins }: Catalogue): Promise<Reference> {
  const november = '2026-11-01T00:00:00Z';
  return contractOf(api, 'usage', {
    rate_card_alias: 'list',
    name: 'Usage',
    ...year,
    net_payment_terms_days: 14,
    spend_limit: { amount: 12.5 },
    multiplier_override_prioritization: 'EXPLICIT',
    overrides: [
      {
        starting_at: OCTOBER,
        type: 'MULTIPLIER',
        multiplier: 0.9,
        priority: 1,
        applicable_product_tags: ['ai'],
      },
      {
        starting_at: OCTOBER,
        type: 'TIERED',
        priority: 2,
        tiers: [{ size: 1, multiplier: 0.5 }, { multiplier: 0.75 }],
        override_specifiers: [{ product_id: products.tokens, pricing_group_values: { model: 'large' } }],
      },
      {
        starting_at: '2026-11-02T12:00:00Z',
        ending_before: '2026-11-25T00:00:00Z',
        type: 'OVERWRITE',
        overwrite_rate: { rate_type: 'FLAT', price: 3.5 },
        override_specifiers: [{ product_id: products.tokens, pricing_group_values: { model: 'small' } }],
      },
      {
        starting_at: november,
        type: 'OVERWRITE',
        overwrite_rate: {
          rate_type: 'TIERED',
          credit_type_id: coins,
          tiers: [{ size: 2, price: 9 }, { price: 8 }],
        },
        product_id: products.coins,
      },
      { starting_at: november, entitled: true, product_id: products.peak },
      {
        starting_at: november,
        type: 'MULTIPLIER',
        multiplier: 1.5,
        priority: 3,
        override_specifiers: [{ product_id: products.coins, presentation_group_values: { model: 'small' } }],
      },
      {
        starting_at: OCTOBER,
        type: 'OVERWRITE',
        overwrite_rate: { rate_type: 'SUBSCRIPTION', price: 1500, quantity: 3, is_prorated: true },
        override_specifiers: [{ product_id: products.plan, billing_frequency: 'ANNUAL' }],
      },
      {
        starting_at: OCTOBER,
        type: 'OVERWRITE',
        overwrite_rate: { rate_type: 'PERCENTAGE', price: 0.07, minimum_config: { minimum: 10 } },
        product_id: products.support,
      },
    ],
    usage_statement_schedule: { frequency: 'MONTHLY', day: 'FIRST_OF_MONTH' },
  });
}
