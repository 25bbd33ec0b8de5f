/** Finds the billing configuration that a contract or a package refers to. */
import type { BillingProvider, DeliveryMethod } from '../../core/billing-providers.ts';
import { assert, type FieldPath, invalid, words } from '../../core/errors.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import {
  type BillingConfiguration,
  holdBillingConfiguration,
  listBillingConfigurations,
} from '../../store/customers/billing-configurations.ts';

/** By id, or by provider and delivery method, or by all of them if they agree; null: omitted. */
export interface BillingConfigurationLookup {
  readonly id: string | null;
  readonly billingProvider: BillingProvider | null;
  readonly deliveryMethod: DeliveryMethod | null;
}

/**
 * The only matching active configuration. Refuses (`invalid`) a lookup without an id that has only one of provider and
 * method, an id that is not the customer's, a provider or method that contradicts the id, and provider and method
 * unless exactly one configuration matches. `path`: the path of the lookup in the request.
 */
export async function matchBillingConfiguration(
  db: Database | Transaction,
  customerId: string,
  lookup: BillingConfigurationLookup,
  path: FieldPath,
): Promise<BillingConfiguration> {
  const { id, billingProvider, deliveryMethod } = lookup;
  if (id !== null) {
    const found = await activeConfiguration(db, customerId, id, [...path, 'id']);
    for (const name of ['billingProvider', 'deliveryMethod'] as const) {
      if (lookup[name] === null || lookup[name] === found[name]) continue;
      throw invalid([...path, name], words`contradicts ${['id']}, which is of ${found[name]}`);
    }
    return found;
  }
  if (billingProvider === null) throw invalid([...path, 'billingProvider'], 'is required');
  if (deliveryMethod === null) throw invalid([...path, 'deliveryMethod'], 'is required');
  const own = await listBillingConfigurations(db, customerId, { includeArchived: false });
  const matching = own.filter(
    (one) => one.billingProvider === billingProvider && one.deliveryMethod === deliveryMethod,
  );
  if (matching.length !== 1) {
    throw invalid(
      [...path, 'billingProvider'],
      `customer ${customerId} has ${matching.length} billing configurations for ${billingProvider} with ` +
        `delivery method ${deliveryMethod}; exactly one is needed`,
    );
  }
  const [only] = matching;
  assert(only !== undefined, 'one configuration matches');
  return activeConfiguration(db, customerId, only.id, [...path, 'billingProvider']);
}

/** Locks the configuration, so that archiving it waits and sees the contract that uses it now. */
async function activeConfiguration(
  db: Database | Transaction,
  customerId: string,
  id: string,
  path: FieldPath,
): Promise<BillingConfiguration> {
  const found = await holdBillingConfiguration(db, id);
  if (found === null || found.customerId !== customerId) {
    throw invalid(path, `customer ${customerId} has no billing configuration ${id}`);
  }
  if (found.archivedAt !== null) throw invalid(path, `billing configuration ${id} is archived`);
  return found;
}
