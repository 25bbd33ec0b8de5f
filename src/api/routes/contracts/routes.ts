/** Contracts: the prices and terms of a customer over a range of time. */

import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { releaseCommit } from '../../../billing/commits/release-commit.ts';
import { PAYMENT_OUTCOMES } from '../../../core/terms/payment-gate.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { enumIn, uuid } from '../../wire/fields.ts';
import { contractChangeRoutes } from './change-routes.ts';
import { contractCreationRoutes } from './creation-routes.ts';
import { contractReadRoutes } from './read-routes.ts';

export function contractRoutes(deps: BillingContext): RouteDefinition[] {
  return [
    ...contractCreationRoutes(deps),
    ...contractReadRoutes(deps),
    ...contractChangeRoutes(deps),
    ...releaseRoutes(deps),
  ];
}

function releaseRoutes(deps: BillingContext): RouteDefinition[] {
  return [
    route({
      method: 'post',
      tags: ['Contracts'],
      path: '/v1/contracts/commits/threshold-billing/release',
      operationId: 'releaseCommit',
      summary: 'Tell the outcome of a payment that a commit waits for',
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
        await releaseCommit(deps, { workflowId, outcome, toldBy: actor.name });
      },
    }),
  ];
}
