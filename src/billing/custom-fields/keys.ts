/** Use cases of the keys of custom fields: an allow-list for each kind of object. */
import { CUSTOM_FIELD_KEYS_PER_ENTITY_MAX, type CustomFieldEntity } from '../../core/custom-fields.ts';
import { conflict, type FieldPath, invalid } from '../../core/errors.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import {
  type CustomFieldKey,
  countKeys,
  insertKey,
  type KeyPosition,
  listKeys as listStoredKeys,
  lockDeclarations,
  removeKey as removeStoredKey,
} from '../../store/custom-fields/custom-fields.ts';
import type { RowContext } from '../billing-context.ts';

export interface AddKeyInput {
  readonly entity: CustomFieldEntity;
  readonly key: string;
  /** Whether a value may belong to one object only, archived ones included. */
  readonly enforceUniqueness: boolean;
}

/**
 * Declares a key, which starts without values even if it was declared before. Refuses one that is declared now
 * (`conflict`), because uniqueness cannot be changed, and one that exceeds the limit (`invalid`).
 */
export async function addKey(context: RowContext, input: AddKeyInput): Promise<void> {
  const declared = await context.db.transaction((tx) => declareKey(tx, input, context.clock.now(), ['key']));
  if (!declared) {
    throw conflict(`${JSON.stringify(input.key)} is a custom field of entity ${input.entity} already`, [
      'key',
    ]);
  }
}

/** Returns false if the key is declared already. Refuses one that exceeds the limit (`invalid`, naming `field`). */
export async function declareKey(
  tx: Transaction,
  input: AddKeyInput,
  now: Instant,
  field: FieldPath,
): Promise<boolean> {
  await lockDeclarations(tx);
  if (!(await insertKey(tx, { ...input, createdAt: now }))) return false;
  const keys = await countKeys(tx, input.entity);
  if (keys > CUSTOM_FIELD_KEYS_PER_ENTITY_MAX) {
    const most = `at most ${CUSTOM_FIELD_KEYS_PER_ENTITY_MAX} custom fields`;
    throw invalid(field, `an entity has ${most}, and ${input.entity} has as many already`);
  }
  return true;
}

/** Removes a key: its values become inaccessible permanently. Refuses a key that is not declared (`invalid`). */
export async function removeKey(
  context: RowContext,
  { entity, key }: Pick<AddKeyInput, 'entity' | 'key'>,
): Promise<void> {
  const now = context.clock.now();
  if (!(await context.db.transaction((tx) => removeStoredKey(tx, { entity, key }, now)))) {
    throw invalid(['key'], `${JSON.stringify(key)} is not a declared custom field of entity ${entity}`);
  }
}

/** A page of declared keys, in the order of declaration. `entities` null: all. */
export async function listKeys(
  context: Pick<RowContext, 'db'>,
  entities: readonly CustomFieldEntity[] | null,
  page: PageRequest<KeyPosition>,
): Promise<Page<CustomFieldKey, KeyPosition>> {
  return listStoredKeys(context.db, entities, page);
}
