/**
 * The official client, unchanged: changes of contracts, their history, and the prices of a contract.
 *
 * SDK methods covered in this file:
 * - v2.contracts: edit, getEditHistory
 * - v1.contracts: amend, retrieveRateSchedule
 */
import Metronome, { BadRequestError, ConflictError, NotFoundError } from '@metronome/sdk';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-20T00:00:00Z' });
let client: Metronome;
let catalogue: TermsCatalogue;
let reference: { readonly customer_id: string; readonly contract_id: string };

const USD = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const START = '2026-10-01T00:00:00.000Z';
const DATE = '2027-01-01T00:00:00.000Z';
const END = '2027-10-01T00:00:00.000Z';

beforeAll(async () => {
  client = new Metronome({ baseURL: service.url, bearerToken: service.token });
  catalogue = await createTermsCatalogue(service.api);
});
beforeEach(async () => {
  const customer_id = await createdId(service.api, '/v1/customers', { name: 'Customer' });
  const created = await client.v1.contracts.create({
    customer_id,
    rate_card_id: catalogue.card,
    starting_at: START,
    ending_before: END,
  });
  reference = { customer_id, contract_id: created.data.id };
});

/** Typed by the client: what compiles here is what its users write. */
function additions(): Omit<Metronome.V2.ContractEditParams, 'customer_id' | 'contract_id'> {
  const { fee, tokens, seats } = catalogue;
  const schedule_items = [{ amount: 1_000, starting_at: START, ending_before: END }];
  return {
    add_commits: [
      {
        product_id: fee,
        type: 'PREPAID',
        access_schedule: { schedule_items },
        // Else it would pay for the seats, and could not be archived.
        applicable_product_ids: [tokens],
        invoice_schedule: { schedule_items: [{ timestamp: DATE, unit_price: 5, quantity: 100 }] },
        temporary_id: 'commit',
      },
    ],
    add_credits: [
      {
        product_id: fee,
        access_schedule: { credit_type_id: USD, schedule_items },
        applicable_product_ids: [tokens],
      },
    ],
    add_recurring_commits: [
      {
        product_id: fee,
        priority: 1,
        starting_at: START,
        access_amount: { unit_price: 10, quantity: 1, credit_type_id: USD },
        commit_duration: { value: 1, unit: 'PERIODS' },
      },
    ],
    add_recurring_credits: [
      {
        product_id: fee,
        priority: 1,
        starting_at: START,
        access_amount: { unit_price: 10, quantity: 1, credit_type_id: USD },
        commit_duration: { value: 1 },
      },
    ],
    add_overrides: [{ starting_at: START, type: 'MULTIPLIER', multiplier: 0.5, product_id: tokens }],
    add_scheduled_charges: [
      { product_id: fee, schedule: { schedule_items: [{ timestamp: DATE, amount: 10 }] } },
    ],
    add_subscriptions: [
      {
        collection_schedule: 'ADVANCE',
        proration: { is_prorated: true, invoice_behavior: 'BILL_IMMEDIATELY' },
        subscription_rate: { billing_frequency: 'MONTHLY', product_id: seats },
        initial_quantity: 3,
      },
    ],
    add_spend_trackers: [
      {
        alias: 'all',
        credit_type_id: USD,
        reset_frequency: 'BILLING_PERIOD',
        applicable_spend_specifiers: [{ spend_type: 'COMMIT_PURCHASE', sources: ['MANUAL'] }],
      },
    ],
    add_spend_threshold_configuration: {
      is_enabled: true,
      threshold_amount: 5_000,
      commit: { product_id: fee },
      payment_gate_config: { payment_gate_type: 'NONE' },
    },
    add_prepaid_balance_threshold_configuration: {
      is_enabled: true,
      threshold_amount: 1_000,
      recharge_to_amount: 5_000,
      commit: { product_id: fee },
      payment_gate_config: { payment_gate_type: 'NONE' },
    },
  };
}

