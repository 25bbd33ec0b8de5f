/** The way on which a customer's invoices reach a provider: a connection of the service, or none yet. */
import { type BillingProvider, DELIVERY_METHODS, type DeliveryMethod } from '../../core/billing-providers.ts';
import { invalid } from '../../core/errors.ts';
import { findConnections, loadConnections } from '../../store/billing-connections.ts';
import type { Transaction } from '../../store/database.ts';
import { unconnectedDeliveryMethodId } from './connections.ts';

/** What a client says about it; null: not given. At least one is. */
export interface DeliveryInput {
  readonly billingProvider: BillingProvider;
  readonly deliveryMethod: DeliveryMethod | null;
  readonly deliveryMethodId: string | null;
}

export interface Delivery {
  readonly deliveryMethod: DeliveryMethod;
  readonly connectionId: string | null;
}

/**
 * Refuses (`invalid`) an unknown delivery method, one of another provider, a method that contradicts the
 * id, and a method without an id where several connections offer it.
 */
export async function resolveDelivery(
  tx: Transaction,
  input: DeliveryInput,
  field: string,
): Promise<Delivery> {
  const { billingProvider, deliveryMethod, deliveryMethodId } = input;
  const delivery =
    deliveryMethodId === null
      ? await deliveryBy(tx, billingProvider, deliveryMethod, field)
      : await deliveryWithId(tx, billingProvider, deliveryMethodId, field);
  if (deliveryMethod !== null && deliveryMethod !== delivery.deliveryMethod) {
    throw invalid(`${field}delivery_method`, `contradicts delivery_method_id: ${delivery.deliveryMethod}`);
  }
  return delivery;
}

async function deliveryBy(
  tx: Transaction,
  billingProvider: BillingProvider,
  deliveryMethod: DeliveryMethod | null,
  field: string,
): Promise<Delivery> {
  if (deliveryMethod === null) {
    throw invalid(`${field}delivery_method`, 'is required unless delivery_method_id is given');
  }
  const connections = await findConnections(tx, billingProvider, deliveryMethod);
  if (connections.length > 1) {
    throw invalid(
      `${field}delivery_method_id`,
      `is required: ${connections.length} connections reach ${billingProvider} by ${deliveryMethod}`,
    );
  }
  return { deliveryMethod, connectionId: connections[0]?.id ?? null };
}

async function deliveryWithId(
  tx: Transaction,
  billingProvider: BillingProvider,
  id: string,
  field: string,
): Promise<Delivery> {
  const connection = (await loadConnections(tx, [id])).get(id);
  if (connection?.billingProvider === billingProvider) {
    return { deliveryMethod: connection.deliveryMethod, connectionId: id };
  }
  if (connection !== undefined) {
    throw invalid(
      `${field}delivery_method_id`,
      `is a connection to ${connection.billingProvider}, not to ${billingProvider}`,
    );
  }
  const unconnected = DELIVERY_METHODS.find(
    (method) => unconnectedDeliveryMethodId(billingProvider, method) === id,
  );
  if (unconnected !== undefined) return { deliveryMethod: unconnected, connectionId: null };
  throw invalid(`${field}delivery_method_id`, `delivery method ${id} not found`);
}
