/** Use cases of custom field values of existing objects. */
import type { CustomFieldEntity, CustomFields } from '../../core/custom-fields.ts';
import { invalid, notFound } from '../../core/errors.ts';
import type { Transaction } from '../../store/base/database.ts';
import {
  isStoredEntity,
  isTemplateEntity,
  objectExists,
  templateExists,
} from '../../store/custom-field-objects/custom-field-objects.ts';
import { deleteValues as deleteStoredValues, lockKeys } from '../../store/custom-fields/custom-fields.ts';
import type { RowContext } from '../billing-context.ts';
import { holdDraftInvoice } from './draft-invoices.ts';
import { declaredKeys, mergeCustomFields, requireDeclaredKey } from './store-fields.ts';

interface ObjectReference {
  readonly entity: CustomFieldEntity;
  readonly entityId: string;
}

/**
 * Sets values of an object; its other values stay. All are set or none. Refuses an unknown object (`not_found`), one
 * whose fields are frozen, a key that is not declared (`invalid`, naming the field), and a value of another object,
 * archived ones included (`conflict`).
 */
export async function setValues(
  deps: RowContext,
  { fields, ...object }: ObjectReference & { readonly fields: CustomFields },
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await requireObject(deps, tx, object);
    await mergeCustomFields(tx, [{ ...object, fields, path: [] }]);
  });
}

/** Deletes values of an object; keys without a value are ignored. Refuses the same as `setValues`. */
export async function deleteValues(
  deps: RowContext,
  { keys, ...object }: ObjectReference & { readonly keys: readonly string[] },
): Promise<void> {
  const { entity, entityId } = object;
  await deps.db.transaction(async (tx) => {
    await requireObject(deps, tx, object);
    const declared = await declaredKeys(tx, [entity]);
    const ids = keys.map((key, index) => requireDeclaredKey(declared, entity, key, ['keys', index]).id);
    await lockKeys(tx, ids, 'alone');
    await deleteStoredValues(
      tx,
      ids.map((keyId) => ({ keyId, entityId })),
    );
  });
}

/** Refuses (`not_found`) an object that does not exist, and (`invalid`) one with immutable fields. */
async function requireObject(deps: RowContext, tx: Transaction, object: ObjectReference): Promise<void> {
  const { entity, entityId } = object;
  if (entity === 'invoice') return await holdDraftInvoice(tx, entityId, deps.clock.now());
  if (isTemplateEntity(entity) && (await templateExists(tx, entity, entityId))) {
    throw invalid(['entityId'], `${entity} ${entityId} is part of a package, and packages never change`);
  }
  if (isStoredEntity(entity) && (await objectExists(tx, entity, entityId))) return;
  throw notFound(entity, entityId);
}