describe('edits', () => {
  it('the official client adds terms of every kind, changes them, takes them away, and remembers it all', async () => {
    const added = await client.v2.contracts.edit({ ...reference, ...additions() });
    const { data: contract } = await client.v2.contracts.retrieve(reference);
    const [override] = contract.overrides;
    const [charge] = contract.scheduled_charges;
    const updated = await client.v2.contracts.edit({
      ...reference,
      uniqueness_key: `update of ${reference.contract_id}`,
      update_contract_name: 'Edited',
      update_net_payment_terms_days: 10,
      update_contract_end_date: null,
      update_commits: [{ commit_id: contract.commits[0]?.id ?? '', name: 'Renamed', priority: 3 }],
      update_credits: [{ credit_id: contract.credits?.[0]?.id ?? '', description: 'Changed' }],
      update_recurring_commits: [
        {
          recurring_commit_id: contract.recurring_commits?.[0]?.id ?? '',
          access_amount: { unit_price: 11 },
        },
      ],
      update_recurring_credits: [
        { recurring_credit_id: contract.recurring_credits?.[0]?.id ?? '', ending_before: DATE },
      ],
      update_scheduled_charges: [
        {
          scheduled_charge_id: charge?.id ?? '',
          invoice_schedule: { add_schedule_items: [{ timestamp: END, amount: 11 }] },
        },
      ],
      update_subscriptions: [
        {
          subscription_id: contract.subscriptions?.[0]?.id ?? '',
          quantity_updates: [{ starting_at: DATE, quantity_delta: 2 }],
        },
      ],
      update_spend_threshold_configuration: { is_enabled: false },
      update_prepaid_balance_threshold_configuration: { recharge_to_amount: 6_000 },
    });
    const removed = await client.v2.contracts.edit({
      ...reference,
      archive_commits: [{ id: contract.commits[0]?.id ?? '' }],
      archive_credits: [{ id: contract.credits?.[0]?.id ?? '' }],
      archive_scheduled_charges: [{ id: charge?.id ?? '' }],
      archive_spend_trackers: ['all'],
      remove_overrides: [{ id: override?.id ?? '' }],
    });
    const { data: changed } = await client.v2.contracts.retrieve(reference);
    expect(changed).toMatchObject({ name: 'Edited', net_payment_terms_days: 10, overrides: [] });
    expect(changed.ending_before).toBeUndefined();
    expect(changed.commits[0]).toMatchObject({ name: 'Renamed', archived_at: expect.any(String) });
    expect(changed.subscriptions?.[0]?.quantity_schedule).toMatchObject([{ quantity: 3 }, { quantity: 5 }]);
    const { data: history } = await client.v2.contracts.getEditHistory(reference);
    expect(history.map(({ id }) => id)).toEqual([
      added.data.edit?.id,
      updated.data.edit?.id,
      removed.data.edit?.id,
    ]);
    expect(history[0]?.add_commits?.[0]?.id).toBe(contract.commits[0]?.id);
    expect(history[1]).toMatchObject({
      update_contract_end_date: null,
      update_commits: [{ id: contract.commits[0]?.id, name: 'Renamed', priority: 3 }],
    });
    expect(history[2]).toMatchObject({ remove_overrides: [{ id: override?.id }] });
  });

  it('the official client refuses a used key without another try, and a bad term by its path', async () => {
    const edit = { ...reference, uniqueness_key: `key of ${reference.contract_id}` };
    await client.v2.contracts.edit({ ...edit, update_contract_name: 'Once' });
    await expect(client.v2.contracts.edit(edit)).rejects.toBeInstanceOf(ConflictError);
    const bad = client.v2.contracts.edit({ ...reference, remove_overrides: [{ id: UNKNOWN_ID }] });
    await expect(bad).rejects.toThrow(/400 remove_overrides\[0\]\.id: /);
    await expect(bad).rejects.toBeInstanceOf(BadRequestError);
    const unknown = client.v2.contracts.getEditHistory({ ...reference, contract_id: UNKNOWN_ID });
    await expect(unknown).rejects.toMatchObject({ error: { code: 'ContractNotFound' } });
  });
});

it('an amendment adds terms from its date on and is listed', async () => {
  const { fee, tokens } = catalogue;
  const { data } = await client.v1.contracts.amend({
    ...reference,
    starting_at: DATE,
    commits: [
      {
        product_id: fee,
        type: 'PREPAID',
        access_schedule: { schedule_items: [{ amount: 5, starting_at: DATE, ending_before: END }] },
      },
    ],
    overrides: [{ starting_at: DATE, type: 'MULTIPLIER', multiplier: 0.9, product_id: tokens }],
  });
  const { data: contract } = await client.v1.contracts.retrieve(reference);
  expect(contract.amendments).toMatchObject([
    { id: data.id, starting_at: DATE, commits: [{ type: 'PREPAID' }], overrides: [{ multiplier: 0.9 }] },
  ]);
  expect(contract.initial.overrides).toEqual([]);
  expect(contract.current.overrides).toHaveLength(1);
});

it('the rate schedule of a contract is read page by page', async () => {
  const { tokens, models } = catalogue;
  await client.v2.contracts.edit({
    ...reference,
    add_overrides: [{ starting_at: START, type: 'MULTIPLIER', multiplier: 0.5, product_id: tokens }],
  });
  const first = await client.v1.contracts.retrieveRateSchedule({ ...reference, limit: 1 });
  expect(first.data).toMatchObject([
    { product_id: tokens, list_rate: { price: 10 }, override_rate: { price: 5 } },
  ]);
  const second = await client.v1.contracts.retrieveRateSchedule({
    ...reference,
    limit: 1,
    next_page: first.next_page ?? '',
  });
  expect(second.data).toMatchObject([{ product_id: models, list_rate: { price: 20 } }]);
  const selected = await client.v1.contracts.retrieveRateSchedule({
    ...reference,
    at: DATE,
    selectors: [
      { product_id: models, partial_pricing_group_values: { model: 'a' } },
      { billing_frequency: 'MONTHLY' },
    ],
  });
  expect(selected.data.map((entry) => entry.list_rate.price)).toEqual([20, 2_000]);
  expect(selected.next_page).toBeNull();
  const unknown = client.v1.contracts.retrieveRateSchedule({ ...reference, contract_id: UNKNOWN_ID });
  await expect(unknown).rejects.toBeInstanceOf(NotFoundError);
});
