/** Customers who are evaluated together are answered as each would be alone (docs/explanation/holds.md, "The state"). */
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

test('a hundred customers whom a request asks for at once for the first time, beside their usage, get no more than they have', async () => {
  const [amount, held, used] = [10, 4, 3];
  const first = await createHolder(api, amount);
  const item = { amount, starting_at: '2026-11-01T00:00:00Z', ending_before: '2027-11-01T00:00:00Z' };
  const credits = [
    { product_id: first.catalogue.fee, priority: 1, access_schedule: { schedule_items: [item] } },
  ];
  const others: Awaited<ReturnType<typeof createThresholdCustomer>>[] = [];
  for (let index = 1; index < 100; index += 1)
    others.push(await createThresholdCustomer(api, first.catalogue, { credits }));
  const all = [first, ...others];
  await service.restart();
  const event = { event_type: 'use', properties: { tokens: held } };
  const ask = async (round: number) => {
    const holds = all.map(({ customerId: customer_id }) => {
      return { customer_id, transaction_id: `${customer_id} ${round}`, event };
    });
    const answer = await api.send('POST', '/v1/holds/reserve', { holds });
    expect(answer.status).toBe(200);
    return answer.list('data') as { readonly granted: boolean; readonly reason?: string }[];
  };
  const usage = all.map(({ customerId: customer_id }) => ({
    ...{ transaction_id: `${customer_id} used`, customer_id, event_type: 'use', timestamp: LATER },
    properties: { tokens: used },
  }));
  // As usage arrives: of some customers at a time.
  const ingest = async () => {
    for (let from = 0; from < usage.length; from += 20)
      await api.post('/v1/ingest', usage.slice(from, from + 20));
  };
  const rounds = await Promise.all([...[1, 2, 3, 4].map(ask), ingest()]);
  const answers = rounds
    .slice(0, 4)
    .flatMap((round, index) =>
      (round ?? []).map((one, place) => ({ ...one, customer: place, round: index + 1 })),
    );
  const granted = answers.filter((one) => one.granted);
  expect(new Set(answers.map(({ reason }) => reason))).toEqual(new Set([undefined, 'balance']));
  const grants = all.map((_, customer) => granted.filter((one) => one.customer === customer).length);
  // One fits beside the usage; two where they were granted before it came.
  expect(grants.filter((many) => many !== 1 && many !== 2)).toEqual([]);
  const again = await ask(5);
  const fits = grants.map((many) => amount - used - many * held >= held);
  expect(again.map((one) => one.granted)).toEqual(fits);
  const settlements = granted.map(({ customer, round }) => {
    return { transaction_id: `${all[customer]?.customerId} ${round}` };
  });
  for (let from = 0; from < settlements.length; from += 100) {
    const part = settlements.slice(from, from + 100);
    const settled = (await api.post('/v1/holds/settle', { settlements: part })).list('data');
    expect(settled).toEqual(part.map(() => expect.objectContaining({ accepted: true, amount: held })));
  }
  const left = await Promise.all(
    all.map(async (one) => (await one.contract()).at('data.credits[0].balance')),
  );
  expect(left).toEqual(grants.map((many) => Math.max(0, amount - used - many * held)));
});
