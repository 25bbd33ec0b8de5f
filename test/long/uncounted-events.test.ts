/** Many events that a metric cannot be evaluated with. */
import { expect, it } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { uncountableUsage } from '../support/uncountable-usage.ts';

const service = await serviceForFile({ sandboxNow: '2026-11-10T00:00:00Z' });
const { createCustomer, send, invoicesOf } = await uncountableUsage(service.api);

it('a hundred events are named; beyond, all later events are left out and counted', async () => {
  const customer = await createCustomer('hundreds');
  const poison = Array.from({ length: 130 }, (_, index) => {
    return [`x${String(index).padStart(3, '0')}`, '03T10', '1e30', '1e30'] as const;
  });
  await send('hundreds', ['first', '02T10', '2', '3'], ...poison.slice(0, 50));
  await send('hundreds', ...poison.slice(50), ['last', '04T10', '5', '7']);
  const drafts = await invoicesOf(customer);
  expect(drafts.digits('data[0].total')).toBe(String(6 + 132));
  expect(drafts.at('data[0].warnings[0].event_count')).toBe(131);
  const named = drafts.list('data[0].warnings[0].transaction_ids');
  expect(named).toEqual(poison.slice(0, 100).map(([id]) => `hundreds-${id}`));
});
