/** Loads an issued invoice for delivery (`payments/document.ts`), or the reason that it is not delivered now. */
import { currencyOf } from '../../core/currencies.ts';
import { customFieldsOf } from '../../core/custom-fields.ts';
import { assert } from '../../core/errors.ts';
import { isConversionLine } from '../../core/invoice.ts';
import { MINUTE_MS } from '../../core/time.ts';
import type { PaymentDocument } from '../../payments/document.ts';
import { ProviderProblem } from '../../payments/provider.ts';
import { lineId } from '../../rating/invoices/line-id.ts';
import { payableAmount } from '../../rating/invoices/payable.ts';
import { loadCommits } from '../../store/balances/commits.ts';
import { type Database, inSnapshot, type Transaction } from '../../store/base/database.ts';
import { findContract } from '../../store/contracts/contracts.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { customerNames } from '../../store/customers/customers.ts';
import { formerPayments } from '../../store/invoices/former-payments.ts';
import { standingConsolidations } from '../../store/invoices/invoice-constituents.ts';
import { loadExternalInvoices } from '../../store/invoices/invoice-deliveries.ts';
import { loadInvoiceNumbers } from '../../store/invoices/invoice-numbers.ts';
import type { IssuedInvoice } from '../../store/invoices/invoices.ts';
import { findInvoice } from '../../store/invoices/whole-invoices.ts';
import type { BillingContext } from '../billing-context.ts';
import { consolidatedPlaces } from '../invoices/consolidated/drafts.ts';
import { concatenates } from '../invoices/consolidated/targets.ts';
import { customFieldsOfInvoices } from '../invoices/freeze/invoice-fields.ts';
import { described } from '../invoices/issued/former-payments.ts';

/** `later`: it waits for another step. `statement`: another invoice has its amounts. */
export type Deliverable =
  | { readonly kind: 'document'; readonly document: PaymentDocument }
  | { readonly kind: 'later'; readonly waitMs: number }
  | { readonly kind: 'statement'; readonly consolidatedId: string }
  | { readonly kind: 'blocked'; readonly problem: ProviderProblem };

/** A number is assigned within a second, so it stays due; a consolidated invoice is issued with the last of its parts. */
const NUMBER_WAIT_MS = 0;
const PARTS_WAIT_MS = MINUTE_MS;

/** The custom field of a product with its id at Stripe. */
const STRIPE_PRODUCT = 'stripe_product_id';

/** `isBegun`: part of it may be at the provider already, so that earlier payments no longer stop it. */
export async function loadDeliverable(
  context: BillingContext,
  invoiceId: string,
  { customerId, isBegun }: { readonly customerId: string; readonly isBegun: boolean },
): Promise<Deliverable> {
  const found = await inSnapshot(context.db, async (tx) => {
    const invoice = await findInvoice(tx, customerId, invoiceId);
    assert(invoice !== null, `invoice ${invoiceId} is issued`);
    const [consolidatedId] = await standingConsolidations(tx, [invoiceId]);
    if (consolidatedId !== undefined) return { kind: 'statement' as const, consolidatedId };
    const problem = isBegun ? null : await formerProblem(tx, invoiceId);
    if (problem !== null) return { kind: 'blocked' as const, problem };
    if (await isToBeConsolidated(context, tx, invoice))
      return { kind: 'later' as const, waitMs: PARTS_WAIT_MS };
    const number = (await loadInvoiceNumbers(tx, [invoiceId])).get(invoiceId);
    if (number === undefined) return { kind: 'later' as const, waitMs: NUMBER_WAIT_MS };
    return { kind: 'invoice' as const, invoice, number };
  });
  if (found.kind !== 'invoice') return found;
  return { kind: 'document', document: await documentOf(context, found.invoice, found.number) };
}

/**
 * The former invoice that keeps an invoice from its provider, if any. A payment may be known only when the void there
 * is refused, so the void is waited for; a paid amount is not collected again unless a person has decided so.
 */
async function formerProblem(tx: Transaction, invoiceId: string): Promise<ProviderProblem | null> {
  const formers = await formerPayments(tx, invoiceId, { lock: false });
  const voiding = formers.find(({ isVoiding }) => isVoiding);
  if (voiding !== undefined) {
    return new ProviderProblem(
      'busy',
      `It replaces invoice ${voiding.invoiceId}, which is not voided there yet`,
    );
  }
  const paid = formers.find(({ isPaid }) => isPaid);
  if (paid === undefined) return null;
  return new ProviderProblem(
    'refused',
    `It replaces what its customer has paid: ${described(paid)}. Give that back there, report it by ` +
      'POST /v1/invoices/refunded, and deliver this one again',
  );
}

