/** The service's own connections to billing providers; clients know them as delivery methods. */
import type { BillingProvider, DeliveryMethod } from '../../core/billing-providers.ts';
import type { Clock } from '../../core/clock.ts';
import { conflict } from '../../core/errors.ts';
import { derivedId, newId } from '../../core/ids.ts';
import type { KeysetPosition, Page } from '../../core/paging.ts';
import { insertConnection, listConnections } from '../../store/billing-connections.ts';
import type { Database } from '../../store/database.ts';
import { type ProviderSettings, publicSettings } from './provider-settings.ts';

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
}

const CONNECTIONS_PER_PAGE = 100;

export interface ConnectInput {
  readonly billingProvider: BillingProvider;
  readonly deliveryMethod: DeliveryMethod;
  readonly settings: ProviderSettings;
}

/** A connection as clients may see it: without secrets. */
export interface DeliveryMethodView {
  readonly id: string;
  readonly billingProvider: BillingProvider;
  readonly deliveryMethod: DeliveryMethod;
  readonly settings: ProviderSettings;
}

/** Keeps a connection and returns its id. Several to one provider are fine; the very same one is a `conflict`. */
export async function connectBillingProvider(deps: Deps, input: ConnectInput): Promise<string> {
  const { billingProvider, deliveryMethod, settings } = input;
  const id = newId();
  const createdAt = deps.clock.now();
  const connection = { id, billingProvider, deliveryMethod, configuration: settings, createdAt };
  if (!(await insertConnection(deps.db, connection))) {
    throw conflict(`${billingProvider} is connected by ${deliveryMethod} with this configuration already`);
  }
  return id;
}

/** A page of connections, oldest first. */
export async function listBillingProviders(
  deps: Pick<Deps, 'db'>,
  after: KeysetPosition | null,
): Promise<Page<DeliveryMethodView>> {
  const { rows, next } = await listConnections(deps.db, { after, limit: CONNECTIONS_PER_PAGE });
  return {
    rows: rows.map(({ id, billingProvider, deliveryMethod, configuration }) => ({
      id,
      billingProvider,
      deliveryMethod,
      settings: publicSettings(configuration),
    })),
    next,
  };
}

/** The id of a delivery method without a connection: the same for all customers, for ever. */
export function unconnectedDeliveryMethodId(
  billingProvider: BillingProvider,
  deliveryMethod: DeliveryMethod,
): string {
  return derivedId('delivery-method', billingProvider, deliveryMethod);
}
