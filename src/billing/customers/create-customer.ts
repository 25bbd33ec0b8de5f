/** Creates a customer with its ingest aliases and billing configurations, all or nothing. */
import type { BillingAddress } from '../../core/billing-address.ts';
import { newId } from '../../core/ids.ts';
import { sentTogether } from '../../store/base/sent-together.ts';
import {
  type Customer,
  insertCustomer,
  NEW_CUSTOMER,
  updateCustomer,
} from '../../store/customers/customers.ts';
import {
  addBillingConfigurations,
  type BillingConfigurationInput,
  type ConfigurationContext,
} from '../billing-providers/configurations.ts';
import { storeCustomFields } from '../custom-fields/store-fields.ts';
import type { WithCustomFields } from '../custom-fields/with-fields.ts';
import { customerName } from './customer-name.ts';
import { replaceAliases, uniqueAliases } from './ingest-aliases.ts';

export interface CreateCustomerInput {
  readonly name: string;
  readonly ingestAliases: readonly string[];
  /** Deprecated by the API: treated as the first ingest alias. */
  readonly externalId: string | null;
  readonly customFields: Readonly<Record<string, string>>;
  readonly billingAddress: BillingAddress | null;
  readonly billingConfigurations: readonly BillingConfigurationInput[];
}

/**
 * Refuses undeclared custom fields and invalid configurations (`invalid`), and an alias or custom field value of
 * another customer, archived ones included (`conflict`, naming it).
 */
export async function createCustomer(
  context: ConfigurationContext,
  input: CreateCustomerInput,
): Promise<WithCustomFields<Customer>> {
  const now = context.clock.now();
  const { customFields, billingAddress } = input;
  const externalId = input.externalId === null ? [] : [input.externalId];
  const head = {
    id: newId(),
    name: customerName(input.name),
    crmAccountId: null,
    createdAt: now,
    updatedAt: now,
  };
  const ingestAliases = uniqueAliases([...externalId, ...input.ingestAliases]);
  await context.db.transaction(async (tx) => {
    await sentTogether(
      () => insertCustomer(tx, head),
      () => replaceAliases(tx, head.id, ingestAliases, { isNew: true }),
    );
    if (billingAddress !== null) await updateCustomer(tx, head.id, { billingAddress, updatedAt: now });
    const pathOf = (index: number) => ['billingConfigurations', index];
    await addBillingConfigurations(tx, context, head.id, input.billingConfigurations, pathOf);
    await storeCustomFields(tx, [{ entity: 'customer', entityId: head.id, fields: customFields, path: [] }]);
  });
  return { ...head, ...NEW_CUSTOMER, billingAddress, ingestAliases, customFields };
}
