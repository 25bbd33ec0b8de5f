/**
 * Fields of a package's templates are copied to the terms of its contracts (docs/explanation/custom-fields.md,
 * "Packages"). A copy takes its key along.
 */
import type { CustomFieldEntity, CustomFields } from '../../core/custom-fields.ts';
import type { FieldPath } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import { loadKeys } from '../../store/custom-fields/custom-fields.ts';
import type { TermsInput } from '../contracts/terms/build-terms.ts';
import { declareKey } from '../custom-fields/keys.ts';

/**
 * Declares the keys of the terms' fields where the contract's own entities do not have them, without
 * uniqueness. Refuses one key too many (`invalid`, naming `field`).
 */
export async function declareCopiedKeys(
  tx: Transaction,
  terms: TermsInput,
  now: Instant,
  field: FieldPath,
): Promise<void> {
  const copied = [
    ...keysOf('commit', terms.commits),
    ...keysOf('contract_credit', terms.credits),
    ...keysOf('scheduled_charge', terms.scheduledCharges),
    ...keysOf('subscription', terms.subscriptions),
  ];
  const known = await loadKeys(tx, [...new Set(copied.map(({ entity }) => entity))]);
  const names = new Set(known.map(nameOf));
  for (const one of copied) {
    if (names.has(nameOf(one))) continue;
    names.add(nameOf(one));
    await declareKey(tx, { ...one, enforceUniqueness: false }, now, field);
  }
}

interface EntityKey {
  readonly entity: CustomFieldEntity;
  readonly key: string;
}

function keysOf(
  entity: CustomFieldEntity,
  terms: readonly { readonly customFields: CustomFields }[],
): EntityKey[] {
  return terms.flatMap(({ customFields }) => Object.keys(customFields).map((key) => ({ entity, key })));
}

function nameOf({ entity, key }: EntityKey): string {
  return `${entity}:${key}`;
}
