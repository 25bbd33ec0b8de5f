/** Loads the pricing units that invoices and their lines name. */
import type { CreditType } from '../../core/credit-types.ts';
import type { Invoice } from '../../core/invoice.ts';
import { loadCreditTypes } from '../../store/credit-types.ts';
import type { Database } from '../../store/database.ts';
import type { InvoiceWithUnbilledUsage } from './unbilled-usage.ts';

/** What of an invoice names pricing units. */
export interface InvoiceUnits
  extends Pick<Invoice, 'creditTypeId' | 'lines'>,
    Partial<Pick<InvoiceWithUnbilledUsage, 'lateUsage'>> {}

export async function pricingUnitsOf(
  deps: { readonly db: Database },
  invoices: readonly InvoiceUnits[],
): Promise<ReadonlyMap<string, CreditType>> {
  const ids = new Set<string>();
  for (const { creditTypeId, lines, lateUsage } of invoices) {
    ids.add(creditTypeId);
    for (const line of lines) {
      ids.add(line.creditTypeId);
      if (line.type === 'cpu_conversion') ids.add(line.convertedCreditTypeId);
    }
    for (const { price } of lateUsage?.first ?? []) if (price !== null) ids.add(price.creditTypeId);
  }
  return loadCreditTypes(deps.db, [...ids]);
}
