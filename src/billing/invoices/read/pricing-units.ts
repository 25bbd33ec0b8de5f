/** Loads the pricing units that invoices and their lines name. */
import type { CreditType } from '../../../core/credit-types.ts';
import type { Invoice } from '../../../core/invoice.ts';
import { loadCreditTypes } from '../../../store/credit-types/credit-types.ts';
import type { RowContext } from '../../billing-context.ts';
import type { ListPriceOf } from '../drafts/list-prices.ts';
import type { InvoiceWithUnbilledUsage } from '../drafts/unbilled-usage.ts';

/** The parts of an invoice that name pricing units. */
export interface InvoiceUnits
  extends Pick<Invoice, 'id' | 'creditTypeId' | 'lines'>,
    Partial<Pick<InvoiceWithUnbilledUsage, 'lateUsage'>> {}

export async function pricingUnitsOf(
  context: Pick<RowContext, 'db'>,
  invoices: readonly InvoiceUnits[],
  listPrices: ReadonlyMap<string, ListPriceOf> | null = null,
): Promise<ReadonlyMap<string, CreditType>> {
  const ids = new Set<string>();
  for (const { id, creditTypeId, lines, lateUsage } of invoices) {
    const listPriceOf = listPrices?.get(id);
    ids.add(creditTypeId);
    for (const line of lines) {
      ids.add(line.creditTypeId);
      const listPrice = listPriceOf?.(line);
      if (listPrice) ids.add(listPrice.creditTypeId);
      if (line.type === 'cpu_conversion') ids.add(line.convertedCreditTypeId);
    }
    for (const { price } of lateUsage?.first ?? []) if (price !== null) ids.add(price.creditTypeId);
  }
  return pricingUnitsWithIds(context, [...ids]);
}

/** By id. */
export async function pricingUnitsWithIds(
  { db }: Pick<RowContext, 'db'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CreditType>> {
  return loadCreditTypes(db, [...new Set(ids)]);
}
