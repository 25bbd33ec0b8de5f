/** Contracts: which customer pays which prices from when to when. */
import type { ContractHook } from '../../../billing/contracts/change-contract.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Database } from '../../../store/database.ts';
import type { RouteDefinition } from '../../http/route.ts';
import { contractChangeRoutes } from './change-routes.ts';
import { contractCreationRoutes } from './creation-routes.ts';
import { contractReadRoutes } from './read-routes.ts';
import { releaseRoutes } from './release-route.ts';

export interface ContractRouteDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** See `createContract`: queues what a new contract sets going. */
  readonly onContractCreated: ContractHook;
  /** Queues what a contract sets going whose end has moved. */
  readonly onContractEndChanged: ContractHook;
}

export function contractRoutes(deps: ContractRouteDeps): RouteDefinition[] {
  return [
    ...contractCreationRoutes(deps),
    ...contractReadRoutes(deps),
    ...contractChangeRoutes(deps),
    ...releaseRoutes(deps),
  ];
}
