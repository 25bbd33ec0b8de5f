/** The data of the pages of dashboards: invoices, usage and balances of the customer of a signed address. */
import { z } from 'zod';
import type { OpenDashboard } from '../../../access/dashboard-links.ts';
import { listBalances } from '../../../billing/balance-queries/list-balances.ts';
import { getCustomer } from '../../../billing/customers/change-customer.ts';
import { listInvoices } from '../../../billing/invoices/read/list-invoices.ts';
import { getInvoice } from '../../../billing/invoices/read/read-invoices.ts';
import { listCustomerMetrics } from '../../../billing/metrics/customer-metrics.ts';
import { USAGE_WINDOW_SIZES, usageGroupCursor, usageGroups } from '../../../billing/usage/usage-groups.ts';
import { DASHBOARDS, type DashboardOptions } from '../../../core/dashboards.ts';
import { notFound } from '../../../core/errors.ts';
import type { Invoice } from '../../../core/invoice.ts';
import { pageWithRows } from '../../../core/paging.ts';
import { COMMIT_TYPES } from '../../../core/terms/commits.ts';
import { formatInstant } from '../../../core/time.ts';
import type { RouteDefinition } from '../../http/route.ts';
import { commaList, enumIn, timestamp, uuid } from '../../wire/fields.ts';
import { keysetPosition, pageOf, pageQuery, pageRequest, pageToWire } from '../../wire/paging.ts';
import { invoiceToWire } from '../invoices/output.ts';
import { invoiceFile, printInvoice } from '../invoices/pdf-route.ts';
import { viewOf } from '../invoices/routes.ts';
import { metricToWire } from '../metrics/output.ts';
import type { RouteContext } from '../route-context.ts';
import { groupToWire, usageGroup } from '../usage/routes.ts';
import { dashboardRoute, requireShown } from './dashboard-route.ts';
import {
  balance,
  balanceToWire,
  listedInvoice,
  listedInvoiceToWire,
  wholeInvoice,
  wholeInvoiceToWire,
} from './shown.ts';

const LISTED_INVOICES = 20;
const LISTED_BALANCES = 20;
/** A page shows the metrics that have a price for the customer; nobody reads more than this. */
const METRICS_MAX = 100;

export function dashboardDataRoutes(context: RouteContext): RouteDefinition[] {
  return [
    viewRoute(context),
    ...invoiceRoutes(context),
    metricsRoute(context),
    usageRoute(context),
    balancesRoute(context),
  ];
}

function viewRoute(context: RouteContext): RouteDefinition {
  return dashboardRoute(context, {
    path: '/v1/dashboards/view',
    operationId: 'getDashboardView',
    summary: 'Get the content and the options of a dashboard',
    of: DASHBOARDS,
    query: z.object({}),
    response: z.object({
      data: z.object({
        customer_name: z.string(),
        dashboard: z.enum(DASHBOARDS),
        options: z.record(z.string(), z.string()),
        colors: z.record(z.string(), z.string()),
        groups: z.array(
          z.object({
            key: z.string(),
            name: z.string().optional(),
            values: z.record(z.string(), z.string()).optional(),
          }),
        ),
        expires_at: timestamp,
        now: timestamp.meta({ description: 'The clock of the service.' }),
      }),
    }),
    async read({ open }) {
      const { dashboard, options, colors, groups, expiresAt } = open;
      const { name } = await getCustomer(context, open.customerId);
      return {
        data: {
          customer_name: name,
          dashboard,
          options: { ...options },
          colors: { ...colors },
          groups: groups.map((group) => ({ ...group, values: { ...group.values } })),
          expires_at: formatInstant(expiresAt),
          now: formatInstant(context.clock.now()),
        },
      };
    },
  });
}

function invoiceRoutes(context: RouteContext): RouteDefinition[] {
  const of = ['invoices'] as const;
  return [
    dashboardRoute(context, {
      path: '/v1/dashboards/invoices',
      operationId: 'listDashboardInvoices',
      summary: 'List the invoices of a dashboard, the newest first',
      of,
      query: pageQuery(keysetPosition, LISTED_INVOICES),
      response: pageOf(listedInvoice),
      async read({ open, query }) {
        const page = await shownInvoices(context, open, query);
        const view = await viewOf(context, page.rows, {});
        return pageToWire(page, (invoice) => listedInvoiceToWire(invoiceToWire(invoice, view)));
      },
    }),
    dashboardRoute(context, {
      path: '/v1/dashboards/invoices/{invoice_id}',
      operationId: 'getDashboardInvoice',
      summary: 'Read an invoice of a dashboard with its lines',
      of,
      query: z.object({}),
      response: z.object({ data: wholeInvoice }),
      async read({ open, invoiceId }) {
        const invoice = await getInvoice(context, open.customerId, invoiceId);
        requireShown(isShown(invoice, open.options), invoiceId);
        const skipsZero = open.options.show_zero_usage_line_items !== 'true';
        const view = await viewOf(context, [invoice], { skip_zero_qty_line_items: skipsZero });
        return { data: wholeInvoiceToWire(invoiceToWire(invoice, view)) };
      },
    }),
    dashboardRoute(context, {
      path: '/v1/dashboards/invoices/{invoice_id}/pdf',
      operationId: 'getDashboardInvoicePdf',
      summary: 'Read an invoice of a dashboard as a PDF',
      of,
      query: z.object({}),
      response: invoiceFile,
      mediaType: 'application/pdf',
      async read({ open, invoiceId }) {
        return await printInvoice(context, open.customerId, invoiceId, (invoice) =>
          requireShown(isShown(invoice, open.options), invoiceId),
        );
      },
    }),
  ];
}

