/** Lists customers. */
import {
  type Customer,
  type CustomerFilter,
  listCustomers as listStoredCustomers,
} from '../../store/customers.ts';
import type { Database } from '../../store/database.ts';
import type { Page, PageRequest } from '../../store/keyset.ts';

/** A page of the customers that pass every given condition; an empty list of ids passes none. */
export function listCustomers(
  deps: { readonly db: Database },
  filter: CustomerFilter,
  page: PageRequest,
): Promise<Page<Customer>> {
  return listStoredCustomers(deps.db, filter, page);
}
