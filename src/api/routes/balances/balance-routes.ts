/** The balance of a customer in one number, entries by hand, and the order of drawdown. */
import { z } from 'zod';
import { drawdownOrder } from '../../../billing/balance-queries/drawdown-order.ts';
import { netBalance } from '../../../billing/balance-queries/net-balance.ts';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { addManualEntry } from '../../../billing/commits/add-manual-entry.ts';
import type { CommitType } from '../../../core/terms/commits.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { enumIn, exactNumber, exactValue, timestamp, uuid } from '../../wire/fields.ts';
import { orderedBalance, orderToWire } from './drawdown-order-output.ts';

const common = { tags: ['Balances'], errors: [400, 404] } as const;

export function balanceRoutes(context: BillingContext): RouteDefinition[] {
  return [netBalanceRoute(context), manualEntryRoute(context), drawdownOrderRoute(context)];
}

const BALANCE_TYPES = ['PREPAID_COMMIT', 'POSTPAID_COMMIT', 'CREDIT'] as const;

const TYPES: Readonly<Record<(typeof BALANCE_TYPES)[number], CommitType>> = {
  PREPAID_COMMIT: 'PREPAID',
  POSTPAID_COMMIT: 'POSTPAID',
  CREDIT: 'CREDIT',
};

const balanceFilter = z
  .object({
    balance_types: z.array(enumIn(BALANCE_TYPES)).nullish(),
    ids: z.array(uuid).max(1_000).nullish().meta({ description: 'Ids of commits and credits.' }),
    custom_fields: z
      .record(z.string(), z.string())
      .nullish()
      .meta({ description: 'Balances that have all of these values.' }),
  })
  .meta({ id: 'BalanceFilter', description: 'A balance matches if it meets every given condition.' });

function netBalanceRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    method: 'post',
    scope: 'read',
    path: '/v1/contracts/customerBalances/getNetBalance',
    operationId: 'getNetBalance',
    summary: 'Get what a customer can use now, in one number',
    body: z.object({
      customer_id: uuid,
      credit_type_id: uuid.nullish().meta({ description: 'Default: US cents.' }),
      filters: z
        .array(balanceFilter)
        .max(100)
        .nullish()
        .meta({ description: 'A balance counts if it matches any of these filters. Default: all balances.' }),
      invoice_inclusion_mode: enumIn(['FINALIZED', 'FINALIZED_AND_DRAFT'])
        .nullish()
        .meta({ description: 'The deductions to subtract. Default: FINALIZED_AND_DRAFT.' }),
    }),
    response: z.object({ data: z.object({ balance: exactValue, credit_type_id: uuid }) }),
    async handler({ body }) {
      const { balance, creditTypeId } = await netBalance(context, {
        customerId: body.customer_id,
        creditTypeId: body.credit_type_id ?? null,
        filters: (body.filters ?? []).map((filter) => ({
          types: filter.balance_types?.map((type) => TYPES[type]) ?? null,
          ids: filter.ids ?? null,
          customFields: filter.custom_fields ?? null,
        })),
        finalizedOnly: body.invoice_inclusion_mode === 'FINALIZED',
      });
      return { data: { balance, credit_type_id: creditTypeId } };
    },
  });
}

function manualEntryRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    method: 'post',
    scope: 'write',
    path: '/v1/contracts/addManualBalanceLedgerEntry',
    operationId: 'addManualBalanceLedgerEntry',
    summary: 'Adjust a segment of a commit or credit by hand',
    description:
      'Adds an entry to the ledger. The entry takes effect immediately, regardless of its timestamp.',
    body: z.object({
      customer_id: uuid,
      contract_id: uuid
        .nullish()
        .meta({ description: 'The contract of the commit or credit, if it has one.' }),
      id: uuid.meta({ description: 'The commit or credit.' }),
      segment_id: uuid,
      amount: exactNumber().meta({ description: 'Negative amounts reduce the balance.' }),
      per_group_amounts: z.record(z.string().min(1), exactNumber()).nullish().meta({
        description:
          'Amounts by seat, which add up to `amount`. Required with INDIVIDUAL allocation, not allowed otherwise.',
      }),
      reason: z.string().min(1),
      timestamp: timestamp.nullish().meta({ description: 'Default: the start of the segment.' }),
    }),
    response: 'empty',
    async handler({ body, actor }) {
      await addManualEntry(context, {
        customerId: body.customer_id,
        contractId: body.contract_id ?? null,
        id: body.id,
        segmentId: body.segment_id,
        amount: body.amount,
        perGroupAmounts: body.per_group_amounts ?? null,
        reason: body.reason,
        timestamp: body.timestamp ?? null,
        createdBy: actor.name,
      });
    },
  });
}

function drawdownOrderRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    method: 'get',
    scope: 'read',
    path: '/v1/customers/{customer_id}/drawdownOrder',
    operationId: 'getDrawdownOrder',
    summary: 'List the balances of a customer in the order in which usage draws them down',
    description:
      'Lists the currently open segments, including empty ones, each with the reason for its place.',
    params: z.object({ customer_id: uuid }),
    query: z.object({
      contract_id: uuid
        .optional()
        .meta({ description: 'Balances that usage of this contract may draw down.' }),
    }),
    response: z.object({ data: z.array(orderedBalance) }),
    async handler({ params, query }) {
      const order = await drawdownOrder(context, {
        customerId: params.customer_id,
        contractId: query.contract_id ?? null,
      });
      return { data: orderToWire(order) };
    },
  });
}
