/**
 * Compares billed amounts with the invoices of providers (docs/how-to/reconciliation.md, "Providers"): first every
 * delivered invoice with the current answer of its provider, then the further invoices of ours in each account of
 * Stripe. It reads from providers, and changes nothing.
 */
import { z } from 'zod';
import { currencyOf } from '../../../core/currencies.ts';
import type { Decimal } from '../../../core/decimal.ts';
import { assert, invalid, Refusal, words } from '../../../core/errors.ts';
import type { ExternalInvoice } from '../../../core/external-invoice.ts';
import { isUuid } from '../../../core/ids.ts';
import type { Page, PageRequest } from '../../../core/paging.ts';
import { HOUR_MS, type Instant, type Interval, SECOND_MS } from '../../../core/time.ts';
import { type Note, ProviderProblem } from '../../../payments/provider.ts';
import { listOurs } from '../../../payments/stripe/find-invoice.ts';
import { payableAmount } from '../../../rating/invoices/payable.ts';
import { findConnections } from '../../../store/billing-providers/billing-connections.ts';
import {
  type DeliveredInvoice,
  firstMappedAt,
  listDelivered,
} from '../../../store/invoices/delivered-invoices.ts';
import { type Delivery, loadDeliveries } from '../../../store/invoices/invoice-deliveries.ts';
import { findInvoiceHead } from '../../../store/invoices/invoices.ts';
import type { BillingContext } from '../../billing-context.ts';
import { loadDeliverable } from '../delivery-document.ts';
import { amountThere, compareWithProvider, type ProviderDifference } from './compare.ts';

/** In the first part after an invoice, in the second after an object of an account. */
export const providerCursor = z.union([
  z.strictObject({ at: z.int(), id: z.string().refine(isUuid) }),
  z.strictObject({ connectionId: z.string().refine(isUuid), after: z.string().max(255).nullable() }),
]);
type ProviderCursor = z.output<typeof providerCursor>;

interface ProviderReconcileInput extends PageRequest<ProviderCursor> {
  /** The time in which the invoices were issued. */
  readonly range: Interval;
  /** Null: all customers. */
  readonly customerId: string | null;
}

/** An invoice that was compared. */
export interface ReconciledDelivery {
  readonly delivered: DeliveredInvoice;
  readonly there: ExternalInvoice;
  readonly payable: Decimal;
  /** Null: the provider has nothing to be paid. */
  readonly amountThere: Decimal | null;
}

interface ProviderPage extends Page<ReconciledDelivery, ProviderCursor> {
  readonly differences: readonly ProviderDifference[];
}

/** A page that takes longer ends with the invoices that are being read then. */
const PAGE_MS = 10 * SECOND_MS;
const AT_ONCE = 10;

/** Refuses a range without time (`invalid`), and a provider that does not answer now (`unavailable`). */
export async function reconcileProviders(
  context: BillingContext,
  input: ProviderReconcileInput,
): Promise<ProviderPage> {
  if (input.range.end <= input.range.start) throw invalid(['range'], words`has no time in it`);
  try {
    const { after } = input;
    if (after !== null && 'connectionId' in after) return await extraThere(context, input, after);
    return await delivered(context, input, after);
  } catch (error) {
    if (!(error instanceof ProviderProblem)) throw error;
    throw new Refusal('unavailable', error.message);
  }
}

async function delivered(
  context: BillingContext,
  { range, customerId, limit }: ProviderReconcileInput,
  after: { readonly at: Instant; readonly id: string } | null,
): Promise<ProviderPage> {
  const until = performance.now() + PAGE_MS;
  const all = await listDelivered(context.db, { range, customerId }, { after, limit: limit + 1 });
  const rows: ReconciledDelivery[] = [];
  while (rows.length < Math.min(all.length, limit) && (rows.length === 0 || performance.now() < until)) {
    const part = all.slice(rows.length, Math.min(rows.length + AT_ONCE, limit));
    rows.push(...(await Promise.all(part.map((one) => reconciled(context, one)))));
  }
  const last = rows.at(-1)?.delivered.invoice;
  const isMore = all.length > rows.length;
  const next =
    isMore && last !== undefined ? { at: last.issuedAt, id: last.id } : await firstAccount(context);
  return { rows, next, differences: rows.flatMap((row) => differencesOf(context, row)) };
}

