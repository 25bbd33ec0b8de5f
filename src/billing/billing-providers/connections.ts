/** The service's own connections to billing providers; clients know them as delivery methods. */
import {
  type BillingProvider,
  type DeliveryMethod,
  DIRECT_BILLING_PROVIDERS,
  unconnectedDeliveryMethodId,
} from '../../core/billing-providers.ts';
import { conflict } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { KeysetPosition, Page, PageRequest } from '../../core/paging.ts';
import type { Database } from '../../store/base/database.ts';
import {
  findConnections,
  insertConnection,
  listConnections,
} from '../../store/billing-providers/billing-connections.ts';
import type { RowContext } from '../billing-context.ts';
import { type ProviderSettings, publicSettings } from './provider-settings.ts';

export interface ConnectInput {
  readonly billingProvider: BillingProvider;
  readonly deliveryMethod: DeliveryMethod;
  readonly settings: ProviderSettings;
}

/** A connection for clients: without secrets. */
export interface DeliveryMethodView {
  readonly id: string;
  readonly billingProvider: BillingProvider;
  readonly deliveryMethod: DeliveryMethod;
  readonly settings: ProviderSettings;
}

/** Stores a connection and returns its id. A provider may have several connections; an equal one is a `conflict`. */
export async function connectBillingProvider(context: RowContext, input: ConnectInput): Promise<string> {
  const { billingProvider, deliveryMethod, settings } = input;
  const id = newId();
  const createdAt = context.clock.now();
  const connection = {
    id,
    billingProvider,
    deliveryMethod,
    configuration: settings,
    createdAt,
    archivedAt: null,
  };
  const stored = await context.db.transaction((tx) => insertConnection(tx, connection));
  if (stored !== id) {
    const text = `${billingProvider} is already connected by ${deliveryMethod} with this configuration`;
    throw conflict(text, [], stored);
  }
  return id;
}

/**
 * A page of the connections that customers' configurations can use, oldest first, followed by direct delivery to each
 * provider that has no connection for it.
 */
export async function listBillingProviders(
  { db }: Pick<RowContext, 'db'>,
  page: PageRequest<KeysetPosition>,
): Promise<Page<DeliveryMethodView>> {
  const { rows, next } = await listConnections(db, page);
  const connections = rows.map(({ id, billingProvider, deliveryMethod, configuration }) => ({
    id,
    billingProvider,
    deliveryMethod,
    settings: publicSettings(configuration),
  }));
  return { rows: next === null ? [...connections, ...(await withoutConnection(db))] : connections, next };
}

async function withoutConnection(db: Database): Promise<DeliveryMethodView[]> {
  const deliveryMethod = 'direct_to_billing_provider';
  const methods: DeliveryMethodView[] = [];
  for (const billingProvider of DIRECT_BILLING_PROVIDERS) {
    if ((await findConnections(db, billingProvider, deliveryMethod)).length > 0) continue;
    const id = unconnectedDeliveryMethodId(billingProvider, deliveryMethod);
    methods.push({ id, billingProvider, deliveryMethod, settings: {} });
  }
  return methods;
}
