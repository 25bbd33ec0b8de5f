/** Creating contracts. */
import { z } from 'zod';
import type { BillingContext } from '../../../billing/billing-context.ts';
import { viewsOf } from '../../../billing/contract-views/contract-views.ts';
import { createContract } from '../../../billing/contracts/create-contract.ts';
import { createContractFromPackage } from '../../../billing/packages/contract-from-package.ts';
import { assert } from '../../../core/errors.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { uuid } from '../../wire/fields.ts';
import { contractFromPackageFromWire, createContractBody, namesPackage } from './from-package.ts';
import { contractFromWire } from './input.ts';
import { createdContract, createdContractToWire } from './output.ts';

export function contractCreationRoutes(deps: BillingContext): RouteDefinition[] {
  return [createRoute(deps)];
}

function createRoute(deps: BillingContext): RouteDefinition {
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
    response: z.object({ data: z.object({ id: uuid, contract: createdContract.output }) }),
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      const full = namesPackage(body)
        ? await createContractFromPackage(deps, contractFromPackageFromWire(body, actor.name))
        : await createContract(deps, contractFromWire(body, actor.name));
      const [view] = await viewsOf(deps, [full], deps.clock.now(), {
        withHistory: false,
        withBalances: false,
      });
      assert(view !== undefined, 'a contract that was just created has a view');
      return { data: { id: full.contract.id, contract: createdContractToWire(view) } };
    },
  });
}
