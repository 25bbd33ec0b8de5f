/**
 * The official client, unchanged: contracts with terms of every kind.
 *
 * SDK methods covered in this file:
 * - v1.contracts: create, retrieve, list, updateEndDate, setUsageFilter, archive
 * - v2.contracts: retrieve, list
 */
import Metronome, { BadRequestError, ConflictError, NotFoundError } from '@metronome/sdk';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-20T00:00:00Z' });
let client: Metronome;
let catalogue: TermsCatalogue;
let customer: string;

beforeAll(async () => {
  client = new Metronome({ baseURL: service.url, bearerToken: service.token });
  catalogue = await createTermsCatalogue(service.api);
});
beforeEach(async () => {
  customer = await createdId(service.api, '/v1/customers', { name: 'Customer' });
});

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const USD = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';
const START = '2026-10-01T00:00:00.000Z';
const END = '2027-10-01T00:00:00.000Z';

/** Typed by the client: what compiles here is what its users write. */
function terms(): Metronome.V1.ContractCreateParams {
  const { card, fee, tokens, seats } = catalogue;
  const schedule_items = [{ amount: 1_000, starting_at: START, ending_before: END }];
  return {
    customer_id: customer,
    rate_card_id: card,
    starting_at: START,
    ending_before: END,
    name: 'Pro',
    net_payment_terms_days: 14,
    scheduled_charges_on_usage_invoices: 'ALL',
    multiplier_override_prioritization: 'EXPLICIT',
    usage_statement_schedule: { frequency: 'MONTHLY', day: 'FIRST_OF_MONTH' },
    commits: [
      {
        type: 'PREPAID',
        product_id: fee,
        access_schedule: { schedule_items },
        // Else it would pay for the seats.
        applicable_product_ids: [tokens],
        temporary_id: 'commit',
      },
    ],
    credits: [
      {
        product_id: fee,
        access_schedule: { credit_type_id: USD, schedule_items },
        applicable_product_ids: [tokens],
      },
    ],
    recurring_commits: [
      {
        product_id: fee,
        priority: 1,
        starting_at: START,
        access_amount: { unit_price: 10, quantity: 1, credit_type_id: USD },
        commit_duration: { value: 1, unit: 'PERIODS' },
        recurrence_frequency: 'MONTHLY',
      },
    ],
    recurring_credits: [
      {
        product_id: fee,
        priority: 2,
        starting_at: START,
        access_amount: { unit_price: 5, credit_type_id: USD },
        commit_duration: { value: 1 },
        subscription_config: {
          subscription_id: 'seats',
          allocation: 'POOLED',
          apply_seat_increase_config: { is_prorated: false },
        },
      },
    ],
    overrides: [
      {
        starting_at: START,
        type: 'MULTIPLIER',
        multiplier: 0.8,
        priority: 1,
        is_commit_specific: true,
        override_specifiers: [{ product_id: tokens, commit_ids: ['commit'] }],
      },
    ],
    scheduled_charges: [
      {
        product_id: fee,
        schedule: { schedule_items: [{ timestamp: START, unit_price: 50, quantity: 2 }] },
      },
    ],
    subscriptions: [
      {
        subscription_rate: { product_id: seats, billing_frequency: 'MONTHLY' },
        collection_schedule: 'ADVANCE',
        proration: { is_prorated: true, invoice_behavior: 'BILL_IMMEDIATELY' },
        initial_quantity: 3,
        temporary_id: 'seats',
      },
    ],
    spend_threshold_configuration: {
      is_enabled: true,
      threshold_amount: 1_000,
      commit: { product_id: fee },
      payment_gate_config: { payment_gate_type: 'NONE' },
    },
    prepaid_balance_threshold_configuration: {
      is_enabled: true,
      threshold_amount: 500,
      recharge_to_amount: 1_500,
      commit: { product_id: fee },
      payment_gate_config: { payment_gate_type: 'EXTERNAL' },
    },
  };
}

async function create(): Promise<{ customer_id: string; contract_id: string }> {
  const { data } = await client.v1.contracts.create(terms());
  return { customer_id: customer, contract_id: data.id };
}

