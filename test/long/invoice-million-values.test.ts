/**
 * The number of group values is no limit of an invoice: usage with more values than are held in memory gives the same
 * lines, and is issued with its hours.
 */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createManyKeys } from '../support/many-keys.ts';

const service = await serviceForFile();

const KEYS = 1_500;
const HOURS = 700;

it('an invoice bills more than a million values of group and hour: draft, breakdown, issued invoice', async () => {
  const { api } = service;
  const { customerId, total } = await createManyKeys(service, { name: 'wide', keys: KEYS, hours: HOURS });
  const path = `/v1/customers/${customerId}/invoices`;
  const november = { starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' };

  const drafts = await api.get(path);
  expect(drafts.digits('data[0].total')).toBe(total);
  const lines = drafts.list('data[0].line_items');
  expect(lines).toHaveLength(KEYS + 1);
  const users = lines.flatMap((_, index) => {
    const user = drafts.at(`data[0].line_items[${index}].presentation_group_values.user`);
    return typeof user === 'string' ? [user] : [];
  });
  expect(users).toEqual(users.toSorted());
  expect(drafts.digits(`data[0].line_items[${KEYS - 1}].quantity`)).toBe(String(HOURS));

  const day = { ...november, starting_on: '2026-11-30T00:00:00Z', window_size: 'DAY' };
  await service.moveClock('2026-12-02T00:00:00Z');
  const issued = await api.get(path, { query: { status: 'FINALIZED' } });
  expect(issued.digits('data[0].total')).toBe(total);
  expect(issued.list('data[0].line_items')).toEqual(lines);
  const issuedDay = await api.get(`${path}/breakdowns`, { query: day });
  // 700 hours are 29 days and 4 hours.
  expect(issuedDay.digits('data[0].total')).toBe(String(KEYS * 4 * 4));
  expect(issuedDay.list('data[0].line_items')).toHaveLength(KEYS + 1);
  const frozen = await service.clickhouse.query({
    sql: 'SELECT toString(sum(length(hours))) AS hours FROM invoice_hourly_lines',
    schema: z.object({ hours: z.string() }),
  });
  expect(frozen).toEqual([{ hours: String(KEYS * HOURS + HOURS) }]);
}, 240_000);
