/** Requests that race for unique values of custom fields. */
import { beforeEach, expect, test } from 'vitest';
import { createdId } from '../support/catalogue-api.ts';
import { addKey, removeKey, setValues, trySetValues } from '../support/custom-fields.ts';
import { catalogueForFile } from '../support/file-fixtures.ts';

const { pool, api } = await catalogueForFile();
let customers: string[];

beforeEach(async () => {
  await pool.db.execute('truncate custom_field_values, custom_field_keys');
  customers = await Promise.all(
    Array.from({ length: 8 }, () => createdId(api, '/v1/customers', { name: 'Racer' })),
  );
  await addKey(api, 'customer', 'account', { unique: true });
  await addKey(api, 'customer', 'order', { unique: true });
});

async function fieldsOfAll(): Promise<unknown[]> {
  const answers = await Promise.all(customers.map((id) => api.get(`/v1/customers/${id}`)));
  return answers.map((answer) => answer.at('data.custom_fields'));
}

test('of parallel requests to set one value on several objects exactly one wins', async () => {
  for (let round = 0; round < 5; round++) {
    const fields = { account: `round ${round}` };
    const answers = await Promise.all(customers.map((id) => trySetValues(api, 'customer', id, fields)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(409)]);
    const holders = (await fieldsOfAll()).filter((one) => JSON.stringify(one) === JSON.stringify(fields));
    expect(holders).toHaveLength(1);
  }
});

test('of parallel requests to create objects with one value exactly one wins', async () => {
  const body = { name: 'New', custom_fields: { account: 'a' } };
  const answers = await Promise.all(customers.map(() => api.send('POST', '/v1/customers', body)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(409)]);
});

test('of a creation and changes that race for one value exactly one wins', async () => {
  for (let round = 0; round < 5; round++) {
    const fields = { order: `o${round}`, account: `a${round}` };
    const answers = await Promise.all([
      ...customers.slice(0, 4).map((id) => trySetValues(api, 'customer', id, fields)),
      ...customers
        .slice(4)
        .map(() => api.send('POST', '/v1/customers', { name: 'x', custom_fields: fields })),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(409)]);
  }
});

test('objects that pass their values around never wait for each other in a circle', async () => {
  await Promise.all(
    customers.map((id, n) => setValues(api, 'customer', id, { account: `a${n}`, order: `o${n}` })),
  );
  for (let round = 0; round < 10; round++) {
    const answers = await Promise.all(
      customers.map((id, n) => {
        const next = (n + 1) % customers.length;
        const fields = { account: `a${next}`, order: `o${next}` };
        return n % 2 === 0
          ? trySetValues(api, 'customer', id, fields)
          : trySetValues(api, 'customer', id, { order: `o${next}`, account: `a${next}` });
      }),
    );
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
  }
  const accounts = (await fieldsOfAll()).map((one) => (one as { account: string }).account);
  expect(new Set(accounts).size).toBe(customers.length);
});

test('parallel changes of one object lose nothing', async () => {
  const keys = Array.from({ length: 8 }, (_, n) => `key ${n}`);
  for (const key of keys) await addKey(api, 'customer', key);
  const [id = ''] = customers;
  await Promise.all(keys.map((key) => setValues(api, 'customer', id, { [key]: 'set' })));
  expect((await fieldsOfAll())[0]).toEqual(Object.fromEntries(keys.map((key) => [key, 'set'])));
});

test('a key that is removed while values are set leaves no value that shows', async () => {
  await Promise.all([
    removeKey(api, 'customer', 'account'),
    ...customers.map((id, n) => trySetValues(api, 'customer', id, { account: `a${n}` })),
  ]);
  expect(await fieldsOfAll()).toEqual(customers.map(() => ({})));
});
