/** Delivery methods of a customer's invoices: a connection of the service to a provider, or none yet. */
import {
  type BillingProvider,
  DELIVERY_METHODS,
  type DeliveryMethod,
  unconnectedDeliveryMethodId,
} from '../../core/billing-providers.ts';
import { type FieldPath, invalid, words } from '../../core/errors.ts';
import type { Transaction } from '../../store/base/database.ts';
import { findConnections, loadConnections } from '../../store/billing-providers/billing-connections.ts';

/** The client's settings for it; null: omitted. At least one is set. */
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
 * Refuses (`invalid`) an unknown delivery method, one of another provider, a method that contradicts the id, and a
 * method without an id if several connections offer it.
 */
export async function resolveDelivery(
  tx: Transaction,
  input: DeliveryInput,
  path: FieldPath,
): Promise<Delivery> {
  const { billingProvider, deliveryMethod, deliveryMethodId } = input;
  const delivery =
    deliveryMethodId === null
      ? await deliveryBy(tx, billingProvider, deliveryMethod, path)
      : await deliveryWithId(tx, billingProvider, deliveryMethodId, path);
  if (deliveryMethod !== null && deliveryMethod !== delivery.deliveryMethod) {
    throw invalid(
      [...path, 'deliveryMethod'],
      words`contradicts ${['deliveryMethodId']}: ${delivery.deliveryMethod}`,
    );
  }
  return delivery;
}

async function deliveryBy(
  tx: Transaction,
  billingProvider: BillingProvider,
  deliveryMethod: DeliveryMethod | null,
  path: FieldPath,
): Promise<Delivery> {
  if (deliveryMethod === null) {
    throw invalid([...path, 'deliveryMethod'], words`is required unless ${['deliveryMethodId']} is given`);
  }
  const connections = await findConnections(tx, billingProvider, deliveryMethod);
  if (connections.length > 1) {
    throw invalid(
      [...path, 'deliveryMethodId'],
      `is required: ${connections.length} connections reach ${billingProvider} by ${deliveryMethod}`,
    );
  }
  return { deliveryMethod, connectionId: connections[0]?.id ?? null };
}

async function deliveryWithId(
  tx: Transaction,
  billingProvider: BillingProvider,
  id: string,
  path: FieldPath,
): Promise<Delivery> {
  const connection = (await loadConnections(tx, [id])).get(id);
  if (connection?.billingProvider === billingProvider && connection.archivedAt === null) {
    return { deliveryMethod: connection.deliveryMethod, connectionId: id };
  }
  if (connection !== undefined && connection.archivedAt !== null) {
    throw invalid([...path, 'deliveryMethodId'], `connection ${id} is archived`);
  }
  if (connection !== undefined) {
    throw invalid(
      [...path, 'deliveryMethodId'],
      `is a connection to ${connection.billingProvider}, not to ${billingProvider}`,
    );
  }
  const unconnected = DELIVERY_METHODS.find(
    (method) => unconnectedDeliveryMethodId(billingProvider, method) === id,
  );
  if (unconnected !== undefined) return { deliveryMethod: unconnected, connectionId: null };
  throw invalid([...path, 'deliveryMethodId'], `delivery method ${id} not found`);
}