/** The list filters by one status; a hidden row states so. */
async function shownInvoices(
  context: RouteContext,
  { customerId, options }: OpenDashboard,
  query: z.output<ReturnType<typeof pageQuery<typeof keysetPosition>>>,
) {
  const filter = {
    customerId,
    ...(options.contract_id === undefined ? {} : { contractId: options.contract_id }),
  };
  return await pageWithRows(
    pageRequest(query),
    async (request) => {
      const { rows, next } = await listInvoices(context, filter, { ...request, order: 'descending' });
      return { rows: rows.filter((invoice) => isShown(invoice, options)), next };
    },
    ({ issuedAt, id }) => ({ at: issuedAt, id }),
  );
}

type Shown = Pick<Invoice, 'contractId' | 'type' | 'status'>;

const STATUSES: Readonly<Record<string, readonly Invoice['status'][]>> = {
  ALL: ['DRAFT', 'FINALIZED', 'VOID'],
  FINALIZED_AND_DRAFT: ['DRAFT', 'FINALIZED'],
  DRAFT: ['DRAFT'],
  FINALIZED: ['FINALIZED'],
  VOID: ['VOID'],
};

/** Whether an address with these options shows the invoice. */
function isShown({ contractId, type, status }: Shown, options: DashboardOptions): boolean {
  const { contract_id: contract, invoice_type: shownType, invoice_status_filter: filter = 'ALL' } = options;
  if (contract !== undefined && contract.toLowerCase() !== contractId) return false;
  if (shownType !== undefined && shownType !== type) return false;
  if (options.hide_voided_invoices === 'true' && status === 'VOID') return false;
  return STATUSES[filter]?.includes(status) === true;
}

const metric = z
  .object({ id: uuid, name: z.string(), group_keys: z.array(z.array(z.string())) })
  .meta({ id: 'DashboardMetric' });

function metricsRoute(context: RouteContext): RouteDefinition {
  return dashboardRoute(context, {
    path: '/v1/dashboards/metrics',
    operationId: 'listDashboardMetrics',
    summary: 'List the metrics of a dashboard',
    description: 'Metrics with rates on the rate cards of the customer’s current contracts.',
    of: ['usage'],
    query: z.object({}),
    response: z.object({ data: z.array(metric) }),
    async read({ open }) {
      const metrics = await pricedMetrics(context, open.customerId);
      return { data: metrics.map(metricToShown) };
    },
  });
}

/** For a SQL metric the groups are columns of its query, and no definition of any metric is shown. */
function metricToShown(of: Parameters<typeof metricToWire>[0]): z.input<typeof metric> {
  const { id, name, group_keys: groupKeys = [] } = metricToWire(of);
  return { id, name, group_keys: groupKeys };
}

async function pricedMetrics(context: RouteContext, customerId: string) {
  const filter = { customerId, onCurrentPlan: true, includeArchived: false };
  return (await listCustomerMetrics(context, filter, { after: null, limit: METRICS_MAX })).rows;
}

function usageRoute(context: RouteContext): RouteDefinition {
  return dashboardRoute(context, {
    path: '/v1/dashboards/usage',
    operationId: 'listDashboardUsage',
    summary: 'Usage of a metric of a dashboard, by window and group',
    of: ['usage'],
    query: pageQuery(usageGroupCursor).extend({
      billable_metric_id: uuid,
      window_size: enumIn(USAGE_WINDOW_SIZES),
      starting_on: timestamp.meta({ description: 'At midnight UTC; with hour windows on any full hour.' }),
      ending_before: timestamp.meta({ description: 'At midnight UTC; with hour windows on any full hour.' }),
      group_key: commaList(z.string().min(1)).optional().meta({
        description: 'All names of one group key of the metric, separated by commas.',
      }),
    }),
    response: pageOf(usageGroup),
    async read({ open, query }) {
      const metrics = await pricedMetrics(context, open.customerId);
      if (!metrics.some(({ id }) => id === query.billable_metric_id)) {
        throw notFound('billable metric', query.billable_metric_id);
      }
      const page = await usageGroups(context, {
        customerId: open.customerId,
        billableMetricId: query.billable_metric_id,
        windowSize: query.window_size,
        startingOn: query.starting_on,
        endingBefore: query.ending_before,
        currentPeriod: false,
        groupKey: query.group_key ?? null,
        groupFilters: null,
        groupBy: null,
        ...pageRequest(query),
      });
      return pageToWire(page, groupToWire);
    },
  });
}

function balancesRoute(context: RouteContext): RouteDefinition {
  return dashboardRoute(context, {
    path: '/v1/dashboards/balances',
    operationId: 'listDashboardBalances',
    summary: 'List the balances of a dashboard with their ledgers',
    description: 'Commits and credits, or credits alone. A page may have fewer rows than its limit.',
    of: ['commits_and_credits', 'credits'],
    query: pageQuery(keysetPosition, LISTED_BALANCES),
    response: pageOf(balance),
    async read({ open, query }) {
      const { options, dashboard, customerId } = open;
      const input = {
        types: dashboard === 'credits' ? (['CREDIT'] as const) : COMMIT_TYPES,
        ...{ customerId, id: null, includeOfContracts: true, includeArchived: false, coveringDate: null },
        ...{ startingAt: null, effectiveBefore: null, withBalances: true },
        ...{ excludeZeroBalances: false, sortsByPriority: false },
      };
      const listed = await listBalances(context, input, pageRequest(query));
      const unit = options.credit_ledger_credit_type_id?.toLowerCase();
      const rows = listed.page.rows.filter(
        ({ accessSchedule }) => unit === undefined || accessSchedule.creditTypeId === unit,
      );
      const hidesName = options.hide_grant_name === 'true';
      return pageToWire({ rows, next: listed.page.next }, (commit) =>
        balanceToWire(commit, listed, hidesName),
      );
    },
  });
}
