/** Commits and credits of a customer: creation, and earlier ends. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { createCommit } from '../../../billing/commits/create-commit.ts';
import { changeCommit } from '../../../billing/commits/edit-commit.ts';
import { shortened } from '../../../billing/commits/shorten-commit.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { createdId, hourAlignedEnd, timestamp, uuid } from '../../wire/fields.ts';
import { customerCommit, customerCredit } from '../../wire/terms/customer-commits.ts';

const common = { method: 'post', tags: ['Balances'], scope: 'write' } as const;

const ofCommit = { wireWords: { id: 'commit_id' } } as const;
const ofCredit = { wireWords: { id: 'credit_id' } } as const;

export function customerCommitRoutes(context: BillingContext): RouteDefinition[] {
  return [
    createCommitRoute(context),
    createCreditRoute(context),
    shortenCommitRoute(context),
    shortenCreditRoute(context),
  ];
}

function createCommitRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/customerCommits/create',
    operationId: 'createCustomerCommit',
    summary: 'Create a commit of a customer',
    description:
      'Belongs to no contract, and applies to all contracts of the customer or to the listed ones.',
    body: customerCommit.input.tolerant,
    response: createdId,
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      return { data: { id: await createCommit(context, { ...body, createdBy: actor.name }) } };
    },
  });
}

function createCreditRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/customerCredits/create',
    operationId: 'createCustomerCredit',
    summary: 'Create a credit of a customer',
    description:
      'Belongs to no contract, and applies to all contracts of the customer or to the listed ones.',
    body: customerCredit.input.tolerant,
    response: createdId,
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      return { data: { id: await createCommit(context, { ...body, createdBy: actor.name }) } };
    },
  });
}

function shortenCommitRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    ...ofCommit,
    path: '/v1/contracts/customerCommits/updateEndDate',
    operationId: 'updateCommitEndDate',
    summary: 'Set an earlier end of a prepaid commit',
    body: z.object({
      customer_id: uuid,
      commit_id: uuid,
      access_ending_before: hourAlignedEnd.nullish(),
      invoices_ending_before: timestamp
        .nullish()
        .meta({ description: 'Items of the invoice schedule from here on are removed.' }),
    }),
    response: createdId,
    errors: [400, 404],
    async handler({ body, actor }) {
      const { customer_id: customerId, commit_id: id } = body;
      const ends = {
        accessEndingBefore: body.access_ending_before ?? null,
        invoicesEndingBefore: body.invoices_ending_before ?? null,
      };
      const reference = { customerId, id, kind: 'COMMIT', changedBy: actor.name } as const;
      await changeCommit(context, reference, (commit) => shortened(commit, ends));
      return { data: { id } };
    },
  });
}

function shortenCreditRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    ...ofCredit,
    path: '/v1/contracts/customerCredits/updateEndDate',
    operationId: 'updateCreditEndDate',
    summary: 'Set an earlier end of a credit',
    body: z.object({ customer_id: uuid, credit_id: uuid, access_ending_before: hourAlignedEnd }),
    response: createdId,
    errors: [400, 404],
    async handler({ body, actor }) {
      const { customer_id: customerId, credit_id: id } = body;
      const ends = { accessEndingBefore: body.access_ending_before, invoicesEndingBefore: null };
      const reference = { customerId, id, kind: 'CREDIT', changedBy: actor.name } as const;
      await changeCommit(context, reference, (credit) => shortened(credit, ends));
      return { data: { id } };
    },
  });
}
