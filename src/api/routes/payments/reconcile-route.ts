/** Whether billing providers have the billed amounts. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { PROVIDER_DIFFERENCE_CODES } from '../../../billing/payments/reconcile/compare.ts';
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
import { byHand, noted, optional } from '../../wire/description.ts';
import { exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { anyText, exact, id, integer, oneOf } from '../../wire/kinds.ts';
import { pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { record } from '../../wire/record.ts';

const sums = record(
  {
    month: noted('The month of the invoices, such as 2026-11, as in the filter `month` of lists.', anyText),
    billingProvider: oneOf(BILLING_PROVIDERS),
    externalStatus: noted('The current state at the provider.', oneOf(EXTERNAL_STATUSES)),
    currency: noted('Its code.', anyText),
    creditTypeId: id,
    invoiceCount: integer,
    billed: noted(
      'Voided invoices are left out. Unit: that of the credit type: US cents for `USD (cents)`, whole units of every other one.',
      exact(),
    ),
    atProvider: noted('Sub-totals of paid and payable invoices at the provider. Unit: as `billed`.', exact()),
  },
  { id: { answered: 'ReconciledDeliveries' } },
);

const textOrAmount = byHand(z.union([exactValue, z.string()]));

const difference = record(
  {
    code: noted(
      '`not_delivered`: the provider has no invoice, after more than an hour. `missing_there`: it was deleted there. ' +
        '`voided_here`, `voided_there`: on one side only. `status`, `amount`: not the same. `extra_there`: a further ' +
        'live invoice there is of the same.',
      oneOf(PROVIDER_DIFFERENCE_CODES),
    ),
    invoiceId: id,
    customerId: id,
    externalId: optional(anyText),
    message: anyText,
    expected: optional(textOrAmount),
    found: optional(textOrAmount),
  },
  { id: { answered: 'ProviderDifference' } },
);

export function reconcileProvidersRoute(context: BillingContext): RouteDefinition {
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
    response: pageOf(sums.output).extend({ differences: z.array(difference.output) }),
    errors: [400, 503],
    async handler({ query, body }) {
      const page = await reconcileProviders(context, {
        range: { start: body.starting_on, end: body.ending_before },
        customerId: body.customer_id ?? null,
        ...pageRequest(query),
      });
      const groups = [...groupBy(page.rows, keyOf).values()];
      return {
        ...pageToWire({ rows: groups, next: page.next }, sumToWire),
        differences: page.differences.map((one) => difference.write(one)),
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

function sumToWire(group: readonly ReconciledDelivery[]) {
  const [first] = group;
  if (first === undefined) throw new Error('a group has rows');
  const { invoice } = first.delivered;
  const sum = (amounts: readonly Decimal[]) => amounts.reduce((total, one) => total.plus(one), ZERO);
  return sums.write({
    month: formatMonth(monthOfInvoice(invoice)),
    billingProvider: first.there.billingProvider,
    externalStatus: first.there.status,
    currency: currencyCodeOf(invoice),
    creditTypeId: invoice.creditTypeId,
    invoiceCount: group.length,
    billed: sum(group.flatMap((one) => (one.delivered.invoice.status === 'VOID' ? [] : [one.payable]))),
    atProvider: sum(group.flatMap((one) => one.amountThere ?? [])),
  });
}