async function reconciled(context: BillingContext, one: DeliveredInvoice): Promise<ReconciledDelivery> {
  const there = await stateThere(context, one.delivery);
  return { delivered: one, there, payable: payableAmount(one.invoice), amountThere: amountThere(there) };
}

const unwritten: Note = () => Promise.reject(new Error('a comparison writes nothing'));

/** The provider's current answer; the known state if it has none. */
async function stateThere(context: BillingContext, delivery: Delivery): Promise<ExternalInvoice> {
  // Decisions of the simulated provider are in no other place.
  if (delivery.external.externalId === null || delivery.configurationId === null) return delivery.external;
  const { customerId } = delivery;
  const found = await loadDeliverable(context, delivery.invoiceId, { customerId, isBegun: true });
  if (found.kind !== 'document') return delivery.external;
  const provider = await context.providerOf(delivery);
  const { invoiceId, method, mappedAt, sentAt, external } = delivery;
  // Workers resolve uncertain states.
  const progress = { invoiceId, method, mappedAt, sentAt, external, isDoubtful: false };
  return provider.status(found.document, progress, unwritten);
}

function differencesOf(
  { clock }: BillingContext,
  { delivered: { invoice, delivery }, there, payable }: ReconciledDelivery,
): ProviderDifference[] {
  return compareWithProvider({
    invoiceId: invoice.id,
    customerId: invoice.customerId,
    isVoid: invoice.status === 'VOID',
    payable,
    isOverdue: clock.now() - delivery.createdAt > HOUR_MS,
    here: delivery.external,
    there,
  });
}

async function firstAccount({ db }: BillingContext): Promise<ProviderCursor | null> {
  const [first] = await findConnections(db, 'stripe', 'direct_to_billing_provider');
  return first === undefined ? null : { connectionId: first.id, after: null };
}

/** Invoices of one account that carry the id of one of ours, but are not its recorded invoice. */
async function extraThere(
  context: BillingContext,
  { range, customerId }: ProviderReconcileInput,
  { connectionId, after }: { readonly connectionId: string; readonly after: string | null },
): Promise<ProviderPage> {
  const { db, accounts } = context;
  const connections = await findConnections(db, 'stripe', 'direct_to_billing_provider');
  const at = connections.findIndex(({ id }) => id === connectionId);
  const connection = connections[at];
  const since = await firstMappedAt(db, { range, customerId });
  if (connection === undefined || since === null) return { rows: [], next: null, differences: [] };
  const page = await listOurs(accounts.access(connection), since, after);
  const known = await loadDeliveries(
    db,
    page.ours.map(({ invoiceId }) => invoiceId).filter((id) => isUuid(id)),
  );
  const differences: ProviderDifference[] = [];
  for (const { invoiceId, externalId, status } of page.ours) {
    const delivery = known.get(invoiceId);
    if (delivery === undefined || delivery.external.externalId === externalId) continue;
    const invoice = await findInvoiceHead(db, invoiceId);
    assert(invoice !== null, 'what is delivered is issued');
    const isAsked = invoice.issuedAt >= range.start && invoice.issuedAt < range.end;
    if (!isAsked || (customerId !== null && invoice.customerId !== customerId)) continue;
    const message = `a further invoice there, ${status}, is of this one`;
    const values = { externalId, message, expected: null, found: null };
    differences.push({ code: 'extra_there', invoiceId, customerId: invoice.customerId, ...values });
  }
  const following = connections[at + 1];
  const nextAccount = following === undefined ? null : { connectionId: following.id, after: null };
  const next = page.next === null ? nextAccount : { connectionId, after: page.next };
  return { rows: [], next, differences };
}

/** The code of the currency of an invoice. */
export function currencyCodeOf({ creditTypeId }: { readonly creditTypeId: string }): string {
  const currency = currencyOf(creditTypeId);
  assert(currency !== null, 'an issued invoice is in a currency');
  return currency.code;
}
