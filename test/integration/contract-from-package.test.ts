/** A contract created from a package equals one created from the same explicit terms. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withTerms } from '../../src/store/contract-terms/contract-terms.ts';
import { loadContracts } from '../../src/store/contracts/contracts.ts';
import type { ApiAnswer } from '../support/api-client.ts';
import { CONTRACTS, createdId, PRODUCTS, RATE_CARDS } from '../support/catalogue-api.ts';
import { createTermsCatalogue, type TermsCatalogue } from '../support/contract-terms.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';
import { everyTermWrittenOut } from '../support/package-contract.ts';
import {
  days,
  everyTemplate,
  months,
  onePrepaidCommit,
  PACKAGES,
  weeks,
  years,
} from '../support/package-terms.ts';

const { pool, api } = await catalogueForFile();
let catalogue: TermsCatalogue;
let customer: string;

beforeAll(async () => {
  catalogue = await createTermsCatalogue(api);
});
beforeEach(async () => {
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
});

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const START = '2026-01-31T07:00:00Z';

async function attempt(body: Record<string, unknown>): Promise<ApiAnswer> {
  return api.send('POST', CONTRACTS, { customer_id: customer, starting_at: START, ...body });
}

async function provision(body: Record<string, unknown>): Promise<string> {
  return createdId(api, CONTRACTS, { customer_id: customer, starting_at: START, ...body });
}

async function stored(id: string) {
  const [full] = await withTerms(pool.db, await loadContracts(pool.db, { ids: [id] }));
  if (full === undefined) throw new Error(`contract ${id} is not stored`);
  return full;
}

async function contractCount(): Promise<number> {
  return (await loadContracts(pool.db, { customerIds: [customer], includeArchived: true })).length;
}

/** Ids in the order in which they appear: equal structures with other ids become equal. */
function withoutIds(value: unknown): unknown {
  const seen = new Map<string, string>();
  const text = JSON.stringify(value).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
    seen.set(id, seen.get(id) ?? `id ${seen.size}`);
    return seen.get(id) ?? '';
  });
  return JSON.parse(text);
}

