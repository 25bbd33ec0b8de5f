/**
 * Ingest aliases: the names that identify a customer in usage events. An alias has one owner, possibly an archived
 * customer. Events are matched when they are read, so all usage of an alias belongs to its current owner.
 */
import { conflict, notFound } from '../../core/errors.ts';
import { isUuid, withoutUuidCase } from '../../core/ids.ts';
import type { Transaction } from '../../store/base/database.ts';
import { noteCustomerChanges } from '../../store/customers/customer-changes.ts';
import {
  claimAliases,
  customerRefs,
  holderOfAliases,
  lockCustomer,
  updateCustomer,
} from '../../store/customers/customers.ts';
import type { RowContext } from '../billing-context.ts';

/** A conflict names at most this many aliases. */
const ALIASES_NAMED_MAX = 5;

/**
 * Replaces the customer's aliases by `aliases`; idempotent. Refuses an unknown customer (`not_found`) and
 * aliases of other customers (`conflict`, naming them); nothing changes then.
 */
export async function setIngestAliases(
  context: RowContext,
  customerId: string,
  aliases: readonly string[],
): Promise<void> {
  await context.db.transaction(async (tx) => {
    const known = isUuid(customerId) && (await lockCustomer(tx, customerId));
    if (!known) throw notFound('customer', customerId);
    const present = (await customerRefs(tx, [customerId])).get(customerId) ?? [];
    await replaceAliases(tx, customerId, uniqueAliases(aliases, present), { isNew: false });
    await updateCustomer(tx, customerId, { updatedAt: context.clock.now() });
    await noteCustomerChanges(tx, [customerId]);
  });
}

/** For use inside a transaction that also creates or locks the customer. Throws, to roll it back, on a conflict. */
export async function replaceAliases(
  tx: Transaction,
  customerId: string,
  aliases: readonly string[],
  { isNew }: { readonly isNew: boolean },
): Promise<void> {
  const taken = await claimAliases(tx, customerId, aliases, { isNew });
  if (taken.length === 0) return;
  const named = taken
    .slice(0, ALIASES_NAMED_MAX)
    .map((alias) => JSON.stringify(alias))
    .join(', ');
  const rest = taken.length > ALIASES_NAMED_MAX ? ` and ${taken.length - ALIASES_NAMED_MAX} more` : '';
  const verb = taken.length === 1 ? 'alias already belongs' : 'aliases already belong';
  const holder = await holderOfAliases(tx, taken);
  throw conflict(`ingest ${verb} to another customer: ${named}${rest}`, [], holder);
}

/**
 * The same aliases in the same order, without duplicates, UUIDs in lower case like in events. `present`: existing
 * aliases of the customer: earlier versions stored UUIDs as they were sent, with their events.
 */
export function uniqueAliases(aliases: readonly string[], present: readonly string[] = []): string[] {
  return [...new Set(aliases.map((alias) => (present.includes(alias) ? alias : withoutUuidCase(alias))))];
}
