/**
 * The official client, unchanged: packages, and contracts created from them.
 *
 * SDK methods covered in this file:
 * - v1.packages: create, retrieve, list, archive, listContractsOnPackage
 * - v1.contracts: create (with package_alias and package_id)
 */
import Metronome, { BadRequestError, ConflictError, NotFoundError } from '@metronome/sdk';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { collect } from '../support/collect.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-20T00:00:00Z' });
let client: Metronome;
let catalogue: TermsCatalogue;
let customer_id: string;

beforeAll(async () => {
  client = new Metronome({ baseURL: service.url, bearerToken: service.token });
  catalogue = await createTermsCatalogue(service.api);
});
beforeEach(async () => {
  customer_id = await createdId(service.api, '/v1/customers', { name: 'Customer' });
});

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
const USD = '2714e483-4ff1-48e4-9e25-ac732e8f24f2';
const START = '2026-11-01T00:00:00.000Z';
const NOW = { unit: 'DAYS', value: 0 } as const;
const YEAR = { unit: 'YEARS', value: 1 } as const;

/** Typed by the client: what compiles here is what its users write. */
function terms(): Metronome.V1.PackageCreateParams {
  const { card, fee, tokens, seats } = catalogue;
  const access_schedule = { schedule_items: [{ amount: 1_000, starting_at_offset: NOW, duration: YEAR }] };
  return {
    name: 'Pro',
    contract_name: 'Pro contract',
    rate_card_id: card,
    duration: YEAR,
    net_payment_terms_days: 14,
    multiplier_override_prioritization: 'EXPLICIT',
    scheduled_charges_on_usage_invoices: 'ALL',
    usage_statement_schedule: { frequency: 'MONTHLY', day: 'FIRST_OF_MONTH' },
    commits: [
      {
        type: 'PREPAID',
        product_id: fee,
        access_schedule,
        invoice_schedule: { schedule_items: [{ unit_price: 500, quantity: 2, date_offset: NOW }] },
        temporary_id: 'commit',
      },
    ],
    credits: [{ product_id: fee, access_schedule }],
    recurring_commits: [
      {
        product_id: fee,
        priority: 1,
        starting_at_offset: NOW,
        access_amount: { unit_price: 10, quantity: 1, credit_type_id: USD },
        commit_duration: { value: 1, unit: 'PERIODS' },
      },
    ],
    recurring_credits: [
      {
        product_id: fee,
        priority: 2,
        starting_at_offset: NOW,
        access_amount: { unit_price: 10, credit_type_id: USD },
        commit_duration: { value: 1, unit: 'PERIODS' },
        subscription_config: {
          subscription_id: 'seats',
          allocation: 'POOLED',
          apply_seat_increase_config: { is_prorated: false },
        },
      },
    ],
    overrides: [
      {
        starting_at_offset: NOW,
        type: 'MULTIPLIER',
        multiplier: 0.9,
        priority: 1,
        is_commit_specific: true,
        override_specifiers: [{ product_id: tokens, commit_ids: ['commit'] }],
      },
    ],
    scheduled_charges: [
      {
        product_id: fee,
        schedule: { schedule_items: [{ unit_price: 5, quantity: 2, date_offset: NOW }] },
      },
    ],
    subscriptions: [
      {
        subscription_rate: { billing_frequency: 'MONTHLY', product_id: seats },
        collection_schedule: 'ADVANCE',
        proration: { is_prorated: true, invoice_behavior: 'BILL_IMMEDIATELY' },
        initial_quantity: 3,
        temporary_id: 'seats',
      },
    ],
  };
}

