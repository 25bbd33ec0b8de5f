/**
 * Lists of predecessors of contracts and credits. The service has none, so they are empty: programs that read both
 * generations continue with the other one.
 */
import { z } from 'zod';
import type { RowContext } from '../../../billing/billing-context.ts';
import { getCustomer } from '../../../billing/customers/change-customer.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { timestamp, uuid } from '../../wire/fields.ts';
import { pageOf, pageQuery } from '../../wire/paging.ts';

const IDS_MAX = 1_000;

/** No page has a next one, so no position is ever valid. */
const query = pageQuery(z.never());
const response = pageOf(z.never());
const EMPTY = { data: [], next_page: null };

const ids = z.array(uuid).max(IDS_MAX).nullish();

const common = {
  tags: ['Predecessors'],
  scope: 'read',
  description: 'Always empty: contracts, commits and credits take their place.',
  errors: [400],
} as const;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a list of routes, one after the other.
export function emptyListRoutes({ db }: Pick<RowContext, 'db'>): RouteDefinition[] {
  return [
    route({
      ...common,
      method: 'get',
      path: '/v1/plans',
      operationId: 'listPlans',
      summary: 'List plans',
      query,
      response,
      handler: async () => EMPTY,
    }),
    route({
      ...common,
      method: 'get',
      path: '/v1/customers/{customer_id}/plans',
      operationId: 'listCustomerPlans',
      summary: 'List the plans of a customer',
      params: z.object({ customer_id: uuid }),
      query,
      response,
      errors: [400, 404],
      async handler({ params }) {
        await getCustomer({ db }, params.customer_id);
        return EMPTY;
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/v1/credits/listGrants',
      operationId: 'listCreditGrants',
      summary: 'List credit grants',
      query,
      body: z.object({
        credit_type_ids: ids,
        customer_ids: ids,
        credit_grant_ids: ids,
        not_expiring_before: timestamp.nullish(),
        effective_before: timestamp.nullish(),
      }),
      response,
      handler: async () => EMPTY,
    }),
    route({
      ...common,
      method: 'post',
      path: '/v1/credits/listEntries',
      operationId: 'listCreditEntries',
      summary: 'List the ledger entries of credit grants',
      query: query.extend({ sort: z.enum(['asc', 'desc']).optional() }),
      body: z.object({
        customer_ids: ids,
        credit_type_ids: ids,
        starting_on: timestamp.nullish(),
        ending_before: timestamp.nullish(),
      }),
      response,
      handler: async () => EMPTY,
    }),
  ];
}
