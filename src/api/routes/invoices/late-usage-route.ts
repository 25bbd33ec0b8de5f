/** The invoices of a month that miss usage which arrived after their issue. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { numbersOfInvoices } from '../../../billing/invoices/issue/numbering.ts';
import { type LateInvoice, listLateUsage } from '../../../billing/invoices/read/list-late-usage.ts';
import { customersOfInvoices } from '../../../billing/invoices/read/payers.ts';
import { pricingUnitsWithIds } from '../../../billing/invoices/read/pricing-units.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { assert } from '../../../core/errors.ts';
import { formatInstant } from '../../../core/time.ts';
import type { CustomerLabel } from '../../../store/customers/customers.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { month, timestamp, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { lateToWire, lateUsageSchema } from './unbilled-usage-output.ts';

const lateInvoice = z
  .object({
    invoice_id: uuid,
    invoice_number: z.string().optional(),
    customer_id: uuid,
    customer_name: z.string().optional(),
    contract_id: uuid,
    start_timestamp: timestamp,
    end_timestamp: timestamp,
    issued_at: timestamp,
    unbilled_late_usage: z
      .array(lateUsageSchema)
      .nullable()
      .meta({ description: 'As on the invoice: at most 100 entries; null if unknown.' }),
    unbilled_late_usage_left_out: z
      .int()
      .optional()
      .meta({ description: 'Number of further entries; absent if there are none.' }),
  })
  .meta({ id: 'LateInvoice' });

export function lateUsageRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/late-usage',
    operationId: 'listLateUsage',
    summary: 'List the invoices of a month that miss usage which arrived after their issue',
    description:
      'Finalized usage invoices by issue date, each with its `unbilled_late_usage`. Only invoices are computed whose ' +
      'customer has later events or other aliases. A page ends after 10 seconds, and may then be short or empty.',
    tags: ['Invoices'],
    scope: 'read',
    query: pageQuery(keysetPosition, 25).extend({
      month: month.meta({ description: 'The month of the invoices in UTC, as `2026-11`.' }),
    }),
    response: pageOf(lateInvoice),
    errors: [400, 429],
    async handler({ query }) {
      const page = await listLateUsage(context, query.month, pageRequest(query));
      const invoices = page.rows.map(({ invoice }) => invoice);
      const [numbers, customers, units] = await Promise.all([
        numbersOfInvoices(context, invoices),
        customersOfInvoices(context, invoices),
        pricingUnitsWithIds(
          context,
          page.rows.flatMap(
            ({ late }) => late?.first.flatMap(({ price }) => price?.creditTypeId ?? []) ?? [],
          ),
        ),
      ]);
      return pageToWire(page, (row) => toWire(row, { numbers, customers, units }));
    },
  });
}

interface Shown {
  readonly numbers: ReadonlyMap<string, string>;
  readonly customers: ReadonlyMap<string, CustomerLabel>;
  readonly units: ReadonlyMap<string, CreditType>;
}

function toWire({ invoice, late }: LateInvoice, shown: Shown): z.input<typeof lateInvoice> {
  const { id, customerId, contractId, period, issuedAt } = invoice;
  const leftOut = late === null ? 0 : late.count - late.first.length;
  const unitOf = (unitId: string): CreditType => {
    const unit = shown.units.get(unitId);
    assert(unit !== undefined, `pricing unit ${unitId} of late usage exists`);
    return unit;
  };
  return {
    invoice_id: id,
    invoice_number: shown.numbers.get(id),
    customer_id: customerId,
    customer_name: shown.customers.get(customerId)?.name,
    contract_id: contractId,
    start_timestamp: formatInstant(period.start),
    end_timestamp: formatInstant(period.end),
    issued_at: formatInstant(issuedAt),
    unbilled_late_usage: late?.first.map((one) => lateToWire(one, unitOf)) ?? null,
    ...(leftOut === 0 ? {} : { unbilled_late_usage_left_out: leftOut }),
  };
}
