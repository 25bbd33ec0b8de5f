/** Lists holds, and names the units of what they hold. */
import type { Hold } from '../../core/hold.ts';
import type { KeysetPosition, Page, PageRequest } from '../../core/paging.ts';
import type { Database } from '../../store/base/database.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import { type HoldStatus, listHolds as listStoredHolds, shownStatus } from '../../store/holds/holds.ts';
import type { RowContext } from '../billing-context.ts';

export interface ListedHold {
  readonly hold: Hold;
  readonly creditTypeName: string;
}

/** The newest first. Holds that are over and not noticed yet are shown as expired. */
export async function listHolds(
  { db, clock }: RowContext,
  filter: { readonly customerId: string; readonly status: HoldStatus | null },
  page: PageRequest,
): Promise<Page<ListedHold, KeysetPosition>> {
  const now = clock.now();
  const { rows, next } = await listStoredHolds(db, { ...filter, now }, page);
  const nameOf = createUnitNames(db);
  const listed = rows.map(async (hold): Promise<ListedHold> => {
    const shown: Hold = { ...hold, status: shownStatus(hold, now) };
    return { hold: shown, creditTypeName: await nameOf(hold.creditTypeId) };
  });
  return { rows: await Promise.all(listed), next };
}

/** Names of units, which never change, each read once. */
export function createUnitNames(db: Database): (id: string) => Promise<string> {
  const names = new Map<string, string>();
  return async (id) => {
    const known = names.get(id);
    if (known !== undefined) return known;
    const name = (await loadCreditTypes(db, [id])).get(id)?.name;
    if (name !== undefined) names.set(id, name);
    return name ?? '';
  };
}
