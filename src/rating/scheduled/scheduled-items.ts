/**
 * The amounts that a contract is invoiced on given dates: its scheduled charges and discounts, the requested items of
 * its professional services, the purchases of its prepaid commits and the true-ups of its postpaid ones
 * (docs/explanation/invoices.md, "Scheduled invoices"). The charges of its subscriptions are added to them.
 *
 * The amount of a true-up depends on usage. Its item has the whole commitment as amount until the shortfall is known.
 */
import { type Decimal, ZERO } from '../../core/decimal.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { ContractTerms } from '../../core/terms/contract.ts';
import type { ProfessionalService } from '../../core/terms/professional-services.ts';
import type { ScheduledCharge } from '../../core/terms/scheduled-charges.ts';
import type { InvoiceItem } from '../../core/terms/schedules.ts';
import type { Subscription } from '../../core/terms/subscriptions.ts';
import type { Instant } from '../../core/time.ts';
import { chargeTotal, type SubscriptionCharge } from '../subscriptions/charges.ts';
import type { SubscriptionPrice } from '../subscriptions/prices.ts';

interface ScheduledSource {
  readonly kind:
    | 'scheduled_charge'
    | 'discount'
    | 'professional_service'
    | 'commit'
    | 'true_up'
    | 'subscription';
  readonly id: string;
}

/** An amount that is due on a date. */
export interface ScheduledItem {
  /** The id of the item in its schedule. An item is on one invoice at most. */
  readonly id: string;
  readonly source: ScheduledSource;
  readonly at: Instant;
  readonly creditTypeId: string;
  readonly productId: string;
  /** The name of the source; null: the name of the product. */
  readonly name: string | null;
  readonly quantity: Decimal;
  readonly unitPrice: Decimal;
  readonly total: Decimal;
  /**
   * The commit whose balance is withheld until this amount is paid. Its invoice has no other items, because it is
   * voided if the payment fails.
   */
  readonly gatedCommitId: string | null;
  /** The postpaid commit with this shortfall. Its invoice waits for usage, so it has no other items. */
  readonly trueUpCommitId: string | null;
  /** The invoice that was requested for the item, which has only the items of that request. */
  readonly requestedInvoiceId: string | null;
  /** Whether it joins a usage invoice although the contract has its charges on separate invoices. */
  readonly onUsageInvoice: boolean;
  /** Free text from the client. */
  readonly metadata: string | null;
  /** The charge of a subscription. Balances may pay for it, and it joins usage invoices by its own terms alone. */
  readonly charge: SubscriptionCharge | null;
}

type ScheduledTerms = Pick<ContractTerms, 'scheduledCharges' | 'professionalServices' | 'commits'>;

/**
 * Items by date; on one date charges, discounts, professional services and commits, each in the order of their
 * addition. Archived terms have no items.
 */
export function scheduledItems(terms: ScheduledTerms): ScheduledItem[] {
  const active = terms.scheduledCharges.filter(({ archivedAt }) => archivedAt === null);
  const charges = active.filter(({ kind }) => kind === 'CHARGE');
  const discounts = active.filter(({ kind }) => kind === 'DISCOUNT');
  return [
    ...charges.flatMap(itemsOfCharge),
    ...discounts.flatMap(itemsOfCharge).map(reducing),
    ...terms.professionalServices.flatMap(itemsOfService),
    ...terms.commits.flatMap(itemsOfCommit),
  ].sort((a, b) => a.at - b.at);
}

const PLAIN = {
  gatedCommitId: null,
  trueUpCommitId: null,
  requestedInvoiceId: null,
  onUsageInvoice: false,
  metadata: null,
  charge: null,
};

function itemsOfCharge(charge: ScheduledCharge): ScheduledItem[] {
  const { id, kind, productId, name, description: metadata, onUsageInvoice, schedule } = charge;
  const source = { kind: kind === 'CHARGE' ? 'scheduled_charge' : 'discount', id } as const;
  return itemsOf({ ...PLAIN, source, productId, name, metadata, onUsageInvoice }, schedule);
}

