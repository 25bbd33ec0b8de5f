/** The search of customers: what finds them, in which order, and that it stays a matter of indexes. */
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { pool, api } = await catalogueForFile();

async function namesOf(search: string, query: Record<string, string> = {}): Promise<string[]> {
  const page = await api.get('/v1/customers', { query: { search, ...query } });
  return page.list('data').map((_, index) => page.text(`data[${index}].name`));
}

describe('what finds a customer', () => {
  test.each([
    ['a part of the name', 'rthwi'],
    ['the whole name in another letter case', 'NORTHWIND ÉCLAIRS gmbh'],
    ['a letter beyond ASCII in another letter case', 'écl'],
    ['one letter', 'Ñ'],
    ['two letters within the name', 'd É'],
    ['the beginning of an alias', 'NW-77'],
    ['the whole external id', 'nw-7731'],
    ['the beginning of a custom field', 'key accou'],
    ['the CRM account', '001-CRM'],
    ['text with spaces around it', '  northwind '],
  ])('%s', async (_, text) => {
    await northwind();
    expect(await namesOf(text)).toEqual(['Northwind Éclairs GmbH Ñ']);
  });

  test('a customer is found by its id in any letter case', async () => {
    const id = await northwind();
    expect(await namesOf(id)).toEqual(['Northwind Éclairs GmbH Ñ']);
    expect(await namesOf(id.toUpperCase())).toEqual(['Northwind Éclairs GmbH Ñ']);
  });

  test.each([
    'northwind gmbh',
    'w-7731',
    'accounts',
    '001',
    '%',
    '_',
    'nw_7731',
    '\\',
    "'",
    '00000000-0000-4000-8000-000000000000',
  ])('%j does not', async (text) => {
    await northwind();
    expect(await namesOf(text)).toEqual([]);
  });

  test('two characters of a Chinese name', async () => {
    await api.post('/v1/customers', { name: '東京電力株式会社' });
    expect(await namesOf('電力')).toEqual(['東京電力株式会社']);
    expect(await namesOf('電京')).toEqual([]);
  });

  let made: Promise<string> | undefined;
  function northwind(): Promise<string> {
    made ??= createNorthwind();
    return made;
  }

  async function createNorthwind(): Promise<string> {
    for (const entity of ['customer', 'contract']) {
      await api.post('/v1/customFields/addKey', { entity, key: 'segment', enforce_uniqueness: false });
    }
    await createdId(api, '/v1/customers', { name: 'Somebody else', ingest_aliases: ['other-1'] });
    const id = await createdId(api, '/v1/customers', {
      name: 'Northwind Éclairs GmbH Ñ',
      ingest_aliases: ['nw-7731', 'nw-7732'],
      custom_fields: { segment: 'Key Account EU' },
    });
    await api.post(`/v1/customers/${id}/updateConfig`, { crm_account_id: '001-CRM' });
    return id;
  }
});

