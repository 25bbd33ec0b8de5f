/** Use cases of customers' billing configurations. Only settings that the service uses are validated. */
import {
  type BillingProvider,
  type TaxProvider,
  unconnectedDeliveryMethodId,
} from '../../core/billing-providers.ts';
import { type FieldPath, invalid, namesNothing, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { openedSettings, storedSettings } from '../../payments/custom/receiver-secrets.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { canonicalJson, loadConnections } from '../../store/billing-providers/billing-connections.ts';
import {
  type BillingConfiguration,
  insertBillingConfigurations,
  listBillingConfigurations,
} from '../../store/customers/billing-configurations.ts';
import { customerExists, findCustomer, lockCustomer } from '../../store/customers/customers.ts';
import type { BillingContext, RowContext } from '../billing-context.ts';
import { type DeliveryInput, resolveDelivery } from './delivery.ts';
import { checkSettings, type ProviderSettings, publicSettings, withoutSecrets } from './provider-settings.ts';

/** The dependencies for validating and storing a configuration. */
export type ConfigurationContext = RowContext & Pick<BillingContext, 'allowPrivate' | 'secrets'>;

/** A configuration as a client describes it. */
export interface BillingConfigurationInput extends DeliveryInput {
  readonly billingProvider: BillingProvider;
  readonly taxProvider: TaxProvider | null;
  readonly settings: ProviderSettings;
}

/** A configuration for clients: without secrets. */
export interface BillingConfigurationView
  extends Omit<BillingConfiguration, 'configuration' | 'connectionId'> {
  readonly settings: ProviderSettings;
  readonly deliveryMethodId: string;
  readonly deliverySettings: ProviderSettings;
}

/**
 * Adds configurations to a customer that is created or locked in this transaction. A configuration equal to an active
 * one of the customer is that one, so that repeating a call changes nothing. Refuses invalid ones (`invalid`).
 */
export async function addBillingConfigurations(
  tx: Transaction,
  { clock, allowPrivate, secrets }: ConfigurationContext,
  customerId: string,
  inputs: readonly BillingConfigurationInput[],
  pathOf: (index: number) => FieldPath,
): Promise<BillingConfiguration[]> {
  if (inputs.length === 0) return [];
  const active = await listBillingConfigurations(tx, customerId, { includeArchived: false });
  const known = new Map(
    active
      .toReversed()
      .map((one) => [contentOf({ ...one, configuration: openedSettings(secrets, one) }), one]),
  );
  const added: BillingConfiguration[] = [];
  const result: BillingConfiguration[] = [];
  for (const [index, input] of inputs.entries()) {
    const path = pathOf(index);
    const { billingProvider, taxProvider, settings } = input;
    const delivery = await resolveDelivery(tx, input, path);
    checkSettings({ billingProvider, taxProvider, settings, ...delivery }, path, { allowPrivate });
    const one = {
      id: newId(),
      customerId,
      billingProvider,
      ...delivery,
      taxProvider,
      configuration: settings,
      createdAt: clock.now(),
      archivedAt: null,
    };
    const same = known.get(contentOf(one));
    result.push(same ?? one);
    if (same !== undefined) continue;
    known.set(contentOf(one), one);
    added.push({ ...one, configuration: storedSettings(secrets, one) });
  }
  await insertBillingConfigurations(tx, added);
  return result;
}

/** The content of a configuration as sent by the client, with its secret in plain text. */
function contentOf(one: BillingConfiguration): string {
  const { billingProvider, deliveryMethod, connectionId, taxProvider, configuration } = one;
  return canonicalJson([billingProvider, deliveryMethod, connectionId, taxProvider, configuration]);
}

/**
 * Adds configurations to any number of customers, all or none, in the order given. Refuses an unknown customer
 * (`not_found`), an archived one and invalid configurations (`invalid`), naming the field.
 */
export async function setBillingConfigurations(
  context: ConfigurationContext,
  inputs: readonly (BillingConfigurationInput & { readonly customerId: string })[],
): Promise<BillingConfigurationView[]> {
  return context.db.transaction(async (tx) => {
    const added: BillingConfiguration[] = [];
    // Locked in a fixed order, so that two calls for the same customers cannot deadlock.
    for (const id of new Set(inputs.map(({ customerId }) => customerId).sort())) await lockCustomer(tx, id);
    for (const [index, input] of inputs.entries()) {
      const path = ['inputs', index];
      await requireActiveCustomer(tx, input.customerId, [...path, 'customerId']);
      added.push(...(await addBillingConfigurations(tx, context, input.customerId, [input], () => path)));
    }
    return billingConfigurationViews(tx, added);
  });
}

/** The customer's configurations, oldest first. Refuses an unknown customer. */
export async function getBillingConfigurations(
  context: Pick<RowContext, 'db'>,
  customerId: string,
  filter: { readonly includeArchived: boolean },
): Promise<BillingConfigurationView[]> {
  if (!(await customerExists(context.db, customerId))) throw notFound('customer', customerId);
  return billingConfigurationViews(
    context.db,
    await listBillingConfigurations(context.db, customerId, filter),
  );
}

/** The members of configurations that clients may see. */
export async function billingConfigurationViews(
  db: Database | Transaction,
  configurations: readonly BillingConfiguration[],
): Promise<BillingConfigurationView[]> {
  const ids = new Set(configurations.flatMap(({ connectionId }) => connectionId ?? []));
  const connections = await loadConnections(db, [...ids]);
  return configurations.map(({ configuration, connectionId, ...rest }) => ({
    ...rest,
    settings: withoutSecrets(configuration),
    deliveryMethodId: connectionId ?? unconnectedDeliveryMethodId(rest.billingProvider, rest.deliveryMethod),
    deliverySettings: publicSettings(connections.get(connectionId ?? '')?.configuration ?? {}),
  }));
}

async function requireActiveCustomer(tx: Transaction, id: string, path: FieldPath): Promise<void> {
  const customer = await findCustomer(tx, id);
  if (customer === null) throw namesNothing(path, `customer ${id} not found`);
  if (customer.archivedAt !== null) throw invalid(path, `customer ${id} is archived`);
}
