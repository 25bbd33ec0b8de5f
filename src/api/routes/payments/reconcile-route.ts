/** Whether billing providers have the billed amounts. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import {
  PROVIDER_DIFFERENCE_CODES,
  type ProviderDifference,
} from '../../../billing/payments/reconcile/compare.ts';
import {
  currencyCodeOf,
  providerCursor,
  type ReconciledDelivery,
  reconcileProviders,
} from '../../../billing/payments/reconcile/reconcile.ts';
import { BILLING_PROVIDERS } from '../../../core/billing-providers.ts';
import { type Decimal, ZERO } from '../../../core/decimal.ts';
import { EXTERNAL_STATUSES } from '../../../core/external-invoice.ts';
import { groupBy } from '../../../core/group-by.ts';
import { formatMonth, monthOfInvoice } from '../../../core/invoice-month.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';

const sumSchema = z
  .object({
    month: z.string().meta({
      description: 'The month of the invoices, such as 2026-11, as in the filter `month` of lists.',
    }),
    billing_provider: z.enum(BILLING_PROVIDERS),
    external_status: z.enum(EXTERNAL_STATUSES).meta({ description: 'The current state at the provider.' }),
    currency: z.string().meta({ description: 'Its code.' }),
    credit_type_id: uuid,
    invoice_count: z.int(),
    billed: exactValue.meta({
      description:
        'Voided invoices are left out. Unit: that of the credit type: US cents for `USD (cents)`, whole units of every other one.',
    }),
    at_provider: exactValue.meta({
      description: 'Sub-totals of paid and payable invoices at the provider. Unit: as `billed`.',
    }),
  })
  .meta({ id: 'ReconciledDeliveries' });

const differenceSchema = z
  .object({
    code: z.enum(PROVIDER_DIFFERENCE_CODES).meta({
      description:
        '`not_delivered`: the provider has no invoice, after more than an hour. `missing_there`: it was deleted there. ' +
        '`voided_here`, `voided_there`: on one side only. `status`, `amount`: not the same. `extra_there`: a further ' +
        'live invoice there is of the same.',
    }),
    invoice_id: uuid,
    customer_id: uuid,
    external_id: z.string().optional(),
    message: z.string(),
    expected: z.union([exactValue, z.string()]).optional(),
    found: z.union([exactValue, z.string()]).optional(),
  })
  .meta({ id: 'ProviderDifference' });

export function reconcileProvidersRoute(deps: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    path: '/v1/invoices/reconcileProviders',
    operationId: 'reconcileProviders',
    summary: 'Check that billing providers have what was billed',
    description:
      'Asks the provider of every invoice that was issued in the range and is delivered, and lists what differs. Rows are ' +
      'sums of one page: add up those of the same month, provider, status and currency. Nothing is changed.',
    tags: ['Invoices'],
    scope: 'read',
    query: pageQuery(providerCursor),
    body: z.object({
      starting_on: timestamp,
      ending_before: timestamp,
      customer_id: uuid.nullish().meta({ description: 'Default: all customers.' }),
    }),
    wireWords: { range: 'ending_before' },
    response: pageOf(sumSchema).extend({ differences: z.array(differenceSchema) }),
    errors: [400, 503],
    async handler({ query, body }) {
      const page = await reconcileProviders(deps, {
        range: { start: body.starting_on, end: body.ending_before },
        customerId: body.customer_id ?? null,
        ...pageRequest(query),
      });
      const groups = [...groupBy(page.rows, keyOf).values()];
      return {
        ...pageToWire({ rows: groups, next: page.next }, sumToWire),
        differences: page.differences.map(differenceToWire),
      };
    },
  });
}

function keyOf({ delivered: { invoice }, there }: ReconciledDelivery): string {
  return [
    formatMonth(monthOfInvoice(invoice)),
    there.billingProvider,
    there.status,
    currencyCodeOf(invoice),
  ].join(' ');
}

function sumToWire(group: readonly ReconciledDelivery[]): z.input<typeof sumSchema> {
  const [first] = group;
  if (first === undefined) throw new Error('a group has rows');
  const { invoice } = first.delivered;
  const sum = (amounts: readonly Decimal[]) => amounts.reduce((total, one) => total.plus(one), ZERO);
  return {
    month: formatMonth(monthOfInvoice(invoice)),
    billing_provider: first.there.billingProvider,
    external_status: first.there.status,
    currency: currencyCodeOf(invoice),
    credit_type_id: invoice.creditTypeId,
    invoice_count: group.length,
    billed: sum(group.flatMap((one) => (one.delivered.invoice.status === 'VOID' ? [] : [one.payable]))),
    at_provider: sum(group.flatMap((one) => one.amountThere ?? [])),
  };
}

function differenceToWire(one: ProviderDifference): z.input<typeof differenceSchema> {
  return {
    code: one.code,
    invoice_id: one.invoiceId,
    customer_id: one.customerId,
    ...(one.externalId === null ? {} : { external_id: one.externalId }),
    message: one.message,
    ...(one.expected === null ? {} : { expected: one.expected }),
    ...(one.found === null ? {} : { found: one.found }),
  };
}
