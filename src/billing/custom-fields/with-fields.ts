/** Adds custom fields to objects for answers, in one query for any number of objects. */
import { type CustomFields, type CustomFieldsById, customFieldsOf } from '../../core/custom-fields.ts';
import { assert } from '../../core/errors.ts';
import type { Page } from '../../core/paging.ts';
import type { Database } from '../../store/base/database.ts';
import { loadCustomFields } from '../../store/custom-fields/custom-fields.ts';
import type { RowContext } from '../billing-context.ts';

/** The fields of objects that an answer only refers to, such as the products of rates. */
export function customFieldsOfObjects(
  { db }: Pick<RowContext, 'db'>,
  ids: readonly string[],
): Promise<CustomFieldsById> {
  return loadCustomFields(db, ids);
}

export type WithCustomFields<Row> = Row & { readonly customFields: CustomFields };

/** The same objects in the same order. */
export async function withCustomFields<Row extends { readonly id: string }>(
  db: Database,
  rows: readonly Row[],
): Promise<WithCustomFields<Row>[]> {
  const fields = await loadCustomFields(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({ ...row, customFields: customFieldsOf(fields, row.id) }));
}

export async function oneWithCustomFields<Row extends { readonly id: string }>(
  db: Database,
  row: Row,
): Promise<WithCustomFields<Row>> {
  const [shown] = await withCustomFields(db, [row]);
  assert(shown !== undefined, 'one object in, one object out');
  return shown;
}

export async function pageWithCustomFields<Row extends { readonly id: string }>(
  db: Database,
  { rows, next }: Page<Row>,
): Promise<Page<WithCustomFields<Row>>> {
  return { rows: await withCustomFields(db, rows), next };
}
