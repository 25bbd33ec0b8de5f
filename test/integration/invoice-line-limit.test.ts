/** An invoice has a maximum number of lines: the product that exceeds it is named, and all others are billed. */
import { expect, it } from 'vitest';
import { serviceForFile } from '../support/file-fixtures.ts';
import { createManyKeys } from '../support/many-keys.ts';

const LINES_MAX = 100;
const service = await serviceForFile({ invoiceLinesMax: LINES_MAX });

it('an invoice leaves out the product with too many lines, says so, and bills the others in this and later periods', async () => {
  const { api } = service;
  const { customerId, manyProductId } = await createManyKeys(service, {
    name: 'lines',
    keys: 120,
    hours: 10,
  });
  const path = `/v1/customers/${customerId}/invoices`;
  const warning = {
    code: 'too_many_lines',
    product_id: manyProductId,
    product_name: 'Units',
    line_count: 120,
    message:
      '"Units" has 120 lines, more than the 100 that one invoice lists, and is not billed on this invoice: remove ' +
      'group keys of the product that have too many different values, or raise INVOICE_LINES_MAX',
  };
  const draft = await api.get(path);
  expect(draft.digits('data[0].total')).toBe('1200');
  expect(draft.list('data[0].warnings')).toMatchObject([warning]);
  await service.moveClock('2027-01-02T00:00:00Z');
  const issued = await api.get(path, { query: { status: 'FINALIZED', sort: 'date_asc' } });
  expect(issued.list('data')).toHaveLength(2);
  expect(issued.digits('data[0].total')).toBe('1200');
  expect(issued.list('data[0].warnings')).toMatchObject([warning]);
  const one = await api.get(`${path}/${issued.text('data[0].id')}`);
  expect(one.at('data.unbilled_late_usage')).toEqual([]);
  // Once they can be listed, they are reported as not billed.
  await service.restart({ invoiceLinesMax: 1_000 });
  const later = await api.get(`${path}/${issued.text('data[0].id')}`);
  expect(later.list('data.unbilled_late_usage')).toHaveLength(100);
  expect(later.at('data.unbilled_late_usage_left_out')).toBe(20);
});
