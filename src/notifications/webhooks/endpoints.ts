/** Endpoints of webhooks: create, list, archive, rotate the secret, test; and redeliver messages. */
import { conflict, invalid, notFound } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import { DAY_MS, formatInstant, type Instant } from '../../core/time.ts';
import { receiverProblem } from '../../core/urls.ts';
import type { Transaction } from '../../store/base/database.ts';
import {
  cancelDeliveries,
  type Delivery,
  type DeliveryPosition,
  type DeliveryStatus,
  insertMessages,
  listDeliveries as listStoredDeliveries,
  requeueFailed,
  requeueMessage,
} from '../../store/messages/webhook-deliveries.ts';
import {
  countActiveEndpoints,
  findEndpoint,
  insertEndpoint,
  listEndpoints as listStoredEndpoints,
  lockEndpoint,
  lockEndpoints,
  saveEndpoint,
  type WebhookEndpoint,
} from '../../store/messages/webhook-endpoints.ts';
import { type MessageType, TEST_TYPE } from '../message-types.ts';
import type { NotificationContext } from '../notification-context.ts';
import { RETRIES_MS } from './retries.ts';
import { newSecret } from './signature.ts';
import { storedSecret } from './stored-secrets.ts';

export type { Delivery, WebhookEndpoint };

/** Limited, because every message is written once for each endpoint. */
const ENDPOINTS_MAX = 50;

/** How long the former secret also signs after a rotation. */
const FORMER_SECRET_MS = DAY_MS;

interface NewEndpoint {
  readonly name: string;
  readonly url: string;
  /** Null: all. */
  readonly eventTypes: readonly MessageType[] | null;
}

/**
 * Creates an endpoint; the answer contains its secret in plain text. Refuses a URL that is not allowed (`invalid`), and
 * more than 50 endpoints (`conflict`).
 */
export function createEndpoint(context: NotificationContext, wanted: NewEndpoint): Promise<WebhookEndpoint> {
  const [id, secret] = [newId(), newSecret()];
  const endpoint = {
    ...wanted,
    id,
    url: checkedUrl(wanted.url, context),
    secret,
    formerSecret: null,
    formerSecretUntil: null,
    createdAt: context.clock.now(),
    archivedAt: null,
  };
  return context.db.transaction(async (tx) => {
    await lockEndpoints(tx);
    if ((await countActiveEndpoints(tx)) >= ENDPOINTS_MAX) {
      throw conflict(`there are ${ENDPOINTS_MAX} webhooks already: archive one first`);
    }
    await insertEndpoint(tx, { ...endpoint, secret: storedSecret(context.secrets, id, secret) });
    return endpoint;
  });
}

function checkedUrl(text: string, { allowPrivate }: NotificationContext): string {
  const problem = receiverProblem(text, { allowPrivate });
  if (problem !== null) throw invalid(['url'], problem);
  return new URL(text).href;
}

/** Refuses an unknown endpoint (`not_found`). */
export async function getEndpoint(
  { db }: Pick<NotificationContext, 'db'>,
  id: string,
): Promise<WebhookEndpoint> {
  return found(await findEndpoint(db, id), id);
}

/** Includes archived ones, in the order of creation. */
export function listEndpoints(
  { db }: Pick<NotificationContext, 'db'>,
  page: PageRequest,
): Promise<Page<WebhookEndpoint>> {
  return listStoredEndpoints(db, page);
}

/** Archives an endpoint; undelivered messages are cancelled. Idempotent. */
export function archiveEndpoint({ db, clock }: NotificationContext, id: string): Promise<void> {
  return db.transaction(async (tx) => {
    const endpoint = found(await lockEndpoint(tx, id), id);
    if (endpoint.archivedAt !== null) return;
    await saveEndpoint(tx, id, { archivedAt: clock.now() });
    await cancelDeliveries(tx, id);
  });
}

/**
 * Gives an endpoint a new secret, which the answer contains in plain text. For a day, messages are signed with the
 * former one too.
 */
export function rotateSecret({ db, secrets }: NotificationContext, id: string): Promise<WebhookEndpoint> {
  return db.transaction(async (tx) => {
    const endpoint = await lockActive(tx, id);
    const changes = {
      secret: newSecret(),
      formerSecret: storedSecret(secrets, id, endpoint.secret),
      formerSecretUntil: Date.now() + FORMER_SECRET_MS,
    };
    await saveEndpoint(tx, id, { ...changes, secret: storedSecret(secrets, id, changes.secret) });
    return { ...endpoint, ...changes };
  });
}

/** Sends a message of type `webhook.test` to one endpoint. Returns the id of the message. */
export function sendTestMessage({ db, clock }: NotificationContext, id: string): Promise<string> {
  return db.transaction(async (tx) => {
    await lockActive(tx, id);
    const messageId = newId();
    const properties = { webhook_id: id, timestamp: formatInstant(clock.now()) };
    const body = JSON.stringify({ id: messageId, type: TEST_TYPE, properties });
    const message = { id: messageId, type: TEST_TYPE, customerId: null, body, endpointIds: [id] };
    await insertMessages(tx, [message], Date.now() + RETRIES_MS);
    return messageId;
  });
}

/** The deliveries to an endpoint, the newest first. */
export async function listDeliveries(
  { db }: Pick<NotificationContext, 'db'>,
  id: string,
  page: PageRequest<DeliveryPosition> & { readonly status: DeliveryStatus | null },
): Promise<Page<Delivery, DeliveryPosition>> {
  await getEndpoint({ db }, id);
  return listStoredDeliveries(db, id, page);
}

/** One message, or all failed ones stored since an instant of real time. */
export type Redelivery = { readonly messageId: string } | { readonly failedSince: Instant };

/** Sends messages to an endpoint again, with retries for two days from now. Returns how many. */
export function redeliver({ db }: NotificationContext, id: string, what: Redelivery): Promise<number> {
  return db.transaction(async (tx) => {
    await lockActive(tx, id);
    const retryUntil = Date.now() + RETRIES_MS;
    if ('failedSince' in what) return requeueFailed(tx, id, what.failedSince, retryUntil);
    const queued = await requeueMessage(tx, id, what.messageId, retryUntil);
    if (queued === 0) throw notFound('message', what.messageId);
    return queued;
  });
}

async function lockActive(tx: Transaction, id: string): Promise<WebhookEndpoint> {
  const endpoint = found(await lockEndpoint(tx, id), id);
  if (endpoint.archivedAt !== null) throw conflict(`webhook ${id} is archived`);
  return endpoint;
}

function found(endpoint: WebhookEndpoint | null, id: string): WebhookEndpoint {
  if (endpoint === null) throw notFound('webhook', id);
  return endpoint;
}