describe('contracts with the official client', () => {
  it('contracts with the official client are created with terms of every kind and read in both versions', async () => {
    const created = await client.v1.contracts.create(terms());
    const reference = { customer_id: customer, contract_id: created.data.id };
    const options = { include_balance: true, include_ledgers: true };
    const { data: v1 } = await client.v1.contracts.retrieve({ ...reference, ...options });
    expect(v1.current.commits[0]).toMatchObject({ type: 'PREPAID', balance: 1_000 });
    expect(v1.current.commits[0]?.ledger).toMatchObject([{ type: 'PREPAID_COMMIT_SEGMENT_START' }]);
    expect(v1.initial.scheduled_charges[0]?.schedule.schedule_items).toMatchObject([{ amount: 100 }]);
    expect(v1.subscriptions).toMatchObject([{ quantity_schedule: [{ quantity: 3 }] }]);
    const { data: v2 } = await client.v2.contracts.retrieve({ ...reference, ...options });
    expect(v2).toMatchObject({ name: 'Pro', recurring_commits: [{ priority: 1 }] });
    expect(v2.credits?.[0]).toMatchObject({ balance: 1_000 });
    expect(v2.overrides[0]?.override_specifiers?.[0]?.commit_ids).toEqual([v2.commits[0]?.id]);
    expect(v2.recurring_credits?.[0]?.subscription_config?.subscription_id).toBe(v2.subscriptions?.[0]?.id);
  });

  it('contracts with the official client are listed by what is asked for', async () => {
    const { contract_id } = await create();
    const list = { customer_id: customer };
    const ids = async (filter: {
      covering_date?: string;
      starting_at?: string;
      include_archived?: boolean;
    }) => {
      const v1 = await client.v1.contracts.list({ ...list, ...filter });
      const v2 = await client.v2.contracts.list({ ...list, ...filter });
      expect(v2.data.map((contract) => contract.id)).toEqual(v1.data.map((contract) => contract.id));
      return v1.data.map((contract) => contract.id);
    };
    expect(await ids({})).toEqual([contract_id]);
    expect(await ids({ covering_date: START })).toEqual([contract_id]);
    expect(await ids({ covering_date: END })).toEqual([]);
    expect(await ids({ starting_at: END })).toEqual([]);
    await client.v1.contracts.archive({ ...list, contract_id, void_invoices: true });
    expect(await ids({})).toEqual([]);
    expect(await ids({ include_archived: true })).toEqual([contract_id]);
  });

  it('contracts with the official client get another end and a usage filter', async () => {
    const reference = await create();
    const ending_before = '2027-01-01T00:00:00.000Z';
    const moved = await client.v1.contracts.updateEndDate({ ...reference, ending_before });
    expect(moved.data.id).toBe(reference.contract_id);
    await client.v1.contracts.setUsageFilter({
      ...reference,
      group_key: 'model',
      group_values: ['a'],
      starting_at: '2026-12-01T00:00:00.000Z',
    });
    const { data } = await client.v2.contracts.retrieve(reference);
    expect(data.ending_before).toBe(ending_before);
    expect(data.usage_filter).toMatchObject([{ group_key: 'model', group_values: ['a'], ending_before }]);
    await client.v1.contracts.updateEndDate(reference);
    expect((await client.v2.contracts.retrieve(reference)).data.ending_before).toBeUndefined();
  });

  it('contracts with the official client are created once per uniqueness key, without a retry', async () => {
    const body = { ...terms(), uniqueness_key: `once ${customer}` };
    await client.v1.contracts.create(body);
    await expect(client.v1.contracts.create(body)).rejects.toThrow(ConflictError);
    expect((await client.v1.contracts.list({ customer_id: customer })).data).toHaveLength(1);
  });

  it('contracts with the official client are refused with the path of the field, and where there are none', async () => {
    const [commit] = terms().commits ?? [];
    const schedule_items = [{ amount: 1, starting_at: END, ending_before: START }];
    const refused = client.v1.contracts.create({
      ...terms(),
      commits:
        commit === undefined
          ? []
          : [commit, { ...commit, temporary_id: 'b', access_schedule: { schedule_items } }],
    });
    await expect(refused).rejects.toThrow(BadRequestError);
    await expect(refused).rejects.toThrow(
      'commits[1].access_schedule.schedule_items[0].ending_before: must be after starting_at',
    );
    const unknown = { customer_id: customer, contract_id: UNKNOWN_ID };
    await expect(client.v2.contracts.retrieve(unknown)).rejects.toThrow(NotFoundError);
    await expect(client.v2.contracts.retrieve(unknown)).rejects.toMatchObject({
      error: { code: 'ContractNotFound' },
    });
    await expect(client.v2.contracts.list({ customer_id: UNKNOWN_ID })).rejects.toMatchObject({
      error: { code: 'CustomerNotFound' },
    });
  });
});
