/** Contracts: the prices and terms of a customer over a range of time. */

import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { releaseCommit } from '../../../billing/commits/release-commit.ts';
import { viewsOf } from '../../../billing/contract-views/contract-views.ts';
import { createContract } from '../../../billing/contracts/create-contract.ts';
import { rolloverWarnings } from '../../../billing/contracts/rollover-warnings.ts';
import { createContractFromPackage } from '../../../billing/packages/contract-from-package.ts';
import { assert } from '../../../core/errors.ts';
import { PAYMENT_OUTCOMES } from '../../../core/terms/payment-gate.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { answerWarnings } from '../../wire/answer-warnings.ts';
import { enumIn, uuid } from '../../wire/fields.ts';
import { noRolloverToWire } from '../../wire/no-rollover.ts';
import { contractChangeRoutes } from './change-routes.ts';
import { contractFromPackageFromWire, createContractBody, namesPackage } from './from-package.ts';
import { contractFromWire } from './input.ts';
import { createdContract, createdContractToWire } from './output.ts';
import { contractReadRoutes } from './read-routes.ts';

export function contractRoutes(context: BillingContext): RouteDefinition[] {
  return [
    createRoute(context),
    ...contractReadRoutes(context),
    ...contractChangeRoutes(context),
    releaseRoute(context),
  ];
}

function releaseRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    tags: ['Contracts'],
    path: '/v1/contracts/commits/threshold-billing/release',
    operationId: 'releaseCommit',
    summary: 'Report the outcome of a payment that a commit waits for',
    description:
      'For commits with payment_gate_type EXTERNAL. PAID makes the balance usable from the start of its ' +
      'access on, FAILED never. The first answer holds: the same again changes nothing, the other is refused.',
    scope: 'write',
    body: z.object({
      workflow_id: uuid.meta({ description: 'The id of the commit.' }),
      outcome: enumIn(PAYMENT_OUTCOMES),
    }),
    response: 'empty',
    errors: [400, 404],
    async handler({ body, actor }) {
      const { workflow_id: workflowId, outcome } = body;
      await releaseCommit(context, { workflowId, outcome, toldBy: actor.name });
    },
  });
}

function createRoute(context: BillingContext): RouteDefinition {
  return route({
    method: 'post',
    tags: ['Contracts'],
    path: '/v1/contracts/create',
    operationId: 'createContract',
    summary: 'Create a contract',
    description:
      'Of explicit terms, or of a package, which says everything but the customer and the start. A start in ' +
      'the past is allowed: the periods since then are invoiced. A uniqueness_key that was used before ' +
      'answers 409 and creates nothing.',
    scope: 'write',
    body: createContractBody,
    response: z.object({
      data: z.object({ id: uuid, contract: createdContract.output }),
      warnings: answerWarnings,
    }),
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      const full = namesPackage(body)
        ? await createContractFromPackage(context, contractFromPackageFromWire(body, actor.name))
        : await createContract(context, contractFromWire(body, actor.name));
      const [view] = await viewsOf(context, [full], context.clock.now(), {
        withHistory: false,
        withBalances: false,
        // The contract is stored: the answer does not depend on whether usage can be read.
        finalizedOnly: true,
      });
      assert(view !== undefined, 'a contract that was just created has a view');
      return {
        data: { id: full.contract.id, contract: createdContractToWire(view) },
        ...noRolloverToWire(await rolloverWarnings(context.db, full, view.transitions)),
      };
    },
  });
}
