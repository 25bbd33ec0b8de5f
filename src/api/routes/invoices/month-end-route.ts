/** Month end: the invoices of a month beside those of the month before, and the sums. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import type { InvoiceWithWarnings } from '../../../billing/invoices/drafts/unbilled-usage.ts';
import { numbersOfInvoices } from '../../../billing/invoices/issue/numbering.ts';
import { externalOfInvoices } from '../../../billing/invoices/read/external-invoices.ts';
import {
  isUsageMissing,
  type MonthContract,
  type MonthSums,
  readMonthEnd,
} from '../../../billing/invoices/read/month-end.ts';
import { customersOfInvoices } from '../../../billing/invoices/read/payers.ts';
import { pricingUnitsWithIds } from '../../../billing/invoices/read/pricing-units.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { decimal } from '../../../core/decimal.ts';
import { assert } from '../../../core/errors.ts';
import type { ExternalInvoice } from '../../../core/external-invoice.ts';
import { formatInstant } from '../../../core/time.ts';
import type { MonthRow } from '../../../rating/invoices/month-rows.ts';
import type { CustomerLabel } from '../../../store/customers/customers.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { creditType, exactValue, given, month, timestamp, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { reasonsSchema, reasonsToWire } from './change-route.ts';
import { invoiceAdvice } from './warning-messages.ts';

const count = z.int().min(0);
const amountText = z.string().regex(/^-?\d{1,60}(\.\d{1,60})?$/);

const position = z.object({
  customer: z.object({ id: keysetPosition.shape.id, createdAt: keysetPosition.shape.at }),
  contractId: z.string().max(36),
  sums: z.object({
    ...{ drafts: count, finalized: count, void: count, warned: count, usageMissing: count, unpaired: count },
    deliveries: z.record(z.string().max(40), count),
    units: z.array(z.object({ unit: uuid, total: amountText, former: amountText, unpaired: amountText })),
  }),
});

const monthInvoice = z
  .object({
    id: uuid,
    status: z.string(),
    type: z.string(),
    invoice_number: z.string().optional(),
    start_timestamp: timestamp.optional(),
    end_timestamp: timestamp.optional(),
    issued_at: timestamp,
    credit_type: creditType,
    total: exactValue,
    part: z.enum(['counted', 'void', 'repeated']).meta({
      description:
        'Whether the amount is in the sums of the month: that of a voided invoice is not, nor that of a consolidated one, ' +
        'which repeats others.',
    }),
    former_invoice: z
      .object({ id: uuid, total: exactValue })
      .optional()
      .meta({ description: 'The invoice of the month before that it is compared with.' }),
    change: exactValue.optional().meta({ type: 'number', description: 'Against that invoice.' }),
    reasons: reasonsSchema,
    is_further: z.boolean().meta({
      description:
        'Whether all invoices of the month before, which were fewer, stand beside others of the contract.',
    }),
    warnings: z.array(z.string()).meta({ description: 'The messages of its first 100 warnings.' }),
    external_status: z.string().optional().meta({ description: 'At its billing provider.' }),
  })
  .meta({ id: 'MonthEndInvoice' });

const monthContract = z
  .object({
    contract_id: uuid,
    customer_id: uuid,
    customer_name: z.string().optional(),
    events: z.int().optional().meta({
      description:
        'Events of the customer on the completed days of the month; absent if events were removed.',
    }),
    events_before: z.int().optional().meta({ description: 'In the same days of the month before.' }),
    is_usage_missing: z
      .boolean()
      .meta({ description: 'Whether there were at least 10 events before, and now less than half of them.' }),
    invoices: z.array(monthInvoice),
  })
  .meta({ id: 'MonthEndContract' });

const summary = z
  .object({
    invoice_counts: z.object({ draft: z.int(), finalized: z.int(), void: z.int() }),
    warned_invoice_count: z.int(),
    usage_missing_customer_count: z.int(),
    unpaired_invoice_count: z
      .int()
      .meta({ description: 'Invoices of the month before that no invoice of the month is compared with.' }),
    deliveries: z.array(z.object({ external_status: z.string(), invoice_count: z.int() })),
    totals: z.array(
      z.object({
        credit_type: creditType,
        total: exactValue,
        former_total: exactValue.meta({ type: 'number', description: 'The total of the month before.' }),
        unpaired_total: exactValue.meta({
          type: 'number',
          description: 'The part of `former_total` that no invoice of the month is compared with.',
        }),
      }),
    ),
  })
  .meta({ id: 'MonthEndSummary' });

export function monthEndRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/month-end/{month}',
    operationId: 'readMonthEnd',
    summary: 'Read the invoices of a month beside those of the month before, with the sums',
    description:
      'Drafts, finalized and voided invoices by contract, customers in the order of their creation; `limit` counts ' +
      'contracts. `summary` has the sums from the first page up to this one, so the last page has those of the month. ' +
      'Drafts are computed while it is read: a page ends after 10 seconds, and may then be short or empty.',
    tags: ['Invoices'],
    scope: 'read',
    params: z.object({ month: month.meta({ description: 'In UTC, as `2026-11`.' }) }),
    query: pageQuery(position, 25),
    response: pageOf(monthContract).extend({ summary }),
    errors: [400, 413, 429],
    async handler({ params, query }) {
      const page = await readMonthEnd(context, params.month, pageRequest(query));
      const shown = await shownOf(context, page.rows, page.sums);
      return {
        ...pageToWire(page, (row) => contractToWire(row, shown)),
        summary: summaryToWire(page.sums, shown),
      };
    },
  });
}

interface Shown {
  readonly numbers: ReadonlyMap<string, string>;
  readonly customers: ReadonlyMap<string, CustomerLabel>;
  readonly external: ReadonlyMap<string, ExternalInvoice>;
  unitOf(id: string): CreditType;
}

async function shownOf(
  context: BillingContext,
  contracts: readonly MonthContract[],
  { units: sums }: MonthSums,
): Promise<Shown> {
  const invoices = contracts.flatMap(({ rows }) => rows.map(({ invoice }) => invoice));
  const ids = [...invoices.map(({ creditTypeId }) => creditTypeId), ...sums.map(({ unit }) => unit)];
  const [numbers, customers, external, units] = await Promise.all([
    numbersOfInvoices(context, invoices),
    customersOfInvoices(context, contracts),
    externalOfInvoices(context, invoices),
    pricingUnitsWithIds(context, ids),
  ]);
  return {
    ...{ numbers, customers, external },
    unitOf(id) {
      const unit = units.get(id);
      assert(unit !== undefined, `the currency ${id} of an invoice exists`);
      return unit;
    },
  };
}

function contractToWire(contract: MonthContract, shown: Shown): z.input<typeof monthContract> {
  const { contractId, customerId, events, rows } = contract;
  return {
    contract_id: contractId,
    customer_id: customerId,
    customer_name: shown.customers.get(customerId)?.name,
    events: events?.now,
    events_before: events?.before,
    is_usage_missing: isUsageMissing(events),
    invoices: rows.map((row) => rowToWire(row, shown)),
  };
}

function rowToWire(row: MonthRow<InvoiceWithWarnings>, shown: Shown): z.input<typeof monthInvoice> {
  const { invoice, part, former } = row;
  const period = invoice.type === 'SCHEDULED' ? null : invoice.period;
  return {
    id: invoice.id,
    status: invoice.status,
    type: invoice.type,
    invoice_number: shown.numbers.get(invoice.id),
    start_timestamp: given(period?.start, formatInstant),
    end_timestamp: given(period?.end, formatInstant),
    issued_at: formatInstant(invoice.issuedAt),
    credit_type: shown.unitOf(invoice.creditTypeId),
    total: invoice.total,
    part,
    former_invoice: given(former, ({ id, total }) => ({ id, total })),
    change: given(former, ({ total }) => invoice.total.minus(total)),
    reasons: given(row.reasons, reasonsToWire),
    is_further: row.isFurther,
    warnings: part === 'counted' ? invoice.warnings.first.map(invoiceAdvice) : [],
    external_status: shown.external.get(invoice.id)?.status,
  };
}

function summaryToWire(sums: MonthSums, shown: Shown): z.input<typeof summary> {
  return {
    invoice_counts: { draft: sums.drafts, finalized: sums.finalized, void: sums.void },
    warned_invoice_count: sums.warned,
    usage_missing_customer_count: sums.usageMissing,
    unpaired_invoice_count: sums.unpaired,
    deliveries: Object.entries(sums.deliveries).map(([status, invoices]) => ({
      external_status: status,
      invoice_count: invoices,
    })),
    totals: sums.units.map(({ unit, total, former, unpaired }) => ({
      credit_type: shown.unitOf(unit),
      total: decimal(total),
      former_total: decimal(former),
      unpaired_total: decimal(unpaired),
    })),
  };
}