describe('a contract created from a package', () => {
  test('a contract created from a package has every term, with each date where a calendar puts it', async () => {
    const package_id = await createdId(api, PACKAGES, everyTemplate(catalogue));
    const made = await stored(await provision({ package_id }));
    expect(made.contract.packageId).toBe(package_id);
    const writtenOut = await stored(await provision(everyTermWrittenOut(catalogue)));
    expect(withoutIds({ ...made, contract: { ...made.contract, packageId: null } })).toEqual(
      withoutIds(writtenOut),
    );
  });

  test('a contract created from a package is answered, read and listed with the id of its package', async () => {
    const package_id = await createdId(api, PACKAGES, everyTemplate(catalogue));
    const created = await api.post(CONTRACTS, { customer_id: customer, starting_at: START, package_id });
    expect(created.at('data.contract.package_id')).toBe(package_id);
    const reference = { customer_id: customer, contract_id: created.text('data.id') };
    for (const path of ['/v1/contracts/get', '/v2/contracts/get']) {
      expect((await api.post(path, reference)).at('data.package_id')).toBe(package_id);
    }
  });

  test.each<[string, object, object, string, string]>([
    ['2026-01-31T07:00:00Z', days(0), days(1), '2026-01-31T07:00', '2026-02-01T07:00'],
    ['2026-01-31T07:00:00Z', months(1), months(1), '2026-02-28T07:00', '2026-03-28T07:00'],
    ['2024-01-31T07:00:00Z', months(1), months(1), '2024-02-29T07:00', '2024-03-29T07:00'],
    ['2026-01-31T07:00:00Z', months(2), months(1), '2026-03-31T07:00', '2026-04-30T07:00'],
    ['2026-05-31T23:00:00Z', months(1), days(1), '2026-06-30T23:00', '2026-07-01T23:00'],
    ['2026-12-31T00:00:00Z', months(2), weeks(1), '2027-02-28T00:00', '2027-03-07T00:00'],
    ['2024-02-29T12:00:00Z', years(1), years(1), '2025-02-28T12:00', '2026-02-28T12:00'],
    ['2024-02-29T12:00:00Z', years(4), months(12), '2028-02-29T12:00', '2029-02-28T12:00'],
    ['2026-03-28T22:00:00Z', weeks(2), days(365), '2026-04-11T22:00', '2027-04-11T22:00'],
    ['2026-11-30T00:00:00Z', days(90), months(3), '2027-02-28T00:00', '2027-05-28T00:00'],
  ])(
    'a contract created from a package from %s: %j, then %j, is %s to %s',
    async (starting_at, offset, duration, start, end) => {
      const package_id = await createdId(api, PACKAGES, {
        name: 'Dates',
        credits: [
          {
            product_id: catalogue.fee,
            access_schedule: { schedule_items: [{ amount: 1, starting_at_offset: offset, duration }] },
          },
        ],
      });
      const { terms } = await stored(await provision({ package_id, starting_at }));
      const [segment] = terms.commits[0]?.accessSchedule.segments ?? [];
      expect(segment).toMatchObject({
        startingAt: Date.parse(`${start}:00Z`),
        endingBefore: Date.parse(`${end}:00Z`),
      });
    },
  );

  test('a contract created from a package is named like the package, and open, unless the package says otherwise', async () => {
    const plain = await createdId(api, PACKAGES, { name: 'Plain' });
    const { contract } = await stored(await provision({ package_id: plain }));
    expect(contract).toMatchObject({ name: 'Plain', endingBefore: null, rateCardId: null });
    const named = await createdId(api, PACKAGES, { name: 'P', contract_name: 'C', duration: months(1) });
    expect((await stored(await provision({ package_id: named }))).contract).toMatchObject({
      name: 'C',
      endingBefore: Date.parse('2026-02-28T07:00:00Z'),
    });
  });

  test('a contract created from a package has the rate card that the package’s alias means at its start', async () => {
    const first = await createdId(api, RATE_CARDS, { name: 'First', aliases: [{ name: 'retail' }] });
    const package_id = await createdId(api, PACKAGES, { name: 'Aliased', rate_card_alias: 'retail' });
    const second = await createdId(api, RATE_CARDS, {
      name: 'Second',
      aliases: [{ name: 'retail', starting_at: '2026-06-01T00:00:00Z' }],
    });
    const cardAt = async (starting_at: string) =>
      (await stored(await provision({ package_id, starting_at }))).contract.rateCardId;
    expect(await cardAt('2026-05-31T23:00:00Z')).toBe(first);
    expect(await cardAt('2026-06-01T00:00:00Z')).toBe(second);
  });

  test('a contract created from a package can renew another one', async () => {
    const older = await provision({});
    const package_id = await createdId(api, PACKAGES, { name: 'Renewal' });
    const newer = await provision({
      package_id,
      starting_at: '2026-07-01T00:00:00Z',
      transition: { type: 'RENEWAL', from_contract_id: older },
    });
    expect((await stored(older)).contract.endingBefore).toBe(Date.parse('2026-07-01T00:00:00Z'));
    const answer = await api.post('/v2/contracts/get', { customer_id: customer, contract_id: newer });
    expect(answer.at('data.transitions')).toEqual([
      { type: 'RENEWAL', from_contract_id: older, to_contract_id: newer },
    ]);
  });

  test('several contracts created at once from a package with one uniqueness key are one', async () => {
    const package_id = await createdId(api, PACKAGES, onePrepaidCommit(catalogue));
    const body = { package_id, uniqueness_key: `once ${customer}` };
    const answers = await Promise.all(Array.from({ length: 8 }, () => attempt(body)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(7).fill(409)]);
    expect(await contractCount()).toBe(1);
  });

  test('a contract continues when its package is archived, which then takes no more', async () => {
    const package_id = await createdId(api, PACKAGES, {
      ...onePrepaidCommit(catalogue),
      aliases: [{ name: `old ${customer}` }],
    });
    const id = await provision({ package_id });
    const before = await stored(id);
    await api.post('/v1/packages/archive', { package_id });
    expect(await stored(id)).toEqual(before);
    for (const [field, value] of [
      ['package_id', package_id],
      ['package_alias', `old ${customer}`],
    ] as const) {
      const answer = await attempt({ [field]: value });
      expect(answer.status).toBe(400);
      expect(answer.text('message')).toMatch(new RegExp(`^${field}: package .* is archived`));
    }
  });
});