function reducing(item: ScheduledItem): ScheduledItem {
  return { ...item, unitPrice: ZERO.minus(item.unitPrice), total: ZERO.minus(item.total) };
}

/** There may be thousands of items: a spread of `PLAIN` into each takes ten times as long. */
function itemsOfService({ id, productId, items }: ProfessionalService): ScheduledItem[] {
  const source = { kind: 'professional_service', id } as const;
  return items.map((item) => ({
    id: item.id,
    source,
    at: item.timestamp,
    creditTypeId: item.creditTypeId,
    productId,
    name: null,
    quantity: item.quantity,
    unitPrice: item.unitPrice,
    total: item.amount,
    gatedCommitId: null,
    trueUpCommitId: null,
    requestedInvoiceId: item.invoiceId,
    onUsageInvoice: false,
    metadata: item.metadata,
    charge: null,
  }));
}

function itemsOfCommit({ archivedAt, type, ...commit }: Commit): ScheduledItem[] {
  const { id, productId, name, invoiceSchedule, paymentGate } = commit;
  if (archivedAt !== null || invoiceSchedule === null || invoiceSchedule.doNotInvoice) return [];
  if (type === 'POSTPAID') {
    const source = { kind: 'true_up', id } as const;
    return itemsOf({ ...PLAIN, source, productId, name, trueUpCommitId: id }, invoiceSchedule);
  }
  const isGated = paymentGate !== null && paymentGate.type !== 'NONE';
  const owner = {
    ...PLAIN,
    source: { kind: 'commit', id } as const,
    productId,
    name,
    gatedCommitId: isGated ? id : null,
  };
  return itemsOf(owner, invoiceSchedule);
}

function itemsOf(
  owner: Omit<ScheduledItem, 'id' | 'at' | 'creditTypeId' | 'quantity' | 'unitPrice' | 'total'>,
  schedule: { readonly creditTypeId: string; readonly items: readonly InvoiceItem[] },
): ScheduledItem[] {
  return schedule.items.map(({ id, timestamp, quantity, unitPrice, amount }) => ({
    ...owner,
    id,
    at: timestamp,
    creditTypeId: schedule.creditTypeId,
    quantity,
    unitPrice,
    total: amount,
  }));
}

/**
 * The charges of a subscription, without commits and credits. `creditTypeId` is the currency of its invoice. A charge
 * without a price has no item.
 */
export function subscriptionItem(
  { id, name }: Subscription,
  charge: SubscriptionCharge,
  price: SubscriptionPrice,
  creditTypeId: string,
): ScheduledItem {
  return {
    ...PLAIN,
    id: charge.id,
    source: { kind: 'subscription', id },
    at: charge.at,
    creditTypeId,
    productId: charge.productId,
    name,
    quantity: charge.quantity,
    unitPrice: price.bands[0].price,
    total: chargeTotal(charge, price),
    onUsageInvoice: charge.joinsUsageInvoice,
    charge,
  };
}

/** The items that are invoiced together: same date, same currency, and no separate invoice required. In their order. */
export interface ScheduledGroup {
  readonly at: Instant;
  readonly creditTypeId: string;
  readonly gatedCommitId: string | null;
  readonly trueUpCommitId: string | null;
  readonly requestedInvoiceId: string | null;
  readonly items: readonly ScheduledItem[];
}

/** Ascending by date; on one date in the order in which their currencies first appear. */
export function scheduledGroups(items: readonly ScheduledItem[]): ScheduledGroup[] {
  const groups = new Map<string, ScheduledItem[]>();
  for (const item of items) {
    const own = item.gatedCommitId ?? item.trueUpCommitId ?? item.requestedInvoiceId ?? '';
    const key = `${item.at} ${item.creditTypeId} ${own}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { at, creditTypeId, gatedCommitId, trueUpCommitId, requestedInvoiceId } = first;
      return [{ at, creditTypeId, gatedCommitId, trueUpCommitId, requestedInvoiceId, items: group }];
    })
    .sort((a, b) => a.at - b.at);
}