describe('what is found', () => {
  test('names that equal the text are first, then names that begin with it, then names that contain it; pages continue there', async () => {
    for (const name of ['Big Zebra', 'Zebra Two', 'A zebra', 'Zebra', 'zebra three']) {
      await api.post('/v1/customers', { name });
    }
    await api.post('/v1/customers', { name: 'By alias', ingest_aliases: ['ZEBRA'] });
    const found = await namesOf('zebra');
    // The clock of this file stands still, so customers that fit equally well are in the order of their ids.
    expect([found.slice(0, 2).sort(), found.slice(2, 4).sort(), found.slice(4).sort()]).toEqual([
      ['By alias', 'Zebra'],
      ['Zebra Two', 'zebra three'],
      ['A zebra', 'Big Zebra'],
    ]);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await api.get('/v1/customers', {
        query: { search: 'zebra', limit: 1, next_page: cursor },
      });
      seen.push(page.text('data[0].name'));
      cursor = page.at('next_page') === null ? undefined : page.text('next_page');
    } while (cursor !== undefined);
    expect(seen).toEqual(found);
  });

  test('other filters hold too, and a renamed or archived customer is found as it is now', async () => {
    const id = await createdId(api, '/v1/customers', { name: 'Quokka', ingest_aliases: ['quokka-1'] });
    expect(await namesOf('quokka', { ingest_alias: 'nobody' })).toEqual([]);
    await api.post(`/v1/customers/${id}/setName`, { name: 'Wombat' });
    expect(await namesOf('Quok')).toEqual(['Wombat']);
    await api.post(`/v1/customers/${id}/setIngestAliases`, { ingest_aliases: [] });
    expect(await namesOf('Quok')).toEqual([]);
    await api.post('/v1/customers/archive', { id });
    expect(await namesOf('womb')).toEqual([]);
    expect(await namesOf('womb', { only_archived: 'true' })).toEqual(['Wombat']);
  });

  test('values of removed keys, and of objects that are no customers, find nothing', async () => {
    await api.post('/v1/customFields/addKey', {
      entity: 'customer',
      key: 'region',
      enforce_uniqueness: false,
    });
    await api.post('/v1/customers', { name: 'Regional', custom_fields: { region: 'antarctica' } });
    expect(await namesOf('antarctica')).toEqual(['Regional']);
    await api.post('/v1/customFields/removeKey', { entity: 'customer', key: 'region' });
    expect(await namesOf('antarctica')).toEqual([]);
  });

  test('an empty text is no search, and a cursor of another list is refused', async () => {
    const all = await api.get('/v1/customers', { query: { limit: 1 } });
    expect((await api.get('/v1/customers', { query: { limit: 1, search: ' ' } })).at('data')).toEqual(
      all.at('data'),
    );
    for (const query of [
      `search=zebra&next_page=${all.text('next_page')}`,
      `search=${'x'.repeat(201)}`,
      'search=%00',
    ]) {
      expect((await api.send('GET', `/v1/customers?${query}`)).status, query).toBe(400);
    }
  });
});

test('each way to find a customer among 100,000 reads an index and not all of them', async () => {
  // In parts: a statement has a limit of time.
  for (let first = 1; first < 100_000; first += 10_000) {
    await pool.db.execute(sql`
      with added as (
        insert into customers (id, name, created_at, updated_at)
        select gen_random_uuid(), 'Company ' || md5(n::text) || ' ' || n, now() - n * interval '1 second', now()
        from generate_series(${first}::int, ${first}::int + 9999) as n returning id, name)
      insert into ingest_aliases (alias, customer_id, position)
      select 'org-' || md5(name), id, 0 from added`);
  }
  await pool.db.execute(sql`analyze`);
  const text = 'company 1f3870be';
  const before = await scansOf();
  await namesOf(text);
  // A connection tells of its scans within a second, and with a later statement.
  await expect
    .poll(async () => (await scansSince(before)).get('customers_name_parts'), { timeout: 10_000 })
    .toBe(1);
  const scans = await scansSince(before);
  expect(scans.get('ingest_aliases_search')).toBe(1);
  expect(scans.get('customers')).toBe(0);
  expect(scans.get('ingest_aliases')).toBe(0);
});

type Scans = ReadonlyMap<string, number>;

/** How often each index, by its name, and each table, from beginning to end, has been read. */
async function scansOf(): Promise<Scans> {
  await Promise.all(
    Array.from({ length: 20 }, () => pool.db.execute(sql`select pg_stat_force_next_flush()`)),
  );
  const rows = await pool.db.execute<{ name: string; scans: string }>(sql`
    select indexrelname as name, idx_scan as scans from pg_stat_user_indexes
    union all select relname, seq_scan from pg_stat_user_tables`);
  return new Map(rows.map(({ name, scans }) => [name, Number(scans)]));
}

async function scansSince(before: Scans): Promise<Scans> {
  const after = await scansOf();
  return new Map([...after].map(([name, scans]) => [name, scans - (before.get(name) ?? 0)]));
}
