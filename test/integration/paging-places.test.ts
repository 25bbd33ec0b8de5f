/** Where programs may send `limit` and `next_page`, and the order and contents of lists of balances. */
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CONTRACTS, createCatalogueApi, createdId } from '../support/catalogue-api.ts';
import { createTermsCatalogue } from '../support/contract-terms.ts';
import { clickhouseForFile, databaseForFile } from '../support/file-fixtures.ts';

const pool = await databaseForFile();
const clickhouse = await clickhouseForFile();
const day = (month: number) => new Date(Date.UTC(2026, month - 1)).toISOString();
const api = createCatalogueApi(pool.db, { now: Date.parse(day(3)), clickhouse });

const PRODUCTS = '/v1/contract-pricing/products/list';
const BALANCES = '/v1/contracts/customerBalances/list';
const COMMITS = '/v1/contracts/customerCommits/list';

const document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        parameters: z.array(z.unknown()).default([]),
        requestBody: z.unknown().optional(),
        responses: z.record(z.string(), z.unknown()),
      }),
    ),
  ),
});
const page = z.object({ data: z.array(z.object({ id: z.string() })), next_page: z.string().nullable() });

let customer: string;
/** By their names. */
const ids = new Map<string, string>();

beforeAll(async () => {
  const { fee, card } = await createTermsCatalogue(api);
  customer = await createdId(api, '/v1/customers', { name: 'Customer' });
  const segment = { amount: 100, starting_at: day(1), ending_before: day(12) };
  const term = (name: string, priority: number) => ({
    name,
    product_id: fee,
    priority,
    access_schedule: { schedule_items: [segment] },
  });
  const contract = await createdId(api, CONTRACTS, {
    customer_id: customer,
    rate_card_id: card,
    starting_at: day(1),
    credits: [term('of the contract', 30)],
    commits: [{ ...term('prepaid of the contract', 10), type: 'PREPAID' }],
  });
  ids.set('contract', contract);
  for (const [name, priority] of Object.entries({ second: 20, first: 9, third: 100 })) {
    const body = { customer_id: customer, ...term(name, priority) };
    ids.set(name, await createdId(api, '/v1/contracts/customerCredits/create', body));
  }
});

async function listed(path: string, body: Record<string, unknown>) {
  return page.parse((await api.post(path, body)).body);
}

/** Every page, by `next` of the page before. */
async function pages(read: (next: string | null) => Promise<z.infer<typeof page>>): Promise<string[]> {
  const found: string[] = [];
  for (let next: string | null = null, read1 = 0; read1 < 20; read1 += 1) {
    const { data, next_page } = await read(next);
    expect(data).toHaveLength(1);
    found.push(...data.map(({ id }) => id));
    next = next_page;
    if (next === null) return found;
  }
  throw new Error('the list does not end');
}

