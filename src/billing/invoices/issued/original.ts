/** A voided invoice to be regenerated, with the data needed for it. */
import { assert, Refusal } from '../../../core/errors.ts';
import type { Invoice, InvoiceStatus } from '../../../core/invoice.ts';
import { contains, floorToDay, type Instant } from '../../../core/time.ts';
import type { ScheduledItem } from '../../../rating/scheduled/scheduled-items.ts';
import type { SubscriptionPrices } from '../../../rating/subscriptions/prices.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { type Contract, findContract, lockContract } from '../../../store/contracts/contracts.ts';
import { isErased } from '../../../store/erasure/erased-customers.ts';
import { loadChargeStarts } from '../../../store/invoices/billed-charges.ts';
import { invoicedItemIds } from '../../../store/invoices/invoiced-items.ts';
import { findInvoiceHead, findRegenerated, lockInvoice } from '../../../store/invoices/invoices.ts';
import { loadCharges } from '../../invoice-queue/load-charges.ts';
import { loadScheduledItems } from '../../invoice-queue/open-items.ts';
import type { InvoiceHead } from './issued-invoice.ts';

export interface Original {
  readonly invoice: InvoiceHead;
  /** Its current state. */
  readonly contract: Contract;
}

/** The part of the new invoice that does not come from its computation. */
type NewIdentity = Pick<Invoice, 'id' | 'issuedAt' | 'regeneratedFromInvoiceId'>;

/**
 * Issues a computed invoice in place of the original, which this transaction has locked. Returns false, and issues
 * nothing, if its input has changed.
 */
export type IssueInstead = (tx: Transaction, original: Original, identity: NewIdentity) => Promise<boolean>;

/** Refuses (`invalid`) an invoice that cannot be regenerated. */
export async function readOriginal(tx: Transaction, id: string): Promise<Original> {
  const invoice = requireVoid(id, await findInvoiceHead(tx, id));
  await requireFirst(tx, id);
  await requireCustomer(tx, invoice);
  return { invoice, contract: requireBilled(await findContract(tx, invoice.contractId)) };
}

/** `readOriginal` with locks: neither the invoice nor the contract can change until the transaction ends. */
export async function lockOriginal(tx: Transaction, id: string): Promise<Original> {
  const { contractId } = requireVoid(id, await findInvoiceHead(tx, id));
  // In the order in which archiving locks them.
  const contract = requireBilled(await lockContract(tx, contractId));
  const invoice = requireVoid(id, await lockInvoice(tx, id));
  await requireFirst(tx, id);
  await requireCustomer(tx, invoice);
  return { invoice, contract };
}

function requireVoid(id: string, invoice: InvoiceHead | null): InvoiceHead {
  assert(invoice !== null, 'issued invoices are not deleted');
  if (invoice.status !== 'VOID') throw notVoid(id, invoice.status);
  if (invoice.isHistorical) {
    throw new Refusal(
      'invalid',
      `invoice ${id} was not computed from events: create the historical invoice again`,
    );
  }
  return invoice;
}

export function notVoid(id: string, state: InvoiceStatus): Refusal {
  return new Refusal('invalid', `invoice ${id} is ${state}: only a VOID invoice can be regenerated`);
}

async function requireFirst(tx: Transaction, id: string): Promise<void> {
  const regenerated = await findRegenerated(tx, id);
  if (regenerated === null) return;
  throw new Refusal('invalid', `invoice ${id} was regenerated before, as invoice ${regenerated}`);
}

async function requireCustomer(tx: Transaction, { id, customerId }: InvoiceHead): Promise<void> {
  if (!(await isErased(tx, customerId))) return;
  throw new Refusal('invalid', `invoice ${id} cannot be computed again: its customer was erased`);
}

function requireBilled(contract: Contract | null): Contract {
  assert(contract !== null, 'the contract of an invoice exists');
  if (contract.archivedAt === null) return contract;
  throw new Refusal('invalid', `contract ${contract.id} is archived: nothing is invoiced for it any more`);
}

export function nothingToBill({ invoice, contract }: Original): Refusal {
  return new Refusal(
    'invalid',
    `invoice ${invoice.id} has nothing to bill any more under contract ${contract.id} as it is now`,
  );
}

/** The items of schedules and subscriptions on an original, in their current state. */
export interface OriginalItems {
  /** In their order; without items that the contract no longer has. */
  readonly items: readonly ScheduledItem[];
  /** Null without subscriptions. */
  readonly prices: SubscriptionPrices | null;
  /** The ids under which it is invoiced: these items, and all charges of subscriptions. */
  readonly invoicedIds: readonly string[];
}

/**
 * The items of schedules on the original. For subscriptions, the amounts now owed in the billing periods that it
 * charged, as far as they were due then.
 */
export async function itemsOf(
  db: Database | Transaction,
  { invoice, contract }: Original,
  now: Instant,
): Promise<OriginalItems> {
  const ids = await invoicedItemIds(db, invoice.id);
  if (ids.size === 0) return { items: [], prices: null, invoicedIds: [] };
  const all = (await loadScheduledItems(db, [contract.id])).get(contract.id) ?? [];
  const items = all.filter(({ id }) => ids.has(id));
  const charged = await loadChargeStarts(db, invoice.id);
  const invoicedIds = [...items, ...charged].map(({ id }) => id);
  if (charged.length === 0) return { items, prices: null, invoicedIds };
  const subscribed = (await loadCharges(db, [contract], now, invoice.id)).get(contract.id);
  const isCharged = ({ charge }: ScheduledItem) =>
    charge !== null &&
    floorToDay(charge.at) <= floorToDay(invoice.period.end) &&
    charged.some(
      ({ subscriptionId, startingAt }) =>
        subscriptionId === charge.subscriptionId && contains(charge.period.whole, startingAt),
    );
  return {
    items: [...items, ...(subscribed?.items ?? []).filter(isCharged)],
    prices: subscribed?.prices ?? null,
    invoicedIds,
  };
}
