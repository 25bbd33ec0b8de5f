/** Reconciliation of usage, breakdowns and invoices. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { pricingUnitsWithIds } from '../../../billing/invoices/read/pricing-units.ts';
import { DIFFERENCE_CODES, type Difference } from '../../../billing/invoices/reconcile/difference.ts';
import {
  type ReconciledCustomer,
  reconcileCursor,
  reconcileInvoices,
} from '../../../billing/invoices/reconcile/reconcile.ts';
import type { CreditType } from '../../../core/credit-types.ts';
import { assert } from '../../../core/errors.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { noted, optional } from '../../wire/description.ts';
import { timestamp, uuid } from '../../wire/fields.ts';
import { anyText, exact, id, instant, integer, oneOf } from '../../wire/kinds.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { record } from '../../wire/record.ts';
import { lateToWire, lateUsageSchema } from './unbilled-usage-output.ts';

const body = z
  .object({
    starting_on: timestamp,
    ending_before: timestamp.meta({
      description:
        'Invoices whose billing period shares time with the range are checked, and scheduled invoices dated in it.',
    }),
    customer_id: uuid.nullish().meta({ description: 'Default: all customers.' }),
  })
  .meta({ id: 'ReconcileRequest' });

const difference = record(
  {
    code: noted(
      '`line_total`: quantity × unit price is not the total of a line. `conversion`: the lines in a custom unit are ' +
        'not what is converted. `invoice_total`: the lines are not the total. `hours`, `days`: hours do not add up to ' +
        'the line or the day. `recomputed_line`, `recomputed_hour`: the events that the invoice counted, rated under ' +
        'its terms, give something else. `usage`: the usage API has another value than rating. `applied`: an ' +
        'applied line does not take back the covered line before it. `deduction`: a ledger does not have what the ' +
        'invoice takes from a balance. `balance`: invoices took more from a segment than it had. ' +
        '`scheduled_amount`: a line is not what the schedule says. `not_issued`: a due invoice is not issued. ' +
        '`credit_note`: a credit note differs from its lines, its invoice or the ledgers.',
      oneOf(DIFFERENCE_CODES),
    ),
    message: anyText,
    invoiceId: id,
    contractId: id,
    lineNumber: noted('From 1, in the order of the invoice.', optional(integer)),
    lineName: optional(anyText),
    startingAt: noted('Start of the hour or the day.', optional(instant)),
    endingBefore: optional(instant),
    field: optional(oneOf(['quantity', 'unit_price', 'total', 'value'])),
    expected: noted(
      'The expected value, computed from the rest of the data; absent if nothing is expected.',
      optional(exact()),
    ),
    found: noted('The stored or shown value; absent if there is none.', optional(exact())),
  },
  { id: { answered: 'ReconciledDifference' } },
);

const leftOut = z
  .int()
  .optional()
  .meta({ description: 'Number of further entries; absent if there are none.' });

const customerSchema = z
  .object({
    customer_id: uuid,
    invoice_count: z.int().meta({ description: 'Invoices that were checked, drafts included.' }),
    line_count: z.int(),
    differences: z.array(difference.output).meta({ description: 'None is expected; at most 100 are shown.' }),
    differences_left_out: leftOut,
    late_usage: z.array(lateUsageSchema.extend({ invoice_id: uuid })).meta({
      id: 'ReconciledLateUsage',
      description:
        'Usage that arrived after its invoice was finalized, and the amount it would have added. It is not a difference.',
    }),
    late_usage_left_out: leftOut,
    unchecked: z.array(z.object({ invoice_id: uuid, reason: z.string() })).meta({
      description: 'Invoices whose events cannot be rated now; their sums were checked.',
    }),
    unchecked_left_out: leftOut,
  })
  .meta({ id: 'ReconciledCustomer' });

export function reconcileRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/reconcile',
    operationId: 'reconcileInvoices',
    summary: 'Check that usage, breakdowns and invoices agree',
    description:
      'Compares usage, hours, days, lines, totals and schedules of drafts and issued invoices, and lists what is not ' +
      'equal. A row for every customer with invoices in the range, ascending by id. Nothing is changed. A page that ' +
      'takes longer than 10 seconds ends early; `next_page` continues from there.',
    tags: ['Invoices'],
    scope: 'read',
    query: pageQuery(reconcileCursor),
    body,
    response: pageOf(customerSchema).extend({
      customers_left: z.int().meta({ description: 'How many customers come after this page.' }),
    }),
    errors: [400, 404, 413],
    async handler({ query, body: asked }) {
      const page = await reconcileInvoices(context, {
        range: { start: asked.starting_on, end: asked.ending_before },
        customerId: asked.customer_id ?? null,
        ...pageRequest(query),
      });
      const units = await pricingUnitsWithIds(
        context,
        page.rows.flatMap(({ late }) => late.first.flatMap(({ price }) => price?.creditTypeId ?? [])),
      );
      return {
        ...pageToWire(page, (row) => customerToWire(row, units)),
        customers_left: page.customersLeft,
      };
    },
  });
}

function customerToWire(
  { customerId, invoiceCount, lineCount, differences, late, unchecked }: ReconciledCustomer,
  units: ReadonlyMap<string, CreditType>,
): z.input<typeof customerSchema> {
  const unitOf = (id: string): CreditType => {
    const unit = units.get(id);
    assert(unit !== undefined, `pricing unit ${id} of late usage exists`);
    return unit;
  };
  const leftOut = (shown: { readonly first: readonly unknown[]; readonly count: number }) =>
    shown.count > shown.first.length ? shown.count - shown.first.length : undefined;
  return {
    customer_id: customerId,
    invoice_count: invoiceCount,
    line_count: lineCount,
    differences: differences.first.map(differenceToWire),
    differences_left_out: leftOut(differences),
    late_usage: late.first.map((one) => ({ invoice_id: one.invoiceId, ...lateToWire(one, unitOf) })),
    late_usage_left_out: leftOut(late),
    unchecked: unchecked.first.map(({ invoiceId, reason }) => ({ invoice_id: invoiceId, reason })),
    unchecked_left_out: leftOut(unchecked),
  };
}

function differenceToWire(one: Difference) {
  const { window } = one;
  return difference.write({ ...one, startingAt: window?.start ?? null, endingBefore: window?.end ?? null });
}
