/** The routes of the API, except ingest and those of the service itself. */

import type { RouteDefinition } from '../../api/http/route.ts';
import { withVersions } from '../../api/http/versions.ts';
import { alertRoutes } from '../../api/routes/alerts/routes.ts';
import { auditLogRoute } from '../../api/routes/audit-log/routes.ts';
import { customerBalanceRoutes } from '../../api/routes/balances/routes.ts';
import { oneConfigurationRoutes } from '../../api/routes/billing-providers/one-configuration-routes.ts';
import { billingProviderRoutes } from '../../api/routes/billing-providers/routes.ts';
import { passkeyRoutes } from '../../api/routes/console/passkey-routes.ts';
import { consoleSessionRoutes } from '../../api/routes/console/session-routes.ts';
import { contractEditRoutes } from '../../api/routes/contract-edits/routes.ts';
import { contractRateScheduleRoutes } from '../../api/routes/contracts/rate-schedule-routes.ts';
import { contractRoutes } from '../../api/routes/contracts/routes.ts';
import { subscriptionRoutes } from '../../api/routes/contracts/subscription-routes.ts';
import { creditTypeRoutes } from '../../api/routes/credit-types/routes.ts';
import { customFieldRoutes } from '../../api/routes/custom-fields/routes.ts';
import { customerRoutes } from '../../api/routes/customers/routes.ts';
import { dashboardDataRoutes } from '../../api/routes/dashboards/data-routes.ts';
import { dashboardUrlRoute } from '../../api/routes/dashboards/url-route.ts';
import { eventRoutes } from '../../api/routes/events/routes.ts';
import { holdRoutes } from '../../api/routes/holds/routes.ts';
import { invoiceChangeRoute } from '../../api/routes/invoices/change-route.ts';
import { costsRoute } from '../../api/routes/invoices/costs-route.ts';
import { creditNoteRoutes } from '../../api/routes/invoices/credit-note-routes.ts';
import { creditableRoute } from '../../api/routes/invoices/creditable-route.ts';
import { explainRoute } from '../../api/routes/invoices/explain-route.ts';
import { historicalInvoiceRoute } from '../../api/routes/invoices/historical-route.ts';
import { issuedInvoiceRoutes } from '../../api/routes/invoices/issued-routes.ts';
import { lateUsageRoute } from '../../api/routes/invoices/late-usage-route.ts';
import { monthEndRoute } from '../../api/routes/invoices/month-end-route.ts';
import { invoicePdfRoute } from '../../api/routes/invoices/pdf-route.ts';
import { previewChangeRoute } from '../../api/routes/invoices/preview-change-route.ts';
import { previewEventsRoute } from '../../api/routes/invoices/preview-events-route.ts';
import { reconcileRoute } from '../../api/routes/invoices/reconcile-route.ts';
import { requestedInvoiceRoutes } from '../../api/routes/invoices/requested-routes.ts';
import { revenueRoute } from '../../api/routes/invoices/revenue-route.ts';
import { invoiceRoutes } from '../../api/routes/invoices/routes.ts';
import { spendBreakdownsRoute } from '../../api/routes/invoices/spend-route.ts';
import { billableMetricPreviewRoutes } from '../../api/routes/metrics/preview-routes.ts';
import { billableMetricRoutes } from '../../api/routes/metrics/routes.ts';
import { sqlReferenceRoutes } from '../../api/routes/metrics/sql-reference-routes.ts';
import { namedScheduleRoutes } from '../../api/routes/named-schedules/routes.ts';
import { notificationRoutes } from '../../api/routes/notifications/routes.ts';
import { packageRoutes } from '../../api/routes/packages/routes.ts';
import { collectRoute } from '../../api/routes/payments/collect-route.ts';
import { deliveryRoutes } from '../../api/routes/payments/delivery-routes.ts';
import { reconcileProvidersRoute } from '../../api/routes/payments/reconcile-route.ts';
import { stripeRoutes } from '../../api/routes/payments/stripe-routes.ts';
import { peopleRoutes } from '../../api/routes/people/people-routes.ts';
import { roleRoutes } from '../../api/routes/people/role-routes.ts';
import { sessionsRoutes } from '../../api/routes/people/sessions-routes.ts';
import { emptyListRoutes } from '../../api/routes/predecessors/empty-lists.ts';
import { productRoutes } from '../../api/routes/products/routes.ts';
import { rateRoutes } from '../../api/routes/rate-cards/rate-routes.ts';
import { rateCardRoutes } from '../../api/routes/rate-cards/routes.ts';
import type { CatalogueRouteContext, RouteContext } from '../../api/routes/route-context.ts';
import { sandboxRoutes } from '../../api/routes/sandbox/routes.ts';
import { networkServicesRoute } from '../../api/routes/service/network-services-route.ts';
import { sqlRoutes } from '../../api/routes/sql/routes.ts';
import { savedQueryRoutes } from '../../api/routes/sql/saved-query-routes.ts';
import { systemRoutes } from '../../api/routes/system/routes.ts';
import { tokenBillingRoutes } from '../../api/routes/token-billing/routes.ts';
import { tokenRoutes } from '../../api/routes/tokens/routes.ts';
import { usageRoutes } from '../../api/routes/usage/routes.ts';
import { webhookRoutes } from '../../api/routes/webhooks/routes.ts';
import { contextInLane } from '../../billing/billing-context.ts';
import { lockObject } from '../../store/base/object-locks.ts';