describe('limit and next_page', () => {
  test('limit and next_page of a list that pages by its query are taken from the body as well', async () => {
    const all = await listed(PRODUCTS, {});
    const inBody = await pages((next) => listed(PRODUCTS, { limit: 1, next_page: next }));
    const inQuery = await pages((next) => {
      return listed(`${PRODUCTS}?limit=1${next === null ? '' : `&next_page=${next}`}`, {});
    });
    const mixed = await pages((next) => listed(`${PRODUCTS}?limit=1`, { next_page: next }));
    expect(all.data.length).toBeGreaterThan(1);
    expect([inBody, inQuery, mixed]).toEqual([1, 2, 3].map(() => all.data.map(({ id }) => id)));
  });

  test('limit and next_page of a list that pages by its body are taken from the query as well', async () => {
    const body = { customer_id: customer };
    const all = await listed(BALANCES, body);
    const inQuery = await pages((next) => {
      return listed(`${BALANCES}?limit=1${next === null ? '' : `&next_page=${next}`}`, body);
    });
    expect(all.data).toHaveLength(5);
    expect(inQuery).toEqual(all.data.map(({ id }) => id));
  });

  test('limit and next_page with the same value in both places are taken, and refused with different ones', async () => {
    const same = await api.post(`${PRODUCTS}?limit=2`, { limit: 2 });
    expect(page.parse(same.body).data).toHaveLength(2);
    const differs = await api.send('POST', `${PRODUCTS}?limit=2`, { limit: 3 });
    expect(differs.status).toBe(400);
    expect(differs.body).toEqual({
      message: 'limit: is 2 in the query and 3 in the body; send it once',
    });
    const ofBody = await api.send('POST', `${BALANCES}?limit=2`, { customer_id: customer, limit: 3 });
    expect(ofBody.status).toBe(400);
  });

  test('limit and next_page that are out of range or malformed are refused in either place', async () => {
    for (const [path, body] of [
      [PRODUCTS, { limit: 0 }],
      [PRODUCTS, { limit: 1.5 }],
      [PRODUCTS, { limit: { much: true } }],
      [PRODUCTS, { next_page: 'nonsense' }],
      [`${BALANCES}?limit=0`, { customer_id: customer }],
      [`${BALANCES}?limit=x`, { customer_id: customer }],
      [`${BALANCES}?next_page=nonsense`, { customer_id: customer }],
    ] as const) {
      const answer = await api.send('POST', path, body);
      const expected = [path, 400, expect.stringMatching(/^(limit|next_page): must be /)];
      expect([path, answer.status, answer.at('message')]).toEqual(expected);
    }
  });

  test('count on every operation that answers a page', async () => {
    const { paths } = document.parse((await api.get('/openapi.json')).body);
    const without: string[] = [];
    let paged = 0;
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        const text = JSON.stringify(operation);
        if (!JSON.stringify(operation.responses['200'] ?? {}).includes('"next_page"')) continue;
        paged += 1;
        const hasBoth =
          /"limit"/.test(text) &&
          /"next_page"|"cursor"/.test(
            JSON.stringify(operation.parameters) + JSON.stringify(operation.requestBody),
          );
        if (!hasBoth) without.push(`${method} ${path}`);
      }
    }
    expect(paged).toBeGreaterThan(20);
    expect(without).toEqual([]);
  });
});

describe('lists of balances', () => {
  test('lists of balances have those of contracts unless they are left out', async () => {
    const all = await listed(BALANCES, { customer_id: customer });
    const own = await listed(BALANCES, { customer_id: customer, include_contract_balances: false });
    expect(all.data).toHaveLength(5);
    expect(own.data).toHaveLength(3);
  });

  test('lists of balances are in the order of priorities where that is asked for, page by page', async () => {
    const names = new Map([...ids].map(([name, id]) => [id, name]));
    const body = { customer_id: customer, sort_by_priority: true };
    const all = await listed(BALANCES, body);
    const own = await listed(BALANCES, { ...body, include_contract_balances: false });
    const single = await pages((next) => listed(BALANCES, { ...body, limit: 1, next_page: next }));
    expect(own.data.map(({ id }) => names.get(id))).toEqual(['first', 'second', 'third']);
    expect(single).toEqual(all.data.map(({ id }) => id));
  });

  test('lists of balances refuse the position of a list in another order', async () => {
    const { next_page } = await listed(BALANCES, { customer_id: customer, sort_by_priority: true, limit: 1 });
    const { status, body } = await api.send('POST', BALANCES, { customer_id: customer, next_page });
    expect([status, body]).toEqual([400, { message: 'next_page: does not belong to this request' }]);
  });

  test('lists of balances find a commit of a contract by its id', async () => {
    const { data } = await listed(BALANCES, { customer_id: customer, include_contract_balances: true });
    const ofCustomer = await listed(COMMITS, { customer_id: customer });
    expect(ofCustomer.data).toEqual([]);
    const [commit] = (await listed(COMMITS, { customer_id: customer, include_contract_commits: true })).data;
    expect(data.map(({ id }) => id)).toContain(commit?.id);
    const byId = await listed(COMMITS, { customer_id: customer, commit_id: commit?.id });
    expect(byId.data.map(({ id }) => id)).toEqual([commit?.id]);
  });
});
