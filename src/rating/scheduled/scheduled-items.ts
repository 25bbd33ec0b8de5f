/**
 * The amounts that a contract is invoiced on given dates: its scheduled charges and the purchases of its prepaid
 * commits (docs/invoices.md, "Scheduled invoices").
 *
 * A POSTPAID commit's invoice item is not a purchase: on its date the shortfall is billed, which depends on usage.
 */
import type { Decimal } from '../../core/decimal.ts';
import type { ContractTerms } from '../../core/terms/contract.ts';
import type { InvoiceItem } from '../../core/terms/schedules.ts';
import type { Instant } from '../../core/time.ts';

type ScheduledSource =
  | { readonly kind: 'scheduled_charge'; readonly id: string }
  | { readonly kind: 'commit'; readonly id: string };

/** An amount that is due on a date. */
export interface ScheduledItem {
  /** Of the item of the schedule. An item is on one invoice at most. */
  readonly id: string;
  readonly source: ScheduledSource;
  readonly at: Instant;
  readonly creditTypeId: string;
  readonly productId: string;
  /** The name that the charge or the commit was given; null: the name of the product. */
  readonly name: string | null;
  readonly quantity: Decimal;
  readonly unitPrice: Decimal;
  readonly total: Decimal;
  /**
   * The commit, if its balance is withheld until this amount is paid. Its invoice has nothing else on it, because it
   * is voided if the payment fails.
   */
  readonly gatedCommitId: string | null;
}

/** By date; on one date charges before commits, each in the order of their addition. Nothing of archived ones. */
export function scheduledItems(terms: Pick<ContractTerms, 'scheduledCharges' | 'commits'>): ScheduledItem[] {
  const charges = terms.scheduledCharges
    .filter(({ archivedAt }) => archivedAt === null)
    .flatMap(({ id, productId, name, schedule }) =>
      itemsOf({ source: { kind: 'scheduled_charge', id }, productId, name, gatedCommitId: null }, schedule),
    );
  const purchases = terms.commits
    .filter(({ archivedAt, type }) => archivedAt === null && type === 'PREPAID')
    .flatMap(({ id, productId, name, invoiceSchedule, paymentGate }) => {
      const isGated = paymentGate !== null && paymentGate.type !== 'NONE';
      const owner = {
        source: { kind: 'commit', id } as const,
        productId,
        name,
        gatedCommitId: isGated ? id : null,
      };
      return invoiceSchedule === null || invoiceSchedule.doNotInvoice ? [] : itemsOf(owner, invoiceSchedule);
    });
  return [...charges, ...purchases].sort((a, b) => a.at - b.at);
}

function itemsOf(
  owner: Pick<ScheduledItem, 'source' | 'productId' | 'name' | 'gatedCommitId'>,
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

/** The items that are invoiced together: one date, one currency, not gated by payment. In the order of the items. */
export interface ScheduledGroup {
  readonly at: Instant;
  readonly creditTypeId: string;
  readonly gatedCommitId: string | null;
  readonly items: readonly ScheduledItem[];
}

/** Ascending by date; on one date in the order in which their currencies first appear. */
export function scheduledGroups(items: readonly ScheduledItem[]): ScheduledGroup[] {
  const groups = new Map<string, ScheduledItem[]>();
  for (const item of items) {
    const key = `${item.at} ${item.creditTypeId} ${item.gatedCommitId ?? ''}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { at, creditTypeId, gatedCommitId } = first;
      return [{ at, creditTypeId, gatedCommitId, items: group }];
    })
    .sort((a, b) => a.at - b.at);
}