export function applicationRoutes(context: CatalogueRouteContext): RouteDefinition[] {
  return [
    ...customerRoutes(context),
    ...sqlReferenceRoutes(),
    ...billableMetricRoutes(context),
    ...billableMetricPreviewRoutes(context),
    ...usageRoutes(context),
    ...eventRoutes(context),
    ...sqlRoutes(context),
    ...savedQueryRoutes(context),
    ...billingProviderRoutes(context),
    ...creditTypeRoutes(context),
    ...productRoutes(context),
    ...rateCardRoutes(context),
    ...rateRoutes(context),
    ...tokenBillingRoutes(context),
    ...namedScheduleRoutes(context),
    ...emptyListRoutes(context),
    ...oneConfigurationRoutes(context),
    ...packageRoutes(context),
    ...contractRoutes(context),
    ...contractEditRoutes(context),
    ...contractRateScheduleRoutes(context),
    ...subscriptionRoutes(context),
    ...customerBalanceRoutes(context),
    ...invoiceRoutes(context),
    ...issuedInvoiceRoutes(context, contextInLane(context, 'finalization')),
    ...creditNoteRoutes(context),
    ...requestedInvoiceRoutes(context),
    historicalInvoiceRoute(context),
    costsRoute(context),
    revenueRoute(context),
    lateUsageRoute(context),
    monthEndRoute(context),
    spendBreakdownsRoute(context),
    invoicePdfRoute(context),
    previewEventsRoute(context),
    previewChangeRoute(context),
    explainRoute(context),
    invoiceChangeRoute(context),
    creditableRoute(context),
    reconcileRoute(contextInLane(context, 'finalization')),
    ...customFieldRoutes(context),
    ...alertRoutes(context),
    auditLogRoute(context),
  ];
}

/** Including those of the running process: tokens, sessions, webhooks, the sandbox clock. */
export function everyRoute(context: RouteContext): RouteDefinition[] {
  const routes = [
    ...applicationRoutes(context),
    ...holdRoutes(context),
    ...consoleSessionRoutes(context),
    dashboardUrlRoute(context),
    ...dashboardDataRoutes(context),
    ...systemRoutes(context),
    networkServicesRoute(context.networkServices),
    ...passkeyRoutes(context),
    ...peopleRoutes(context),
    ...roleRoutes(context),
    ...sessionsRoutes(context),
    ...tokenRoutes(context),
    ...notificationRoutes(context),
    ...webhookRoutes(context),
    ...stripeRoutes(context),
    ...deliveryRoutes(context),
    collectRoute(context),
    reconcileProvidersRoute(context),
    ...(context.sandbox === null ? [] : sandboxRoutes(context.clock, context.sandbox)),
  ];
  return withVersions(routes, (kind, id) => lockObject(context.db, kind, id));
}