/** Whether a consolidated invoice that is not issued yet will have this one. Only contracts in hierarchies cost more. */
async function isToBeConsolidated(
  context: BillingContext,
  tx: Transaction,
  invoice: IssuedInvoice,
): Promise<boolean> {
  if (invoice.type !== 'USAGE') return false;
  const contract = await findContract(tx, invoice.contractId);
  if (contract === null) return false;
  const root = contract.parent === null ? contract : await findContract(tx, contract.parent.contractId);
  if (root === null || !concatenates(root)) return false;
  const places = await consolidatedPlaces({ ...context, db: tx }, [root], {});
  return places.some(({ target }) => target.parts.some((part) => part.invoiceId === invoice.id));
}

async function documentOf(
  { db, publicUrl }: BillingContext,
  invoice: IssuedInvoice,
  number: string,
): Promise<PaymentDocument> {
  const currency = currencyOf(invoice.creditTypeId);
  assert(currency !== null, 'an issued invoice is in a currency');
  const { id: invoiceId, customerId, contractId } = invoice;
  return {
    ...{ invoiceId, customerId, contractId, number, currency },
    type: invoice.type,
    creditTypeId: invoice.creditTypeId,
    total: invoice.total,
    payable: payableAmount(invoice),
    period: invoice.type === 'SCHEDULED' ? null : { start: invoice.period.start, end: invoice.period.end },
    issuedAt: invoice.issuedAt,
    paymentTermsDays: invoice.netPaymentTermsDays,
    lines: invoice.lines.map((line) => ({ ...line, id: lineId(invoiceId, line) })),
    names: await namesOf(db, invoice),
    products: await productsOf(db, invoice),
    replaces: await replacedBy(db, invoice),
    links: publicUrl === null ? null : linksOf(publicUrl, invoice),
  };
}

async function namesOf(db: Database, { lines }: IssuedInvoice): Promise<PaymentDocument['names']> {
  const payers = lines.flatMap((line) =>
    'payer' in line && line.payer !== null ? [line.payer.commitId] : [],
  );
  const ids = [...new Set(payers)];
  const commits = ids.length === 0 ? [] : await loadCommits(db, { ids, includeArchived: true });
  const units = lines.flatMap((line) =>
    isConversionLine(line) ? [line.creditTypeId, line.convertedCreditTypeId] : [line.creditTypeId],
  );
  const creditTypes = await loadCreditTypes(db, [...new Set(units)]);
  return {
    balances: new Map(
      commits.map(({ id, name, type }) => [id, name ?? (type === 'CREDIT' ? 'Credit' : 'Commit')]),
    ),
    units: new Map([...creditTypes].map(([id, { name }]) => [id, name])),
    customers: await customerNames(db, [...new Set(lines.flatMap(({ origin }) => origin?.customerId ?? []))]),
  };
}

async function productsOf(db: Database, invoice: IssuedInvoice): Promise<ReadonlyMap<string, string>> {
  const fields = (await customFieldsOfInvoices({ db }, [invoice])).get(invoice.id) ?? new Map();
  const ids = new Set(invoice.lines.flatMap((line) => (isConversionLine(line) ? [] : [line.productId])));
  return new Map(
    [...ids].flatMap((id) => {
      const product = customFieldsOf(fields, id)[STRIPE_PRODUCT];
      return product === undefined ? [] : [[id, product] as const];
    }),
  );
}

async function replacedBy(
  db: Database,
  { regeneratedFromInvoiceId: invoiceId }: IssuedInvoice,
): Promise<PaymentDocument['replaces']> {
  if (invoiceId === null) return null;
  const external = (await loadExternalInvoices(db, [invoiceId])).get(invoiceId);
  return { invoiceId, externalId: external?.externalId ?? null };
}

function linksOf(publicUrl: string, { id, customerId }: IssuedInvoice): PaymentDocument['links'] {
  const path = `${publicUrl}/v1/customers/${customerId}/invoices/${id}`;
  return { pdf: `${path}/pdf`, csv: path };
}
