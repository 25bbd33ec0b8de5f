/** The billed amounts day by day, of all customers: a page of customers at a time. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { listCustomers } from '../../../billing/customers/list-customers.ts';
import { type DayRevenue, listRevenue } from '../../../billing/invoices/breakdowns/revenue.ts';
import { pricingUnitsOf } from '../../../billing/invoices/read/pricing-units.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { assert, invalid } from '../../../core/errors.ts';
import { DAY_MS, formatInstant } from '../../../core/time.ts';
import { mapConcurrently } from '../../../runtime/concurrently.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { creditType, dayAlignedTimestamp, exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';

/** A month. */
const DAYS_MAX = 31;
/** Drafts of several customers wait for ClickHouse at the same time. */
const CUSTOMERS_AT_ONCE = 4;

const customerRevenue = z
  .object({
    customer_id: uuid,
    days: z
      .array(z.object({ start_timestamp: timestamp, credit_type: creditType, total: exactValue }))
      .meta({ description: 'Days on which something is billed, one entry for each currency.' }),
  })
  .meta({ id: 'CustomerRevenue' });

export function revenueRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/revenue',
    operationId: 'listRevenue',
    summary: 'List the billed amounts of all customers by day',
    description:
      'The totals of the daily breakdowns of all drafts and finalized invoices, for a page of the customers that are ' +
      `not archived, or for one. A scheduled invoice is on the day of its issue. At most ${DAYS_MAX} days. Drafts are computed while it is read.`,
    tags: ['Invoices'],
    scope: 'read',
    query: pageQuery(keysetPosition, 25).extend({
      starting_on: dayAlignedTimestamp,
      ending_before: dayAlignedTimestamp,
      customer_id: uuid.optional(),
    }),
    response: pageOf(customerRevenue),
    errors: [400, 413],
    async handler({ query }) {
      const range = { start: query.starting_on, end: query.ending_before };
      if (range.start >= range.end) throw invalid(['endingBefore'], 'must be after starting_on');
      if (range.end - range.start > DAYS_MAX * DAY_MS) {
        throw invalid(['endingBefore'], `must be at most ${DAYS_MAX} days after starting_on`);
      }
      const ids = query.customer_id === undefined ? undefined : [query.customer_id];
      const page = await listCustomers(context, { archived: false, ids }, pageRequest(query));
      const days = await mapConcurrently(page.rows, CUSTOMERS_AT_ONCE, ({ id }) =>
        listRevenue(context, id, range),
      );
      const units = await unitsOf(context, days.flat());
      const rows = page.rows.map(({ id }, index) => ({ id, days: days[index] ?? [] }));
      return pageToWire({ ...page, rows }, (row) => toWire(row, units));
    },
  });
}

async function unitsOf(context: BillingContext, days: readonly DayRevenue[]) {
  const ids = new Set(days.map(({ creditTypeId }) => creditTypeId));
  return await pricingUnitsOf(
    context,
    [...ids].map((creditTypeId) => ({ id: creditTypeId, creditTypeId, lines: [] })),
  );
}

function toWire(
  { id, days }: { readonly id: string; readonly days: readonly DayRevenue[] },
  units: ReadonlyMap<string, CreditType>,
): z.input<typeof customerRevenue> {
  return {
    customer_id: id,
    days: days.map(({ start, creditTypeId, total }) => {
      const unit = units.get(creditTypeId);
      assert(unit !== undefined, 'the currency of an invoice exists');
      return { start_timestamp: formatInstant(start), credit_type: unit, total };
    }),
  };
}
