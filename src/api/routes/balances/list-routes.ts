/** Lists of a customer's commits, of its credits, and of both. */
import { z } from 'zod';
import { type BalancePage, listBalances } from '../../../billing/balance-queries/list-balances.ts';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { createKeptDeductions } from '../../../billing/invoices/drafts/deductions.ts';
import { COMMIT_TYPES, type Commit } from '../../../core/terms/commits.ts';
import type { SharedByPages } from '../../http/csv-pages.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { uuid } from '../../wire/fields.ts';
import { pageOf, pageToWire } from '../../wire/paging.ts';
import { commit, commitView, credit, isCommit } from '../../wire/terms/commits.ts';
import { listInput, listMembers, pageOfBody, shownParts } from './input.ts';
import { ledgerCsv } from './ledger-csv.ts';

const common = { method: 'post', tags: ['Balances'], scope: 'read', errors: [400, 404] } as const;

export function balanceListRoutes(context: BillingContext): RouteDefinition[] {
  return [listCommitsRoute(context), listCreditsRoute(context), listBalancesRoute(context)];
}

/** The pages of an answer as CSV compute the same drafts once. */
function forPages(context: BillingContext, shared: SharedByPages | undefined): BillingContext {
  return shared === undefined ? context : { ...context, keptDeductions: shared(createKeptDeductions) };
}

/** Writes the rows of a page as answers show them. */
function viewOf(page: BalancePage, parts: ReturnType<typeof shownParts>) {
  return (one: Commit) => {
    const view = commitView(one, { ...page, ...parts });
    return isCommit(one) ? commit.write(view, page.names) : credit.write(view, page.names);
  };
}

function listCommitsRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/customerCommits/list',
    operationId: 'listCustomerCommits',
    summary: 'List the commits of a customer',
    body: z.object({
      ...listMembers,
      commit_id: uuid.nullish(),
      include_contract_commits: z
        .boolean()
        .nullish()
        .meta({ description: 'Include balances of the customer’s contracts.' }),
    }),
    response: pageOf(commit.output),
    csv: ledgerCsv,
    async handler({ body, shared }) {
      const input = listInput(body, {
        types: ['PREPAID', 'POSTPAID'],
        id: body.commit_id ?? null,
        // A commit that is requested by its id is found wherever it is.
        includeOfContracts: body.include_contract_commits ?? body.commit_id != null,
        excludeZeroBalances: false,
        sortsByPriority: false,
      });
      const listed = await listBalances(forPages(context, shared), input, pageOfBody(body));
      return pageToWire(listed.page, viewOf(listed, shownParts(body)));
    },
  });
}

function listCreditsRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/customerCredits/list',
    operationId: 'listCustomerCredits',
    summary: 'List the credits of a customer',
    body: z.object({
      ...listMembers,
      credit_id: uuid.nullish(),
      include_contract_credits: z
        .boolean()
        .nullish()
        .meta({ description: 'Include balances of the customer’s contracts.' }),
    }),
    response: pageOf(credit.output),
    csv: ledgerCsv,
    async handler({ body, shared }) {
      const input = listInput(body, {
        types: ['CREDIT'],
        id: body.credit_id ?? null,
        includeOfContracts: body.include_contract_credits ?? body.credit_id != null,
        excludeZeroBalances: false,
        sortsByPriority: false,
      });
      const listed = await listBalances(forPages(context, shared), input, pageOfBody(body));
      return pageToWire(listed.page, viewOf(listed, shownParts(body)));
    },
  });
}

function listBalancesRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/customerBalances/list',
    operationId: 'listCustomerBalances',
    summary: 'List the commits and credits of a customer',
    description:
      'In the order of creation, or by priority with `sort_by_priority`. `type` distinguishes commits from credits.',
    body: z.object({
      ...listMembers,
      id: uuid.nullish(),
      include_contract_balances: z
        .boolean()
        .nullish()
        .meta({ description: 'Include balances of the customer’s contracts. Default: true.' }),
      sort_by_priority: z.boolean().nullish().meta({
        description: 'Sort by priority, lowest number first; equal priorities are in the order of creation.',
      }),
      exclude_zero_balances: z.boolean().nullish().meta({
        description: 'Leave out empty balances. A page may then have fewer rows than its limit.',
      }),
    }),
    response: pageOf(z.union([commit.output, credit.output])),
    csv: ledgerCsv,
    async handler({ body, shared }) {
      const input = listInput(body, {
        types: COMMIT_TYPES,
        id: body.id ?? null,
        includeOfContracts: body.include_contract_balances ?? true,
        excludeZeroBalances: body.exclude_zero_balances ?? false,
        sortsByPriority: body.sort_by_priority ?? false,
      });
      const listed = await listBalances(forPages(context, shared), input, pageOfBody(body));
      return pageToWire(listed.page, viewOf(listed, shownParts(body)));
    },
  });
}
