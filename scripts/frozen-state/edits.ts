/** Every kind of change that a contract of the frozen story goes through. */
import { USD_CENTS } from '../../src/core/credit-types.ts';
import type { ApiAnswer, ApiClient } from '../../test/support/api-client.ts';
import { everyTerm } from '../../test/support/contract-terms.ts';
import { type Catalogue, fields } from './catalogue.ts';
import { type Contracts, type Reference, withFields } from './contracts.ts';

const YEAR_END = '2027-10-01T00:00:00.000Z';

const reference = ({ customerId, contractId }: Reference) => ({
  customer_id: customerId,
  contract_id: contractId,
});

/** Additions, patches, removals and the header, each in separate edits, as people make them. */
export async function editEverything(
  api: ApiClient,
  { terms }: Catalogue,
  { everything }: Contracts,
): Promise<void> {
  const edit = (changes: object) => api.post('/v2/contracts/edit', { ...reference(everything), ...changes });
  const read = () => api.post('/v2/contracts/get', reference(everything));
  const before = await read();
  await edit({ ...additionsTo(before, terms), uniqueness_key: 'edit-1' });
  await edit(patchesOfBalances(before, terms));
  await edit(patchesOfTheRest(before, terms));
  await edit({
    update_recurring_commits: [
      {
        recurring_commit_id: before.text('data.recurring_commits[0].id'),
        ending_before: null,
        proration_rounding: null,
      },
    ],
    update_prepaid_balance_threshold_configuration: { discount_configuration: null },
  });
  await edit({
    update_contract_name: 'Renamed',
    update_net_payment_terms_days: 45,
    update_contract_end_date: '2027-09-01T00:00:00Z',
    allow_contract_ending_before_finalized_invoice: false,
  });
  await remove(edit, await read());
}

function additionsTo(before: ApiAnswer, terms: Catalogue['terms']) {
  const all = withFields(everyTerm(terms, ''), false);
  const list = (name: string): unknown[] => (Array.isArray(all[name]) ? all[name] : []);
  const { fee, tokens } = terms;
  const segment = { amount: 1, starting_at: '2026-10-01T00:00:00Z', ending_before: YEAR_END };
  return {
    add_commits: [
      {
        type: 'PREPAID',
        product_id: fee,
        access_schedule: { schedule_items: [segment] },
        invoice_schedule: { schedule_items: [{ timestamp: segment.starting_at, amount: 1 }] },
        payment_gate_config: { payment_gate_type: 'EXTERNAL' },
        temporary_id: 'gated',
        ...fields('added by an edit'),
      },
      // Archived before anything draws on it.
      {
        type: 'POSTPAID',
        product_id: fee,
        access_schedule: {
          schedule_items: [{ amount: 9, starting_at: '2027-02-01T00:00:00Z', ending_before: YEAR_END }],
        },
        invoice_schedule: { schedule_items: [{ timestamp: YEAR_END, amount: 9 }] },
      },
    ],
    add_credits: list('credits'),
    add_recurring_commits: list('recurring_commits').map((one) => ({
      ...Object(one),
      temporary_id: 'another',
    })),
    add_recurring_credits: [
      {
        product_id: fee,
        access_amount: { unit_price: 5, credit_type_id: USD_CENTS.id },
        priority: 1,
        starting_at: segment.starting_at,
        commit_duration: { value: 1 },
        subscription_config: {
          subscription_id: before.text('data.subscriptions[0].id'),
          apply_seat_increase_config: { is_prorated: false },
        },
      },
    ],
    add_overrides: [
      {
        starting_at: segment.starting_at,
        type: 'MULTIPLIER',
        multiplier: 0.1,
        priority: 9,
        is_commit_specific: true,
        override_specifiers: [
          { product_id: tokens, commit_ids: [before.text('data.commits[0].id'), 'gated'] },
        ],
      },
    ],
    add_scheduled_charges: [
      {
        product_id: fee,
        schedule: {
          recurring_schedule: {
            starting_at: '2026-12-01T00:00:00Z',
            ending_before: '2026-12-15T00:00:00Z',
            frequency: 'WEEKLY',
            amount: 7,
            amount_distribution: 'EACH',
          },
        },
      },
    ],
    add_subscriptions: list('subscriptions'),
    add_spend_trackers: [{ ...Object(list('spend_trackers')[0]), alias: 'second' }],
  };
}

