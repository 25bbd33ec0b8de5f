/** Finds Stripe's objects for an invoice, after a call whose answer was lost. */
import type Stripe from 'stripe';
import { HOUR_MS, type Instant, SECOND_MS } from '../../core/time.ts';
import { ProviderProblem } from '../provider.ts';
import type { StripeAccess } from './access.ts';
import { EXPANDED } from './external-state.ts';

/** The metadata key of an invoice or a payment in Stripe with the id of our invoice. */
export const INVOICE_ID = 'tallyhouse_invoice_id';

/** Clocks differ. */
const EARLIER_MS = HOUR_MS;
const PAGE_MAX = 100;
/** The maximum of one customer's objects since the first call: 10,000. */
const PAGES_MAX = 100;

const RANKS: readonly (string | null)[] = ['paid', 'uncollectible', 'open', 'draft'];

/** The customer's invoices with our id that are not void: the most advanced first, then the oldest. */
export async function findInvoices(
  access: StripeAccess,
  customer: string,
  invoiceId: string,
  since: Instant,
): Promise<Stripe.Invoice[]> {
  const found: Stripe.Invoice[] = [];
  await eachPage((after) =>
    access.request('GET /v1/invoices', async (client) => {
      const page = await client.invoices.list({ customer, ...window(since), ...after });
      found.push(...page.data.filter(({ metadata }) => metadata?.[INVOICE_ID] === invoiceId));
      return page;
    }),
  );
  return found
    .filter(({ status }) => status !== 'void')
    .sort((a, b) => RANKS.indexOf(a.status) - RANKS.indexOf(b.status) || a.created - b.created);
}

/** The customer's payments for this invoice that can still succeed, or have: a succeeded one first. */
export async function findIntents(
  access: StripeAccess,
  customer: string,
  invoiceId: string,
  since: Instant,
): Promise<Stripe.PaymentIntent[]> {
  const found: Stripe.PaymentIntent[] = [];
  await eachPage((after) =>
    access.request('GET /v1/payment_intents', async (client) => {
      const page = await client.paymentIntents.list({ customer, ...window(since), ...after });
      found.push(...page.data.filter(({ metadata }) => metadata[INVOICE_ID] === invoiceId));
      return page;
    }),
  );
  return found
    .filter(({ status }) => status !== 'canceled')
    .sort(
      (a, b) => Number(b.status === 'succeeded') - Number(a.status === 'succeeded') || a.created - b.created,
    );
}

function window(since: Instant) {
  return { created: { gte: Math.floor((since - EARLIER_MS) / SECOND_MS) }, limit: PAGE_MAX };
}

/** Reads pages until the last one. */
export async function eachPage(
  read: (after: { starting_after?: string }) => Promise<Stripe.ApiList<{ readonly id: string }>>,
): Promise<void> {
  let after: string | undefined;
  for (let pages = 1; pages <= PAGES_MAX; pages += 1) {
    const page = await read(after === undefined ? {} : { starting_after: after });
    after = page.data.at(-1)?.id;
    if (!page.has_more || after === undefined) return;
  }
  throw new ProviderProblem('unclear', 'Stripe: there are too many objects to look through');
}

/** The current invoice; null: deleted. */
export async function retrieveInvoice(access: StripeAccess, id: string): Promise<Stripe.Invoice | null> {
  try {
    const invoice = await access.request('GET /v1/invoices/id', (client) =>
      client.invoices.retrieve(id, { expand: EXPANDED }),
    );
    return isDeleted(invoice) ? null : invoice;
  } catch (error) {
    if (error instanceof ProviderProblem && error.code === 'resource_missing') return null;
    throw error;
  }
}

/** The answer for a deleted invoice has another form than the client's type. */
function isDeleted(object: object): boolean {
  return 'deleted' in object && object.deleted === true;
}

/** Idempotent. Throws if it was finalized in the meantime, which the next lookup finds. */
export async function deleteDraft(access: StripeAccess, id: string): Promise<void> {
  try {
    await access.request('DELETE /v1/invoices/id', (client) => client.invoices.del(id));
  } catch (error) {
    if (!(error instanceof ProviderProblem) || error.kind !== 'refused') throw error;
    if (error.code === 'resource_missing') return;
    throw new ProviderProblem('unclear', error.message, { code: error.code });
  }
}

/** A live Stripe invoice with the id of one of ours. */
interface OurInvoice {
  readonly invoiceId: string;
  readonly externalId: string;
  readonly status: string;
}

/**
 * A page of an account's invoices with our ids that are not void, from that time on; `next` is the start of the
 * following page.
 */
export async function listOurs(
  access: StripeAccess,
  since: Instant,
  after: string | null,
): Promise<{ readonly ours: readonly OurInvoice[]; readonly next: string | null }> {
  const page = await access.request('GET /v1/invoices', (client) =>
    client.invoices.list({ ...window(since), ...(after === null ? {} : { starting_after: after }) }),
  );
  const ours = page.data.flatMap(({ id, metadata, status }) => {
    const invoiceId = metadata?.[INVOICE_ID];
    return invoiceId === undefined || status === 'void'
      ? []
      : [{ invoiceId, externalId: id, status: status ?? 'draft' }];
  });
  return { ours, next: page.has_more ? (page.data.at(-1)?.id ?? null) : null };
}
