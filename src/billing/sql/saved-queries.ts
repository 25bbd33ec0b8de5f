/** Use cases of saved queries: texts for `POST /v1/sql` under a name, for everybody who may read. */
import { notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import {
  deleteQuery,
  listQueries,
  type SavedQuery,
  type SavedQueryPosition,
  upsertQuery,
} from '../../store/sql/saved-queries.ts';
import type { RowContext } from '../billing-context.ts';

/** Saves a query, in the place of one with this name. Returns its id. */
export async function saveQuery(
  { db, clock }: RowContext,
  query: { readonly name: string; readonly sql: string; readonly savedBy: string },
): Promise<string> {
  const now = clock.now();
  return await db.transaction((tx) =>
    upsertQuery(tx, { ...query, id: newId(), savedAt: now, createdAt: now }),
  );
}

/** By name. */
export function listSavedQueries(
  { db }: Pick<RowContext, 'db'>,
  page: PageRequest<SavedQueryPosition>,
): Promise<Page<SavedQuery, SavedQueryPosition>> {
  return listQueries(db, page);
}

/** Refuses an id that no saved query has (`not_found`). */
export async function removeQuery({ db }: Pick<RowContext, 'db'>, id: string): Promise<void> {
  const isThere = await db.transaction((tx) => deleteQuery(tx, id));
  if (!isThere) throw notFound('saved query', id);
}
