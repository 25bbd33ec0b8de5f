/** The invoices of a contract in a month, each with the invoice of the previous month that it is compared with. */
import { groupBy } from '../../core/group-by.ts';
import type { Invoice } from '../../core/invoice.ts';
import { type ChangeReasons, changeReasons } from './change-reasons.ts';

/**
 * Whether the amount of an invoice counts towards its month. Voided invoices do not, nor do consolidated ones, which
 * repeat other invoices of the month.
 */
type MonthPart = 'counted' | 'void' | 'repeated';

export interface MonthRow<Shown extends Invoice> {
  readonly invoice: Shown;
  readonly part: MonthPart;
  /** The matching invoice of the previous month; null: there is none. */
  readonly former: Shown | null;
  readonly reasons: ChangeReasons | null;
  /** Whether the contract had fewer invoices in the previous month, all of which are matched to other rows. */
  readonly isFurther: boolean;
}

export function monthPart({ status, type }: Pick<Invoice, 'status' | 'type'>): MonthPart {
  if (status === 'VOID') return 'void';
  return type === 'USAGE_CONSOLIDATED' ? 'repeated' : 'counted';
}

/**
 * A row for each invoice of one contract. `former`: the counted invoices of the previous month. Usage invoices in one
 * currency are compared in the order of their periods: the first one of each month, and so on. Yields after each line.
 */
export function* monthRows<Shown extends Invoice>(
  invoices: readonly Shown[],
  former: readonly Shown[],
): Generator<void, MonthRow<Shown>[], undefined> {
  const earlier = inOrder(former);
  const places = new Map<string, number>();
  for (const own of inOrder(invoices.filter((invoice) => monthPart(invoice) === 'counted')).values()) {
    own.forEach(({ id }, place) => void places.set(id, place));
  }
  const rows: MonthRow<Shown>[] = [];
  for (const invoice of invoices) {
    const place = places.get(invoice.id);
    const all = place === undefined ? [] : (earlier.get(invoice.creditTypeId) ?? []);
    const beside = place === undefined ? null : (all[place] ?? null);
    rows.push({
      invoice,
      part: monthPart(invoice),
      former: beside,
      reasons: beside === null ? null : yield* changeReasons(invoice, beside),
      isFurther: all.length > 0 && beside === null,
    });
  }
  return rows;
}

/** Usage invoices by currency, in the order of their periods. */
function inOrder<Shown extends Invoice>(invoices: readonly Shown[]): Map<string, Shown[]> {
  const usage = invoices.filter(({ type }) => type !== 'SCHEDULED');
  const sorted = usage.sort(
    ({ period: a, id }, { period: b, id: otherId }) =>
      a.end - b.end || a.start - b.start || (id < otherId ? -1 : 1),
  );
  return groupBy(sorted, ({ creditTypeId }) => creditTypeId);
}
