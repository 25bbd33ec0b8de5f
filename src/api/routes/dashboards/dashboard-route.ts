/** A route that the page of a dashboard reads: anyone with the signed address may call it. */
import type { Context } from 'hono';
import { z } from 'zod';
import type { DashboardLinks, OpenDashboard } from '../../../access/dashboard-links.ts';
import type { TakeRequest } from '../../../access/rate-limits.ts';
import type { Dashboard } from '../../../core/dashboards.ts';
import { notFound, Refusal } from '../../../core/errors.ts';
import { pathReader, queryReader } from '../../http/hono-input.ts';
import { headerOf } from '../../http/request-body.ts';
import type { RouteDefinition, RouteFacts } from '../../http/route.ts';
import { uuid } from '../../wire/fields.ts';

export interface DashboardAccess {
  readonly links: DashboardLinks;
  /** Without it requests are not limited. */
  readonly takeRequest?: TakeRequest | undefined;
}

type Definition<Query extends z.ZodObject, Response extends z.ZodType> = Omit<
  RouteFacts,
  'method' | 'scope' | 'tags' | 'errors' | 'description'
> & {
  /** The dashboards that show it. */
  readonly of: readonly Dashboard[];
  readonly description?: string;
  readonly query: Query;
  readonly response: Response;
  read(input: {
    readonly open: OpenDashboard;
    readonly query: z.output<Query>;
    /** The id of an invoice, if the path has one. */
    readonly invoiceId: string;
  }): Promise<z.input<Response>>;
};

const invoicePath = z.object({ invoice_id: uuid });
const readInvoice = pathReader(invoicePath);

const SIGNED = 'For the page of a dashboard: `Authorization: Dashboard …`, with the text of its address.';

/** Its answers are of the customer of the address, whatever the request names. */
export function dashboardRoute<Query extends z.ZodObject, Response extends z.ZodType>(
  { links, takeRequest }: DashboardAccess,
  { of, read, description, query, response, ...facts }: Definition<Query, Response>,
): RouteDefinition {
  const readQuery = queryReader(query);
  const hasInvoice = facts.path.includes('{invoice_id}');
  return {
    ...facts,
    method: 'get',
    scope: 'public',
    tags: ['Dashboards'],
    description: description === undefined ? SIGNED : `${description} ${SIGNED}`,
    errors: [400, 401, 403, 404, 429, 503],
    params: hasInvoice ? invoicePath : undefined,
    query,
    body: undefined,
    response,
    async run({ http }) {
      const open = await links.open(textOf(http));
      takeRequest?.(`dashboard of ${open.customerId}`, 'read');
      if (!of.includes(open.dashboard)) {
        throw new Refusal('forbidden', `The address is one of the dashboard ${open.dashboard}`);
      }
      const asked = (await readQuery(http)) as z.output<Query>;
      const path = hasInvoice ? invoicePath.parse(await readInvoice(http)) : { invoice_id: '' };
      return await links.read(() => read({ open, query: asked, invoiceId: path.invoice_id }));
    },
  };
}

function textOf(http: Context): string {
  const text = /^dashboard +(\S+) *$/i.exec(headerOf(http, 'authorization') ?? '')?.[1];
  if (text !== undefined) return text;
  throw new Refusal('unauthenticated', 'Missing address: send the header "Authorization: Dashboard <text>"');
}

/** An invoice that the address does not show is none. */
export function requireShown(isShown: boolean, invoiceId: string): void {
  if (!isShown) throw notFound('invoice', invoiceId);
}