describe('an alias of packages', () => {
  test('an alias of packages means the package that holds it where the contract starts', async () => {
    const alias = `plan of ${customer}`;
    const first = await createdId(api, PACKAGES, {
      name: 'First',
      aliases: [{ name: alias, starting_at: '2026-01-01T00:00:00Z' }],
    });
    const packageAt = async (starting_at: string) =>
      (await stored(await provision({ package_alias: alias, starting_at }))).contract.packageId;
    expect(await packageAt('2026-09-01T00:00:00Z')).toBe(first);
    const second = await createdId(api, PACKAGES, {
      name: 'Second',
      aliases: [{ name: alias, starting_at: '2026-06-01T00:00:00Z', ending_before: '2027-01-01T00:00:00Z' }],
    });
    expect(await packageAt('2026-05-31T23:00:00Z')).toBe(first);
    expect(await packageAt('2026-06-01T00:00:00Z')).toBe(second);
    for (const starting_at of ['2025-12-31T23:00:00Z', '2027-01-01T00:00:00Z']) {
      const answer = await attempt({ package_alias: alias, starting_at });
      expect(answer.status).toBe(400);
      expect(answer.text('message')).toMatch(/^package_alias: no package has the alias/);
    }
  });
});

describe('creating a contract from a package', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['a name', { name: 'Mine' }, 'name'],
    ['an end', { ending_before: '2027-01-01T00:00:00Z' }, 'ending_before'],
    ['a rate card', { rate_card_id: UNKNOWN }, 'rate_card_id'],
    ['commits', { commits: [] }, 'commits'],
    ['overrides that are no overrides', { overrides: 7 }, 'overrides'],
    ['payment terms', { net_payment_terms_days: 30 }, 'net_payment_terms_days'],
    ['a usage filter', { usage_filter: { group_key: 'a', group_values: ['b'] } }, 'usage_filter'],
    ['a discount', { discounts: [] }, 'discounts'],
    ['a field that does not exist', { comits: [] }, 'comits'],
    ['a field that does not exist inside', { transition: { typ: 'RENEWAL' } }, 'transition.typ'],
    ['a second package', { package_alias: 'other' }, 'package_alias'],
    ['an undeclared custom field', { custom_fields: { deal: '7' } }, 'custom_fields.deal'],
    ['no start', { starting_at: undefined }, 'starting_at'],
  ])(
    'creating a contract from a package with %s beside it answers 400, names the field and stores nothing',
    async (_, beside, field) => {
      const package_id = await createdId(api, PACKAGES, { name: 'Strict' });
      const answer = await attempt({ package_id, ...beside });
      expect(answer.status).toBe(400);
      expect(answer.text('message')).toContain(`${field}: `);
      expect(await contractCount()).toBe(0);
    },
  );

  test('creating a contract from a package takes null for what is left out', async () => {
    const package_id = await createdId(api, PACKAGES, { name: 'Nulls' });
    await provision({ package_id, package_alias: null, name: null, commits: null, transition: null });
    expect(await contractCount()).toBe(1);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['package', { package_id: UNKNOWN }, 'PackageNotFound'],
    ['customer', { customer_id: UNKNOWN }, 'CustomerNotFound'],
  ])(
    'creating a contract from a package for an unknown %s answers 404 with its code',
    async (_, change, code) => {
      const package_id = await createdId(api, PACKAGES, { name: 'Unknown' });
      const answer = await attempt({ package_id, ...change });
      expect(answer.status).toBe(404);
      expect(answer.at('code')).toBe(code);
    },
  );

  test('creating a contract from a package says which term of the package stands against it, and stores nothing', async () => {
    const fee = await createdId(api, PRODUCTS, { type: 'FIXED', name: 'Soon gone' });
    const alias = `gone ${customer}`;
    await createdId(api, PACKAGES, {
      ...onePrepaidCommit({ ...catalogue, fee }),
      aliases: [{ name: alias }],
    });
    await api.post('/v1/contract-pricing/products/archive', { product_id: fee });
    const answer = await attempt({ package_alias: alias });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(
      /^package_alias: the package's commits\[0\]\.product_id: .*archived/,
    );
    expect(await contractCount()).toBe(0);
  });

  test('creating a contract from a package refuses a start from which the terms would leave the calendar', async () => {
    const package_id = await createdId(api, PACKAGES, { name: 'Long', duration: years(100) });
    const answer = await attempt({ package_id, starting_at: '2150-01-01T00:00:00Z' });
    expect(answer.status).toBe(400);
    expect(answer.text('message')).toMatch(/^starting_at: /);
  });

  test('creating a contract from a package needs exactly one billing configuration of the customer that matches the package’s', async () => {
    const package_id = await createdId(api, PACKAGES, {
      name: 'Billed',
      billing_provider: 'aws_marketplace',
      delivery_method: 'direct_to_billing_provider',
    });
    const configure = async (billing_provider: string, delivery_method: string, configuration = {}) =>
      api.post('/v1/setCustomerBillingProviderConfigurations', {
        data: [{ customer_id: customer, billing_provider, delivery_method, configuration }],
      });
    const refused = async (count: number) => {
      const answer = await attempt({ package_id });
      expect(answer.status).toBe(400);
      expect(answer.text('message')).toContain(`has ${count} billing configurations`);
      expect(answer.text('message')).toMatch(/^package_id: the package's billing_provider_configuration/);
    };
    await refused(0);
    await configure('stripe', 'direct_to_billing_provider');
    await configure('aws_marketplace', 'aws_sqs');
    await refused(0);
    const matching = await configure('aws_marketplace', 'direct_to_billing_provider');
    const { contract } = await stored(await provision({ package_id }));
    expect(contract.billingConfigurationId).toBe(matching.text('data[0].id'));
    await configure('aws_marketplace', 'direct_to_billing_provider', { aws_customer_id: 'b' });
    await refused(2);
  });
});