function patchesOfBalances(before: ApiAnswer, { models, tokens, fee }: Catalogue['terms']) {
  const at = (path: string) => before.text(`data.${path}.id`);
  return {
    update_commits: [
      {
        commit_id: at('commits[0]'),
        name: 'Renamed',
        description: 'Changed',
        rollover_fraction: 0.5,
        applicable_product_ids: [models],
        applicable_product_tags: null,
        product_id: fee,
        hierarchy_configuration: { child_access: { type: 'NONE' } },
        priority: 2.5,
        rate_type: 'LIST_RATE',
        access_schedule: {
          add_schedule_items: [{ amount: 5, starting_at: YEAR_END, ending_before: '2028-01-01T00:00:00Z' }],
          update_schedule_items: [
            {
              id: at('commits[0].access_schedule.schedule_items[0]'),
              amount: 7.25,
              ending_before: '2027-06-01T00:00:00Z',
            },
          ],
        },
        invoice_schedule: {
          add_schedule_items: [{ timestamp: '2026-09-30T00:00:00Z', unit_price: 3, quantity: 4 }],
          update_schedule_items: [{ id: at('commits[0].invoice_schedule.schedule_items[1]'), quantity: 3 }],
        },
      },
      {
        commit_id: at('commits[1]'),
        access_schedule: {
          update_schedule_items: [{ id: at('commits[1].access_schedule.schedule_items[0]'), amount: 60_000 }],
        },
        invoice_schedule: {
          update_schedule_items: [
            { id: at('commits[1].invoice_schedule.schedule_items[0]'), amount: 60_000 },
          ],
        },
      },
    ],
    update_credits: [
      { credit_id: at('credits[0]'), specifiers: null, applicable_product_ids: [tokens], priority: null },
    ],
    update_recurring_commits: [
      {
        recurring_commit_id: at('recurring_commits[0]'),
        access_amount: { unit_price: 11, quantity: 2 },
        invoice_amount: { quantity: 2 },
        ending_before: '2027-05-01T00:00:00Z',
        rate_type: 'COMMIT_RATE',
        proration_rounding: { access: null, invoice: { rounding_method: 'CEILING', decimal_places: 1 } },
      },
    ],
    update_recurring_credits: [
      {
        recurring_credit_id: at('recurring_credits[0]'),
        access_amount: { unit_price: 2 },
        proration_rounding: { access: { rounding_method: 'FLOOR', decimal_places: 2 } },
      },
    ],
  };
}

function patchesOfTheRest(before: ApiAnswer, { tokens }: Catalogue['terms']) {
  const at = (path: string) => before.text(`data.${path}.id`);
  const charge = (index: number) => at(`scheduled_charges[0].schedule.schedule_items[${index}]`);
  return {
    update_scheduled_charges: [
      {
        scheduled_charge_id: at('scheduled_charges[0]'),
        name: 'Renamed',
        invoice_schedule: {
          remove_schedule_items: [{ id: charge(1) }],
          update_schedule_items: [{ id: charge(2), timestamp: '2027-02-01T00:00:00Z', amount: -1.5 }],
          add_schedule_items: [{ timestamp: '2027-01-01T00:00:00Z', amount: 9 }],
        },
      },
    ],
    update_subscriptions: [
      {
        subscription_id: at('subscriptions[0]'),
        seat_updates: {
          add_seat_ids: [{ seat_ids: ['cyd', 'dan'], starting_at: '2026-12-01T00:00:00Z' }],
          remove_seat_ids: [{ seat_ids: ['ada'], starting_at: '2026-12-05T00:00:00Z' }],
          add_unassigned_seats: [{ quantity: 2, starting_at: '2026-12-01T00:00:00Z' }],
          remove_unassigned_seats: [{ quantity: 1, starting_at: '2026-12-02T00:00:00Z' }],
        },
      },
      {
        subscription_id: at('subscriptions[1]'),
        ending_before: '2027-04-01T00:00:00Z',
        quantity_updates: [
          { starting_at: '2026-12-01T00:00:00Z', quantity: 12 },
          { starting_at: '2026-12-01T00:00:00Z', quantity_delta: -1 },
        ],
        proration_rounding: { rounding_method: 'FLOOR', decimal_places: -2 },
      },
    ],
    update_spend_threshold_configuration: {
      is_enabled: false,
      threshold_amount: 6_000,
      commit: { name: 'Other', description: 'Of the threshold', priority: 4 },
      payment_gate_config: { payment_gate_type: 'EXTERNAL' },
      discount_configuration: { payment_fraction: 0.75 },
    },
    update_prepaid_balance_threshold_configuration: {
      recharge_to_amount: 9_000,
      commit: { applicable_product_tags: null, applicable_product_ids: [tokens], priority: null },
      discount_configuration: { payment_fraction: 0.5 },
      threshold_balance_specifiers: null,
    },
  };
}

