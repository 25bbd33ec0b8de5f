/** The pricing units that invoices and their lines name, for whoever shows them. */
import type { CreditType } from '../../core/credit-types.ts';
import type { Invoice } from '../../core/invoice.ts';
import { loadCreditTypes } from '../../store/credit-types.ts';
import type { Database } from '../../store/database.ts';

export async function pricingUnitsOf(
  deps: { readonly db: Database },
  invoices: readonly Pick<Invoice, 'creditTypeId' | 'lines'>[],
): Promise<ReadonlyMap<string, CreditType>> {
  const ids = new Set<string>();
  for (const { creditTypeId, lines } of invoices) {
    ids.add(creditTypeId);
    for (const line of lines) ids.add(line.creditTypeId);
  }
  return loadCreditTypes(deps.db, [...ids]);
}
