/** Lists customers: all of them or the matches of a search. */
import { invalid } from '../../core/errors.ts';
import type { KeysetPosition, Page, PageRequest } from '../../core/paging.ts';
import { type FoundPosition, searchCustomers } from '../../store/customers/customer-search.ts';
import {
  type Customer,
  type CustomerFilter,
  listCustomers as listStoredCustomers,
} from '../../store/customers/customers.ts';
import type { RowContext } from '../billing-context.ts';
import { pageWithCustomFields, type WithCustomFields } from '../custom-fields/with-fields.ts';

/** Pages of a search have a rank, others have none. */
export interface CustomerPosition extends KeysetPosition {
  readonly rank?: FoundPosition['rank'] | undefined;
}

/**
 * A page of the customers that match every given condition; an empty list of ids matches none. With `search` the best
 * matches are first.
 */
export async function listCustomers(
  context: Pick<RowContext, 'db'>,
  { search, ...filter }: CustomerFilter & { readonly search?: string | undefined },
  page: PageRequest<CustomerPosition>,
): Promise<Page<WithCustomFields<Customer>, CustomerPosition>> {
  const found =
    search === undefined
      ? await listStoredCustomers(context.db, filter, page)
      : await searchCustomers(
          context.db,
          { ...filter, text: search },
          { ...page, after: ranked(page.after) },
        );
  return { ...(await pageWithCustomFields(context.db, found)), next: found.next };
}

function ranked(after: CustomerPosition | null): FoundPosition | null {
  if (after === null) return null;
  const { rank } = after;
  if (rank === undefined)
    throw invalid(['nextPage'], 'must be the next_page of an earlier answer of this search');
  return { ...after, rank };
}
