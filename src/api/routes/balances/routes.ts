/** Commits, credits and balances of customers. */

import type { BillingContext } from '../../../billing/billing-context.ts';
import type { RouteDefinition } from '../../http/route.ts';
import { balanceRoutes } from './balance-routes.ts';
import { commitEditRoutes } from './commit-edit-routes.ts';
import { customerCommitRoutes } from './customer-commit-routes.ts';
import { balanceListRoutes } from './list-routes.ts';
import { seatBalancesRoute } from './seat-balances-route.ts';

export function customerBalanceRoutes(context: BillingContext): RouteDefinition[] {
  return [
    ...customerCommitRoutes(context),
    ...commitEditRoutes(context),
    ...balanceListRoutes(context),
    ...balanceRoutes(context),
    seatBalancesRoute(context),
  ];
}