describe('packages with the official client', () => {
  it('packages with the official client are created, read and listed, page after page', async () => {
    const { data } = await client.v1.packages.create(terms());
    const { data: read } = await client.v1.packages.retrieve({ package_id: data.id });
    expect(read).toMatchObject({
      id: data.id,
      name: 'Pro',
      contract_name: 'Pro contract',
      duration: YEAR,
      usage_statement_schedule: { frequency: 'MONTHLY', day: 'FIRST_OF_MONTH' },
      commits: [
        {
          type: 'PREPAID',
          product: { id: catalogue.fee, name: 'Fee' },
          invoice_schedule: { do_not_invoice: false, schedule_items: [{ unit_price: 500, quantity: 2 }] },
        },
      ],
    });
    expect(read.overrides[0]?.override_specifiers[0]?.commit_template_ids).toEqual([read.commits[0]?.id]);
    await client.v1.packages.create({ name: 'Other' });
    const listed = await collect(client.v1.packages.list({ limit: 1 }));
    expect(listed.find(({ id }) => id === data.id)).toEqual(read);
    expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
    expect((await client.v1.packages.list()).data.length).toBe(listed.length);
  });

  it('packages with the official client become contracts by alias and by id', async () => {
    const { data } = await client.v1.packages.create({ ...terms(), aliases: [{ name: 'pro' }] });
    const byAlias = await client.v1.contracts.create({
      customer_id,
      package_alias: 'pro',
      starting_at: START,
    });
    const { data: contract } = await client.v2.contracts.retrieve({
      customer_id,
      contract_id: byAlias.data.id,
    });
    expect(contract).toMatchObject({
      package_id: data.id,
      name: 'Pro contract',
      starting_at: START,
      ending_before: '2027-11-01T00:00:00.000Z',
      net_payment_terms_days: 14,
      recurring_credits: [{ subscription_config: { allocation: 'POOLED' } }],
    });
    const children = contract.commits.filter((one) => one.recurring_commit_id !== undefined);
    expect(contract.commits).toMatchObject([{ type: 'PREPAID' }, ...children]);
    expect(children.map((one) => one.created_at)).toEqual([START, '2026-12-01T00:00:00.000Z']);
    expect(contract.overrides[0]?.override_specifiers?.[0]?.commit_ids).toEqual([contract.commits[0]?.id]);
    const later = '2026-12-01T00:00:00.000Z';
    const byId = await client.v1.contracts.create({ customer_id, package_id: data.id, starting_at: later });
    const on = await collect(client.v1.packages.listContractsOnPackage({ package_id: data.id, limit: 1 }));
    expect(on.map((one) => one.contract_id)).toEqual([byAlias.data.id, byId.data.id]);
    const since = { package_id: data.id, starting_at: later };
    expect(await collect(client.v1.packages.listContractsOnPackage(since))).toEqual([
      {
        customer_id,
        contract_id: byId.data.id,
        starting_at: later,
        ending_before: '2027-12-01T00:00:00.000Z',
      },
    ]);
  });

  it('packages with the official client are archived for good', async () => {
    const { data } = await client.v1.packages.create({ name: 'Old', aliases: [{ name: 'old' }] });
    expect((await client.v1.packages.archive({ package_id: data.id })).data.id).toBe(data.id);
    const archived = await collect(client.v1.packages.list({ archive_filter: 'ARCHIVED' }));
    expect(archived).toMatchObject([{ id: data.id, archived_at: '2026-11-20T00:00:00.000Z' }]);
    const contract = { customer_id, package_alias: 'old', starting_at: START };
    await expect(client.v1.contracts.create(contract)).rejects.toBeInstanceOf(BadRequestError);
  });

  it('packages with the official client refuse what is wrong with the errors the client knows', async () => {
    const once = { name: 'Once', uniqueness_key: 'once' };
    await client.v1.packages.create(once);
    await expect(client.v1.packages.create(once)).rejects.toBeInstanceOf(ConflictError);
    await expect(client.v1.packages.retrieve({ package_id: UNKNOWN_ID })).rejects.toBeInstanceOf(
      NotFoundError,
    );
    await expect(
      client.v1.contracts.create({ customer_id, package_alias: 'nobody', starting_at: START }),
    ).rejects.toBeInstanceOf(BadRequestError);
  });
});