async function remove(edit: (changes: object) => Promise<ApiAnswer>, state: ApiAnswer): Promise<void> {
  const last = (list: string) => state.text(`data.${list}[${state.list(`data.${list}`).length - 1}].id`);
  await edit({
    archive_credits: [{ id: last('credits') }],
    archive_scheduled_charges: [{ id: last('scheduled_charges') }],
    archive_spend_trackers: ['second'],
    remove_overrides: [{ id: last('overrides') }],
  });
  await edit({ archive_commits: [{ id: last('commits') }] });
}

/** The operations of older clients, and what an integrator tells of payments. */
export async function amendAndEnd(api: ApiClient, catalogue: Catalogue, contracts: Contracts): Promise<void> {
  const { amended, weekly } = contracts;
  const { fee, tokens } = catalogue.products;
  await api.post('/v1/contracts/amend', {
    ...reference(amended),
    starting_at: '2026-11-01T00:00:00Z',
    commits: [
      {
        type: 'PREPAID',
        product_id: fee,
        access_schedule: {
          schedule_items: [{ amount: 10, starting_at: '2026-11-01T00:00:00Z', ending_before: YEAR_END }],
        },
        ...fields('amended'),
      },
    ],
    overrides: [
      { starting_at: '2026-11-01T00:00:00Z', type: 'MULTIPLIER', multiplier: 0.5, product_id: tokens },
    ],
    ...fields('amended'),
  });
  await api.post('/v1/setCustomerBillingProviderConfigurations', {
    data: [
      {
        customer_id: amended.customerId,
        billing_provider: 'stripe',
        delivery_method: 'direct_to_billing_provider',
        configuration: { stripe_customer_id: 'cus_3', stripe_collection_method: 'send_invoice' },
      },
    ],
  });
  await api.post('/v2/contracts/edit', {
    ...reference(amended),
    add_billing_provider_configuration_update: {
      billing_provider_configuration: {
        billing_provider: 'stripe',
        delivery_method: 'direct_to_billing_provider',
      },
      schedule: { effective_at: 'START_OF_CURRENT_PERIOD' },
    },
  });
  for (const payment of ['PAID', 'FAILED'] as const) await gatedCommit(api, amended, fee, payment);
  await api.post('/v1/contracts/setUsageFilter', {
    ...reference(weekly),
    group_key: 'model',
    group_values: ['large'],
    starting_at: '2026-11-24T00:00:00Z',
  });
  await api.post('/v1/contracts/updateEndDate', {
    ...reference(amended),
    ending_before: '2027-06-01T00:00:00Z',
  });
  await api.post('/v1/contracts/updateEndDate', reference(weekly));
}

async function gatedCommit(
  api: ApiClient,
  contract: Reference,
  product_id: string,
  outcome: 'PAID' | 'FAILED',
): Promise<void> {
  const answer = await api.post('/v2/contracts/edit', {
    ...reference(contract),
    add_commits: [
      {
        type: 'PREPAID',
        product_id,
        access_schedule: {
          schedule_items: [{ amount: 20, starting_at: '2026-11-01T00:00:00Z', ending_before: YEAR_END }],
        },
        invoice_schedule: { schedule_items: [{ timestamp: '2026-11-01T00:00:00Z', amount: 20 }] },
        payment_gate_config: { payment_gate_type: 'EXTERNAL' },
      },
    ],
  });
  await api.post('/v1/contracts/commits/threshold-billing/release', {
    workflow_id: answer.text('data.edit.add_commits[0].id'),
    outcome,
  });
}
