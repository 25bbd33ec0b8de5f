/** Customers who are evaluated together are answered as each would be alone (docs/holds.md, "The state"). */
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createHolder, createLimited } from '../support/holds.ts';
import { createThresholdCustomer } from '../support/thresholds.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T12:30:00Z' });
const { api } = service;
const LATER = '2026-11-10T12:20:00Z';

async function check(customerId: string): Promise<string> {
  const body = { event_type: 'use', properties: { tokens: 7 } };
  const answer = await api.send('POST', `/v1/customers/${customerId}/check`, body);
  return answer.status === 200 ? JSON.stringify(answer.body) : String(answer.status);
}

const checkAll = (ids: readonly string[]) => Promise.all(ids.map(check));

/** With balances, limits, both, neither, shared balances, and the beginning of a contract in the future. */
async function createAllKinds(): Promise<string[]> {
  const rich = await createHolder(api, 5_000);
  const poor = await createHolder(api, 5);
  const limited = await createLimited(api, { spend_limit: { amount: 20 } });
  const free = await createLimited(api, {});
  const later = await createLimited(api, { starting_at: '2026-11-20T00:00:00Z' });
  const parent = await createHolder(api, 100, { hierarchy_configuration: { child_access: { type: 'ALL' } } });
  const { customerId: customer_id, contractId: contract_id } = parent;
  const terms = { hierarchy_configuration: { parent: { customer_id, contract_id } } };
  const children = [
    await createThresholdCustomer(api, parent.catalogue, terms),
    await createThresholdCustomer(api, parent.catalogue, { ...terms, spend_limit: { amount: 1 } }),
  ];
  for (const [index, { use }] of [rich, limited, free, ...children].entries()) await use(3 + index, LATER);
  await api.post('/v1/holds/reserve', { holds: [rich.hold(`${customer_id} held`, 11)] });
  const all = [rich, poor, limited, free, later, parent, ...children];
  return all.map((one) => one.customerId);
}

test('many customers who are evaluated together are answered as each alone', async () => {
  const ids = await createAllKinds();
  await service.restart();
  const alone: string[] = [];
  for (const id of ids) alone.push(await check(id));
  expect(new Set(alone).size).toBeGreaterThan(5);
  await service.restart();
  expect(await checkAll(ids)).toEqual(alone);
});

const FAULTS = {
  'that cannot be rated': sql`update rates set tiers = '[]', rate_type = 'TIERED', price = null`,
  'whose terms cannot be read': sql`update rates set rate_type = 'FLAT', price = null, tiers = null`,
};

for (const [name, damage] of Object.entries(FAULTS)) {
  test(`a customer ${name} is refused alone, and those who are evaluated with it are answered`, async () => {
    const holders = await Promise.all(Array.from({ length: 6 }, (_, index) => createHolder(api, 50 + index)));
    const ids = holders.map(({ customerId }) => customerId);
    const expected = await checkAll(ids);
    const broken = holders[2];
    await broken?.use(1, LATER);
    await service.db.execute(sql`${damage} where identity in
      (select sequence from rate_identities where rate_card_id = ${broken?.catalogue.card})`);
    await service.restart();
    const answers = await checkAll(ids);
    expect(answers[2]).toBe('500');
    expect(answers.toSpliced(2, 1)).toEqual(expected.toSpliced(2, 1));
  });
}
