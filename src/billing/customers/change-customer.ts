/** Changes to a customer's header. */
import type { BillingAddress } from '../../core/billing-address.ts';
import { notFound } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import { type Customer, findCustomer, updateCustomer } from '../../store/customers/customers.ts';
import type { RowContext } from '../billing-context.ts';
import { oneWithCustomFields, type WithCustomFields } from '../custom-fields/with-fields.ts';
import { customerName } from './customer-name.ts';

/** Renames a customer; names longer than 160 characters are cut. Refuses an unknown customer. */
export async function renameCustomer(
  context: RowContext,
  customerId: string,
  name: string,
): Promise<WithCustomFields<Customer>> {
  await change(context, customerId, { name: customerName(name) });
  return getCustomer(context, customerId);
}

/** Changes of a customer's header beside its name. */
export interface HeaderChanges {
  readonly crmAccountId?: string | null;
  readonly billingAddress?: BillingAddress | null;
}

/** Sets or clears the account in a CRM and the address. Refuses an unknown customer. */
export async function changeHeader(
  context: RowContext,
  customerId: string,
  changes: HeaderChanges,
): Promise<void> {
  await change(context, customerId, changes);
}

/** The customer, archived or not. Refuses an unknown one. */
export async function getCustomer(
  context: Pick<RowContext, 'db'>,
  customerId: string,
): Promise<WithCustomFields<Customer>> {
  const customer = await findCustomer(context.db, customerId);
  if (customer === null) throw notFound('customer', customerId);
  return oneWithCustomFields(context.db, customer);
}

async function change(
  context: RowContext,
  customerId: string,
  changes: HeaderChanges & { readonly name?: string },
): Promise<void> {
  const updatedAt = context.clock.now();
  const update = { ...changes, updatedAt };
  const found =
    isUuid(customerId) && (await context.db.transaction((tx) => updateCustomer(tx, customerId, update)));
  if (!found) throw notFound('customer', customerId);
}
