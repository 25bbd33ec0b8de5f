/**
 * The addresses of the console, and their parameters: searches, filters, periods and selected ids are parameters, so
 * every state can be shared as a link. Pages are separate chunks.
 */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { NotFound, PageFailure } from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

/** Reads the named parameters of an address as texts, and drops empty and unknown ones. */
function texts<const Name extends string>(...names: readonly Name[]) {
  return (search: Record<string, unknown>): { readonly [N in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return typeof value === 'string' && value !== '' ? [[name, value]] : [];
      }),
    ) as { readonly [N in Name]?: string };
}

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: texts('chart'),
  component: lazyRouteComponent(() => import('./pages/start/start.tsx'), 'Start'),
});

const customers = createRoute({
  getParentRoute: () => root,
  path: '/customers',
  validateSearch: texts('search', 'archived', 'page', 'cursor'),
  component: lazyRouteComponent(() => import('./pages/customers/customers.tsx'), 'Customers'),
});

const customer = createRoute({
  getParentRoute: () => root,
  path: '/customers/$customerId',
  validateSearch: texts(
    'view',
    'metric',
    'group',
    'from',
    'to',
    'window',
    'contract',
    'status',
    'page',
    'cursor',
    'chart',
  ),
  component: lazyRouteComponent(() => import('./pages/customer/customer.tsx'), 'Customer'),
});

const invoice = createRoute({
  getParentRoute: () => root,
  path: '/invoices/$customerId/$invoiceId',
  validateSearch: texts('view', 'window', 'property', 'line', 'note'),
  component: lazyRouteComponent(() => import('./pages/invoice/invoice.tsx'), 'InvoicePage'),
});

const creditInvoice = createRoute({
  getParentRoute: () => root,
  path: '/invoices/$customerId/$invoiceId/credit',
  validateSearch: texts(),
  component: lazyRouteComponent(() => import('./pages/invoice/credit.tsx'), 'CreditInvoice'),
});

const monthEnd = createRoute({
  getParentRoute: () => root,
  path: '/month-end',
  validateSearch: texts('month', 'show', 'search', 'sort', 'page', 'cursor'),
  component: lazyRouteComponent(() => import('./pages/month-end/month-end.tsx'), 'MonthEnd'),
});

const metrics = createRoute({
  getParentRoute: () => root,
  path: '/metrics',
  validateSearch: texts(
    ...(['metric', 'definition', 'customer', 'from', 'to', 'window', 'group'] as const),
    ...(['archived', 'page', 'cursor'] as const),
  ),
  component: lazyRouteComponent(() => import('./pages/metrics/metrics.tsx'), 'Metrics'),
});

const ask = createRoute({
  getParentRoute: () => root,
  path: '/ask',
  validateSearch: texts('sql', 'show'),
  component: lazyRouteComponent(() => import('./pages/ask/ask.tsx'), 'Ask'),
});

const prices = createRoute({
  getParentRoute: () => root,
  path: '/prices',
  validateSearch: texts(
    ...(['view', 'card', 'contract', 'customer', 'at', 'rate', 'draft', 'month', 'page', 'cursor'] as const),
  ),
  component: lazyRouteComponent(() => import('./pages/prices/prices.tsx'), 'Prices'),
});

const create = createRoute({
  getParentRoute: () => root,
  path: '/create/$form',
  validateSearch: texts('customer_id', 'contract_id', 'product_id', 'subscription_id'),
  component: lazyRouteComponent(() => import('./pages/create/create.tsx'), 'Create'),
});

const events = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: texts('id', 'customer', 'type', 'from', 'to', 'page', 'cursor'),
  component: lazyRouteComponent(() => import('./pages/events/events.tsx'), 'Events'),
});

const system = createRoute({
  getParentRoute: () => root,
  path: '/system',
  validateSearch: texts('view', 'from', 'to', 'type', 'id', 'webhook', 'status', 'page', 'cursor'),
  component: lazyRouteComponent(() => import('./pages/system/system.tsx'), 'System'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    start,
    customers,
    customer,
    invoice,
    creditInvoice,
    monthEnd,
    metrics,
    ask,
    prices,
    create,
    events,
    system,
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailure,
  // Addresses contain plain texts, without quotes around number-like values.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(search)) {
      if (typeof value === 'string' && value !== '') parameters.set(name, value);
    }
    return parameters.size === 0 ? '' : `?${parameters}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
