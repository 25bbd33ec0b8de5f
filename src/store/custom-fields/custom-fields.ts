/**
 * Declared keys of custom fields, and the values of objects. The kind of an object is not needed: ids are unique
 * over all kinds.
 *
 * Writers of values cannot deadlock: each first locks its keys in one order. Changes of an object's values lock
 * keys exclusively. Creations share the locks and insert in one order, because only the unique index can make them
 * wait.
 */
import { and, asc, count, eq, gt, inArray, isNull, sql } from 'drizzle-orm';
import type { CustomFieldEntity, CustomFields } from '../../core/custom-fields.ts';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { insertRows } from '../base/insert-rows.ts';
import { LOCKS } from '../base/lock-numbers.ts';
import { customFieldKeys, customFieldValues } from './custom-fields.tables.ts';

export interface CustomFieldKey {
  /** Grows with every declaration. */
  readonly id: number;
  readonly entity: CustomFieldEntity;
  readonly key: string;
  readonly enforceUniqueness: boolean;
}

const columns = {
  id: customFieldKeys.id,
  entity: customFieldKeys.entity,
  key: customFieldKeys.key,
  enforceUniqueness: customFieldKeys.enforceUniqueness,
};

/** Serializes declarations until the transaction ends, so that their limit holds. */
export async function lockDeclarations(tx: Transaction): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${LOCKS.fieldDeclarations})`);
}

export async function countKeys(db: Database | Transaction, entity: CustomFieldEntity): Promise<number> {
  const [row] = await db
    .select({ keys: count() })
    .from(customFieldKeys)
    .where(and(eq(customFieldKeys.entity, entity), isNull(customFieldKeys.removedAt)));
  return row?.keys ?? 0;
}

/** Declares a key. Returns false if the entity has it already. */
export async function insertKey(
  tx: Transaction,
  key: Omit<CustomFieldKey, 'id'> & { readonly createdAt: Instant },
): Promise<boolean> {
  const rows = await tx
    .insert(customFieldKeys)
    .values(key)
    .onConflictDoNothing()
    .returning({ id: customFieldKeys.id });
  return rows.length > 0;
}

/** Removes a key and thereby hides its values. Returns false if the entity has no such key. */
export async function removeKey(
  db: Database | Transaction,
  { entity, key }: Pick<CustomFieldKey, 'entity' | 'key'>,
  at: Instant,
): Promise<boolean> {
  const rows = await db
    .update(customFieldKeys)
    .set({ removedAt: at })
    .where(
      and(
        eq(customFieldKeys.entity, entity),
        eq(customFieldKeys.key, key),
        isNull(customFieldKeys.removedAt),
      ),
    )
    .returning({ id: customFieldKeys.id });
  return rows.length > 0;
}

/** The end of a page of keys: the id of its last key. */
export interface KeyPosition {
  readonly after: number;
}

/** A page of the declared keys, in the order of declaration. `entities` null: all. */
export async function listKeys(
  db: Database | Transaction,
  entities: readonly CustomFieldEntity[] | null,
  { after, limit }: PageRequest<KeyPosition>,
): Promise<Page<CustomFieldKey, KeyPosition>> {
  if (entities?.length === 0) return { rows: [], next: null };
  const rows = await db
    .select(columns)
    .from(customFieldKeys)
    .where(
      and(
        isNull(customFieldKeys.removedAt),
        entities === null ? undefined : inArray(customFieldKeys.entity, [...entities]),
        after === null ? undefined : gt(customFieldKeys.id, after.after),
      ),
    )
    .orderBy(asc(customFieldKeys.id))
    .limit(limit + 1);
  return cutPage(rows, limit, ({ id }) => ({ after: id }));
}

/** All declared keys of the entities. */
export async function loadKeys(
  db: Database | Transaction,
  entities: readonly CustomFieldEntity[],
): Promise<CustomFieldKey[]> {
  if (entities.length === 0) return [];
  return db
    .select(columns)
    .from(customFieldKeys)
    .where(and(isNull(customFieldKeys.removedAt), inArray(customFieldKeys.entity, [...entities])))
    .orderBy(asc(customFieldKeys.id));
}

/** Locks keys until the transaction ends; see the head of this module. */
export async function lockKeys(
  tx: Transaction,
  ids: readonly number[],
  mode: 'alone' | 'shared',
): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .select({ id: customFieldKeys.id })
    .from(customFieldKeys)
    .where(inArray(customFieldKeys.id, [...ids]))
    .orderBy(asc(customFieldKeys.id))
    .for(mode === 'alone' ? 'no key update' : 'share');
}

export interface CustomFieldValue {
  readonly keyId: number;
  readonly enforceUniqueness: boolean;
  readonly entityId: string;
  readonly value: string;
}

/**
 * Stores values of objects that have none for these keys. Returns the values that were not stored because another
 * object holds the value of a key that enforces uniqueness; the caller must then roll back.
 */
export async function insertValues<Value extends CustomFieldValue>(
  tx: Transaction,
  values: readonly Value[],
): Promise<Value[]> {
  const stored = new Set<string>();
  const place = ({ keyId, entityId }: Pick<CustomFieldValue, 'keyId' | 'entityId'>) => `${keyId}:${entityId}`;
  const rows = await insertRows<typeof customFieldValues, { key_id: string; entity_id: string }>(
    tx,
    customFieldValues,
    values.toSorted(byKeyAndValue).map(toRow),
    sql`on conflict do nothing returning key_id, entity_id`,
  );
  for (const { key_id, entity_id } of rows) stored.add(place({ keyId: Number(key_id), entityId: entity_id }));
  return values.filter((value) => !stored.has(place(value)));
}

function toRow({ keyId, enforceUniqueness, entityId, value }: CustomFieldValue): CustomFieldValue {
  return { keyId, enforceUniqueness, entityId, value };
}

function byKeyAndValue(a: CustomFieldValue, b: CustomFieldValue): number {
  return a.keyId - b.keyId || (a.value < b.value ? -1 : Number(a.value > b.value));
}

/** Removes the values that objects have for keys. */
export async function deleteValues(
  tx: Transaction,
  values: readonly Pick<CustomFieldValue, 'entityId' | 'keyId'>[],
): Promise<void> {
  if (values.length === 0) return;
  const keyIds = `{${values.map(({ keyId }) => keyId).join(',')}}`;
  const entityIds = `{${values.map(({ entityId }) => entityId).join(',')}}`;
  await tx.execute(sql`
    delete from ${customFieldValues} v
    using unnest(${keyIds}::bigint[], ${entityIds}::uuid[]) as gone(key_id, entity_id)
    where v.key_id = gone.key_id and v.entity_id = gone.entity_id`);
}

/** The fields of the objects, of any kind, in the order in which keys were declared. One query. */
export async function loadCustomFields(
  db: Database | Transaction,
  ids: readonly string[],
): Promise<Map<string, CustomFields>> {
  if (ids.length === 0) return new Map();
  // One parameter for all ids: a page of contracts may name more of them than a statement has parameters.
  const list = `{${[...new Set(ids)].join(',')}}`;
  const rows = await db
    .select({
      entityId: customFieldValues.entityId,
      key: customFieldKeys.key,
      value: customFieldValues.value,
    })
    .from(customFieldValues)
    .innerJoin(customFieldKeys, eq(customFieldKeys.id, customFieldValues.keyId))
    .where(and(sql`${customFieldValues.entityId} = any(${list}::uuid[])`, isNull(customFieldKeys.removedAt)))
    .orderBy(asc(customFieldKeys.id));
  const entries = new Map<string, [string, string][]>();
  for (const { entityId, key, value } of rows) {
    const own = entries.get(entityId);
    if (own === undefined) entries.set(entityId, [[key, value]]);
    else own.push([key, value]);
  }
  return new Map([...entries].map(([id, own]) => [id, Object.fromEntries(own)]));
}
