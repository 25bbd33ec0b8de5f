/** Use cases of custom field values of existing objects. */
import type { CustomFieldEntity, CustomFields } from '../../core/custom-fields.ts';
import { invalid, notFound } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import { listContracts } from '../../store/contracts/contracts.ts';
import {
  isStoredEntity,
  isTemplateEntity,
  objectExists,
  templateExists,
} from '../../store/custom-field-objects/custom-field-objects.ts';
import { deleteValues as deleteStoredValues, lockKeys } from '../../store/custom-fields/custom-fields.ts';
import { existingInvoiceIds, lastIssuedPeriodEnds } from '../../store/invoices/issued-periods.ts';
import type { RowContext } from '../billing-context.ts';
import { holdFinalization } from '../invoice-queue/finalization.ts';
import { type InvoiceTarget, openPeriods, usageInvoiceId } from '../invoice-queue/usage-periods.ts';
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
  context: RowContext,
  { fields, ...object }: ObjectReference & { readonly fields: CustomFields },
): Promise<void> {
  await context.db.transaction(async (tx) => {
    await requireObject(context, tx, object);
    await mergeCustomFields(tx, [{ ...object, fields, path: [] }]);
  });
}

/** Deletes values of an object; keys without a value are ignored. Refuses the same as `setValues`. */
export async function deleteValues(
  context: RowContext,
  { keys, ...object }: ObjectReference & { readonly keys: readonly string[] },
): Promise<void> {
  const { entity, entityId } = object;
  await context.db.transaction(async (tx) => {
    await requireObject(context, tx, object);
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
async function requireObject(context: RowContext, tx: Transaction, object: ObjectReference): Promise<void> {
  const { entity, entityId } = object;
  if (entity === 'invoice') return await holdDraftInvoice(tx, entityId, context.clock.now());
  if (isTemplateEntity(entity) && (await templateExists(tx, entity, entityId))) {
    throw invalid(['entityId'], `${entity} ${entityId} is part of a package, and packages never change`);
  }
  if (isStoredEntity(entity) && (await objectExists(tx, entity, entityId))) return;
  throw notFound(entity, entityId);
}

/** Contracts read at once: an id does not show the contract that it was derived from. */
const CONTRACTS_PER_READ = 1_000;

/**
 * Prevents the finalization of a draft until the transaction ends, so that it is finalized with the new values. Refuses
 * an issued invoice (`invalid`), and an unknown one (`not_found`).
 */
async function holdDraftInvoice(tx: Transaction, invoiceId: string, now: Instant): Promise<void> {
  await refuseIssued(tx, invoiceId);
  const target = await findDraft(tx, invoiceId, now);
  if (target === null) throw notFound('invoice', invoiceId);
  await holdFinalization(tx, target);
  // It may have been finalized during the search.
  await refuseIssued(tx, invoiceId);
}

async function refuseIssued(tx: Transaction, invoiceId: string): Promise<void> {
  if (!(await existingInvoiceIds(tx, [invoiceId])).has(invoiceId)) return;
  throw invalid(['entityId'], `invoice ${invoiceId} is finalized, and its custom fields with it`);
}

/** Drafts are not stored, so contracts are searched for the one that the id is derived from. */
async function findDraft(tx: Transaction, invoiceId: string, now: Instant): Promise<InvoiceTarget | null> {
  let after: string | null = null;
  do {
    const contracts = await listContracts(tx, { after, limit: CONTRACTS_PER_READ });
    const issuedUntil = await lastIssuedPeriodEnds(
      tx,
      contracts.map(({ id }) => id),
    );
    for (const contract of contracts) {
      const periods = openPeriods(contract, issuedUntil.get(contract.id), now);
      const period = periods.find(({ start }) => usageInvoiceId(contract.id, start) === invoiceId);
      if (period !== undefined) return { contract, period };
    }
    after = contracts.length < CONTRACTS_PER_READ ? null : (contracts.at(-1)?.id ?? null);
  } while (after !== null);
  return null;
}
