/** Creating contracts. */
import { z } from 'zod';
import type { ContractHook } from '../../../billing/contracts/change-contract.ts';
import { createContract } from '../../../billing/contracts/create-contract.ts';
import { viewsOf } from '../../../billing/contracts/reads/contract-views.ts';
import { createContractFromPackage } from '../../../billing/packages/contract-from-package.ts';
import type { Clock } from '../../../core/clock.ts';
import { assert } from '../../../core/errors.ts';
import type { Database } from '../../../store/database.ts';
import { type RouteDefinition, route } from '../../http/route.ts';
import { uuid } from '../../wire/fields.ts';
import {
  aloneWithPackage,
  contractFromPackageFromWire,
  namesPackage,
} from '../packages/contract-from-package.ts';
import { contractFromWire, createContractBody } from './input.ts';
import { createdContractOutput, createdContractToWire } from './output.ts';

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly onContractCreated: ContractHook;
  readonly onContractEndChanged: ContractHook;
}

export function contractCreationRoutes(deps: Deps): RouteDefinition[] {
  return [createRoute(deps)];
}

function createRoute(deps: Deps): RouteDefinition {
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
    body: aloneWithPackage(createContractBody),
    response: z.object({ data: z.object({ id: uuid, contract: createdContractOutput }) }),
    errors: [400, 404, 409],
    async handler({ body, actor }) {
      const hooks = { onCreated: deps.onContractCreated, onEndChanged: deps.onContractEndChanged };
      const full = namesPackage(body)
        ? await createContractFromPackage(
            { ...deps, ...hooks },
            contractFromPackageFromWire(body, actor.name),
          )
        : await createContract({ ...deps, ...hooks }, contractFromWire(body, actor.name));
      const [view] = await viewsOf(deps.db, [full], deps.clock.now());
      assert(view !== undefined, 'a contract that was just created has a view');
      return { data: { id: full.contract.id, contract: createdContractToWire(view) } };
    },
  });
}
