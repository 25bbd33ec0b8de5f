/** Unpaid invoices on the wire: filters of lists, sums, and ageing. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { ageingOfInvoices } from '../../../billing/invoices/read/list-issued.ts';
import { AGEING_BUCKETS } from '../../../core/ageing.ts';
import { decimal } from '../../../core/decimal.ts';
import { invalid } from '../../../core/errors.ts';
import type { Instant } from '../../../core/time.ts';
import type { ReceivableFilter } from '../../../store/invoices/receivables.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { called, noted } from '../../wire/description.ts';
import { enumIn, queryBoolean, timestamp } from '../../wire/fields.ts';
import { exact, id, integer, oneOf } from '../../wire/kinds.ts';
import { record } from '../../wire/record.ts';

const AGE =
  'Whole days after `due_at`, or after `issued_at` without payment terms; day 30 is in `DAYS_0_30`. Without what is paid, ' +
  'voided, uncollectible, billed by another system, or on a consolidated invoice.';

const queryAmount = z
  .string()
  .regex(/^-?\d{1,30}(?:\.\d{1,30})?$/, 'must be a number in plain digits, as 120.5')
  .transform((text) => decimal(text))
  .meta({ type: 'string', example: '120.5' });

export const receivableShape = {
  invoice_number: z
    .string()
    .max(100)
    .optional()
    .meta({ description: 'The invoice with exactly this number.' }),
  ageing: enumIn(AGEING_BUCKETS)
    .optional()
    .meta({ description: `Unpaid invoices of this age. ${AGE}` }),
  overdue: queryBoolean
    .optional()
    .meta({ description: 'If true, unpaid invoices whose `due_at` has passed; if false, all others.' }),
  due_from: timestamp.optional().meta({ description: 'Invoices with a `due_at` at or after this time.' }),
  due_before: timestamp.optional().meta({ description: 'Invoices with a `due_at` before this time.' }),
  total_min: queryAmount.optional().meta({ description: 'Invoices whose total is at least this.' }),
  total_max: queryAmount.optional().meta({ description: 'Invoices whose total is at most this.' }),
};

const receivableQuery = z.object(receivableShape);
type ReceivableQuery = z.output<typeof receivableQuery>;

export function receivableFilter(query: ReceivableQuery, now: Instant): ReceivableFilter {
  return {
    ageing: query.ageing,
    overdue: query.overdue,
    number: query.invoice_number,
    dueFrom: query.due_from,
    dueBefore: query.due_before,
    totalMin: query.total_min,
    totalMax: query.total_max,
    now,
  };
}

/** Drafts have no number, are not due, and their totals are known when they are computed. */
export function refuseForDrafts(query: ReceivableQuery): void {
  const [name] = Object.keys(receivableShape).filter(
    (key) => query[key as keyof ReceivableQuery] !== undefined,
  );
  if (name !== undefined) throw invalid([name], 'requires issued invoices');
}

const sumFields = {
  creditTypeId: id,
  count: integer,
  total: exact(),
  unpaid: noted(
    'The amount that is left to pay, in whole minor units, with the tax that the billing provider has added.',
    exact(),
  ),
};

export const invoiceSums = record(sumFields, { id: { answered: 'InvoiceSums' } });

const ageingSums = record(
  { bucket: called('ageing', oneOf(AGEING_BUCKETS)), ...sumFields },
  { id: { answered: 'AgeingSums' } },
);

export function ageingRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'get',
    path: '/v1/invoices/ageing',
    operationId: 'readAgeing',
    summary: 'Count and sum the unpaid invoices of all customers by age',
    description: `By currency; ages without an invoice are absent. ${AGE}`,
    tags: ['Invoices'],
    scope: 'read',
    response: z.object({ data: z.array(ageingSums.output) }),
    handler: async () => ({ data: (await ageingOfInvoices(context)).map((sums) => ageingSums.write(sums)) }),
  });
}
