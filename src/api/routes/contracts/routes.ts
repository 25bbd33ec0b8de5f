/** Contracts: the prices and terms of a customer over a range of time. */

import type { BillingContext } from '../../../billing/billing-context.ts';
import type { RouteDefinition } from '../../http/route.ts';
import { contractChangeRoutes } from './change-routes.ts';
import { contractCreationRoutes } from './creation-routes.ts';
import { contractReadRoutes } from './read-routes.ts';
import { releaseRoutes } from './release-route.ts';

export function contractRoutes(deps: BillingContext): RouteDefinition[] {
  return [
    ...contractCreationRoutes(deps),
    ...contractReadRoutes(deps),
    ...contractChangeRoutes(deps),
    ...releaseRoutes(deps),
  ];
}
