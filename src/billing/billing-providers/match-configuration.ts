/** Finds the billing configuration of a customer that a contract or a package means. */
import type { BillingProvider, DeliveryMethod } from '../../core/billing-providers.ts';
import { assert, invalid } from '../../core/errors.ts';
import {
  type BillingConfiguration,
  holdBillingConfiguration,
  listBillingConfigurations,
} from '../../store/billing-configurations.ts';
import type { Database, Transaction } from '../../store/database.ts';

/** By id, or by provider and delivery method together; null: not given. */
export interface BillingConfigurationLookup {
  readonly id: string | null;
  readonly billingProvider: BillingProvider | null;
  readonly deliveryMethod: DeliveryMethod | null;
}

/**
 * The one configuration that is meant; archived ones are not looked at. Refuses (`invalid`) a lookup that
 * gives both or half of it, an id that is not the customer's, and provider and method where not exactly
 * one configuration matches. `field` is the path of the lookup in the request, with its dot, or ''.
 */
export async function matchBillingConfiguration(
  db: Database | Transaction,
  customerId: string,
  lookup: BillingConfigurationLookup,
  field: string,
): Promise<BillingConfiguration> {
  const { id, billingProvider, deliveryMethod } = lookup;
  if (id !== null) {
    if (billingProvider !== null || deliveryMethod !== null) {
      const other = billingProvider === null ? 'delivery_method' : 'billing_provider';
      throw invalid(`${field}${other}`, 'cannot be combined with billing_provider_configuration_id');
    }
    return activeConfiguration(db, customerId, id, `${field}billing_provider_configuration_id`);
  }
  if (billingProvider === null) throw invalid(`${field}billing_provider`, 'is required');
  if (deliveryMethod === null) throw invalid(`${field}delivery_method`, 'is required');
  const own = await listBillingConfigurations(db, customerId, { includeArchived: false });
  const matching = own.filter(
    (one) => one.billingProvider === billingProvider && one.deliveryMethod === deliveryMethod,
  );
  if (matching.length !== 1) {
    throw invalid(
      `${field}billing_provider`,
      `customer ${customerId} has ${matching.length} billing configurations for ${billingProvider} with ` +
        `delivery method ${deliveryMethod}; exactly one is needed`,
    );
  }
  const [only] = matching;
  assert(only !== undefined, 'one configuration matches');
  return activeConfiguration(db, customerId, only.id, `${field}billing_provider`);
}

/** Held, so that who archives it waits and finds the contract that is given it now. */
async function activeConfiguration(
  db: Database | Transaction,
  customerId: string,
  id: string,
  field: string,
): Promise<BillingConfiguration> {
  const found = await holdBillingConfiguration(db, id);
  if (found === null || found.customerId !== customerId) {
    throw invalid(field, `customer ${customerId} has no billing configuration ${id}`);
  }
  if (found.archivedAt !== null) throw invalid(field, `billing configuration ${id} is archived`);
  return found;
}
