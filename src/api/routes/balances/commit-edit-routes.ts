/** One commit or credit, of a contract or of a customer: edit, archive, waive the true-up. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { disableTrueUp } from '../../../billing/commits/disable-true-up.ts';
import { changeCommit } from '../../../billing/commits/edit-commit.ts';
import { rolloverWarningsOfCommit } from '../../../billing/contracts/rollover-warnings.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { answerWarnings } from '../../wire/answer-warnings.ts';
import { createdId, uuid } from '../../wire/fields.ts';
import { noRolloverToWire } from '../../wire/no-rollover.ts';
import { commitEdit, creditEdit } from '../../wire/terms/customer-commits.ts';

const common = { method: 'post', tags: ['Balances'], scope: 'write' } as const;

const ofCommit = { wireWords: { id: 'commit_id' } } as const;
const ofCredit = { wireWords: { id: 'credit_id' } } as const;

export function commitEditRoutes(context: BillingContext): RouteDefinition[] {
  return [
    editCommitRoute(context),
    editCreditRoute(context),
    archiveCommitRoute(context),
    archiveCreditRoute(context),
    disableTrueUpRoute(context),
  ];
}

const EDITED =
  'Drafts change immediately. To change an amount that a finalized invoice shows or draws down, void the invoice first.';

function editCommitRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    ...ofCommit,
    path: '/v2/contracts/commits/edit',
    operationId: 'editCommit',
    summary: 'Edit a commit of a contract or of a customer',
    description: EDITED,
    body: commitEdit.input.strict,
    response: createdId.extend({ warnings: answerWarnings }),
    errors: [400, 404],
    async handler({ body: { customerId, id, ...edit }, actor }) {
      const reference = { customerId, id, kind: 'COMMIT', changedBy: actor.name } as const;
      await changeCommit(context, reference, () => ({ edit }));
      return { data: { id }, ...noRolloverToWire(await rolloverWarningsOfCommit(context.db, id)) };
    },
  });
}

function editCreditRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    ...ofCredit,
    path: '/v2/contracts/credits/edit',
    operationId: 'editCredit',
    summary: 'Edit a credit of a contract or of a customer',
    description: EDITED,
    body: creditEdit.input.strict,
    response: createdId.extend({ warnings: answerWarnings }),
    errors: [400, 404],
    async handler({ body: { customerId, id, ...edit }, actor }) {
      const reference = { customerId, id, kind: 'CREDIT', changedBy: actor.name } as const;
      await changeCommit(context, reference, () => ({ edit }));
      return { data: { id }, ...noRolloverToWire(await rolloverWarningsOfCommit(context.db, id)) };
    },
  });
}

function archiveCommitRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    ...ofCommit,
    path: '/v2/contracts/commits/archive',
    operationId: 'archiveCommit',
    summary: 'Archive a commit',
    description: 'The remaining balance is canceled. Void the finalized invoices of the commit first.',
    body: z.object({ customer_id: uuid, commit_id: uuid }),
    response: createdId,
    errors: [400, 404],
    async handler({ body: { customer_id: customerId, commit_id: id }, actor }) {
      const reference = { customerId, id, kind: 'COMMIT', changedBy: actor.name } as const;
      await changeCommit(context, reference, () => 'ARCHIVE');
      return { data: { id } };
    },
  });
}

function archiveCreditRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    ...ofCredit,
    path: '/v2/contracts/credits/archive',
    operationId: 'archiveCredit',
    summary: 'Archive a credit',
    description: 'The remaining balance is canceled. Void the finalized invoices that draw it down first.',
    body: z.object({ customer_id: uuid, credit_id: uuid }),
    response: createdId,
    errors: [400, 404],
    async handler({ body: { customer_id: customerId, credit_id: id }, actor }) {
      const reference = { customerId, id, kind: 'CREDIT', changedBy: actor.name } as const;
      await changeCommit(context, reference, () => 'ARCHIVE');
      return { data: { id } };
    },
  });
}

function disableTrueUpRoute(context: BillingContext): RouteDefinition {
  return route({
    ...common,
    path: '/v1/contracts/commits/disableTrueup',
    operationId: 'disableCommitTrueup',
    summary: 'Waive the true-up of a postpaid commit',
    description: 'The invoice item of the true-up stays on record but is not invoiced. Cannot be undone.',
    body: z.object({
      customer_id: uuid,
      commit_id: uuid,
      contract_id: uuid.meta({ description: 'The contract that the commit is on, or that invoices it.' }),
      amendment_id: uuid.nullish().meta({ description: 'Accepted and ignored.' }),
    }),
    response: createdId,
    errors: [400, 404],
    async handler({ body, actor }) {
      const { customer_id: customerId, commit_id: commitId, contract_id: contractId } = body;
      await disableTrueUp(context, { customerId, commitId, contractId, changedBy: actor.name });
      return { data: { id: commitId } };
    },
  });
}
