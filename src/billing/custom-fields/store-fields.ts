/**
 * Writes the custom fields of objects: of new ones in the transaction that creates them, of existing ones by
 * replacing the given values. Call it at the end of a transaction, so that its locks are held briefly.
 */
import type { CustomFieldEntity, ObjectFields } from '../../core/custom-fields.ts';
import { conflict, type FieldPath, invalid } from '../../core/errors.ts';
import type { Transaction } from '../../store/base/database.ts';
import {
  type CustomFieldKey,
  type CustomFieldValue,
  deleteValues,
  insertValues,
  loadKeys,
  lockKeys,
} from '../../store/custom-fields/custom-fields.ts';

/**
 * Stores the fields of objects that were just created. Refuses a key that is not declared (`invalid`) and a value of
 * another object (`conflict`), both naming the field.
 */
export async function storeCustomFields(tx: Transaction, objects: readonly ObjectFields[]): Promise<void> {
  const placed = await placedValues(tx, objects);
  const unique = placed.filter(({ enforceUniqueness }) => enforceUniqueness);
  await lockKeys(tx, keyIdsOf(unique), 'shared');
  await insertAll(tx, placed);
}

/** Sets fields of existing objects; their other fields stay. Refuses the same as `storeCustomFields`. */
export async function mergeCustomFields(tx: Transaction, objects: readonly ObjectFields[]): Promise<void> {
  const placed = await placedValues(tx, objects);
  await lockKeys(tx, keyIdsOf(placed), 'alone');
  await deleteValues(tx, placed);
  await insertAll(tx, placed);
}

/** A value with its path in the request. */
interface PlacedValue extends CustomFieldValue {
  readonly entity: CustomFieldEntity;
  readonly field: FieldPath;
}

/** In the order of the request. */
async function placedValues(tx: Transaction, objects: readonly ObjectFields[]): Promise<PlacedValue[]> {
  const given = objects.filter(({ fields }) => Object.keys(fields).length > 0);
  const declared = await declaredKeys(tx, [...new Set(given.map(({ entity }) => entity))]);
  return given.flatMap(({ entity, entityId, fields, path }) =>
    Object.entries(fields).map(([key, value]): PlacedValue => {
      const field = [...path, 'customFields', key];
      const { id: keyId, enforceUniqueness } = requireDeclaredKey(declared, entity, key, field);
      return { keyId, enforceUniqueness, entityId, value, entity, field };
    }),
  );
}

type DeclaredKeys = ReadonlyMap<string, CustomFieldKey>;

/** The declared keys of the entities, for `requireDeclaredKey`. */
export async function declaredKeys(
  tx: Transaction,
  entities: readonly CustomFieldEntity[],
): Promise<DeclaredKeys> {
  const keys = await loadKeys(tx, entities);
  return new Map(keys.map((one) => [keyName(one.entity, one.key), one]));
}

/** Refuses (`invalid`, naming `field`) a key that is not declared for the entity. */
export function requireDeclaredKey(
  declared: DeclaredKeys,
  entity: CustomFieldEntity,
  key: string,
  field: FieldPath,
): CustomFieldKey {
  const found = declared.get(keyName(entity, key));
  if (found !== undefined) return found;
  throw invalid(field, `is not a declared custom field of entity ${entity}`);
}

function keyName(entity: CustomFieldEntity, key: string): string {
  return `${entity}:${key}`;
}

function keyIdsOf(values: readonly { readonly keyId: number }[]): number[] {
  return [...new Set(values.map(({ keyId }) => keyId))];
}

async function insertAll(tx: Transaction, placed: readonly PlacedValue[]): Promise<void> {
  const [taken] = await insertValues(tx, placed);
  if (taken === undefined) return;
  const { field, entity, value } = taken;
  throw conflict(`another ${entity} has the value ${JSON.stringify(value)} already`, field);
}
