/** Lists customers. */
import type { Page, PageRequest } from '../../core/paging.ts';
import {
  type Customer,
  type CustomerFilter,
  listCustomers as listStoredCustomers,
} from '../../store/customers.ts';
import type { Database } from '../../store/database.ts';
import { pageWithCustomFields, type WithCustomFields } from '../custom-fields/with-fields.ts';

/** A page of the customers that pass every given condition; an empty list of ids passes none. */
export async function listCustomers(
  deps: { readonly db: Database },
  filter: CustomerFilter,
  page: PageRequest,
): Promise<Page<WithCustomFields<Customer>>> {
  return pageWithCustomFields(deps.db, await listStoredCustomers(deps.db, filter, page));
}