describe('the contracts on a package', () => {
  const ON_PACKAGE = '/v1/packages/listContractsOnPackage';

  test('the contracts on a package are listed by start, by covering date or by first start, archived ones if asked for', async () => {
    const package_id = await createdId(api, PACKAGES, { name: 'Listed', duration: months(1) });
    const starts = ['2026-03-01', '2026-01-01', '2026-02-01'].map((day) => `${day}T00:00:00Z`);
    const [march = '', january = '', february = ''] = await Promise.all(
      starts.map((starting_at) => provision({ package_id, starting_at })),
    );
    await provision({});
    await api.post('/v1/contracts/archive', {
      customer_id: customer,
      contract_id: february,
      void_invoices: false,
    });
    const list = async (filter: Record<string, unknown>, query = {}) => {
      const answer = await api.post(ON_PACKAGE, { package_id, ...filter }, { query });
      return answer.list('data').map((_, index) => answer.text(`data[${index}].contract_id`));
    };
    expect(await list({})).toEqual([january, march]);
    expect(await list({ include_archived: true })).toEqual([january, february, march]);
    expect(await list({ covering_date: '2026-01-31T23:59:59.999Z' })).toEqual([january]);
    expect(await list({ covering_date: '2026-02-01T00:00:00Z' })).toEqual([]);
    expect(await list({ starting_at: '2026-03-01T00:00:00Z' })).toEqual([march]);
    const both = { starting_at: START, covering_date: START };
    expect((await api.send('POST', ON_PACKAGE, { package_id, ...both })).status).toBe(400);
    const page = await api.post(ON_PACKAGE, { package_id }, { query: { limit: 1 } });
    expect(page.at('data')).toEqual([
      {
        customer_id: customer,
        contract_id: january,
        starting_at: '2026-01-01T00:00:00.000Z',
        ending_before: '2026-02-01T00:00:00.000Z',
      },
    ]);
    expect(await list({}, { limit: 1, next_page: page.text('next_page') })).toEqual([march]);
  });
});
