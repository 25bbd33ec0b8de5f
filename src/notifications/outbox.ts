/**
 * The only way to send a message: it is written in the transaction of the change that it reports, so that it exists
 * exactly if the change does. The deliverer sends it afterwards.
 */
import { LosslessNumber, stringify } from 'lossless-json';
import { Decimal } from '../core/decimal.ts';
import { assert } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import type { Transaction } from '../store/base/database.ts';
import { insertMessages, loadEnabledTypes } from '../store/messages/webhook-deliveries.ts';
import { activeEndpoints, type WebhookEndpoint } from '../store/messages/webhook-endpoints.ts';
import { isLifecycleType, type MessageType } from './message-types.ts';
import { RETRIES_MS } from './webhooks/retries.ts';

export interface Message {
  /** The id of the message; a new one unless given. */
  readonly id?: string;
  readonly type: MessageType;
  readonly customerId: string;
  /** The members of the body, beside `id` and `type`. Decimals become numbers with all their digits. */
  readonly content: Readonly<Record<string, unknown>>;
}

/**
 * Writes messages of the given types. `messages` is called only if some endpoint receives one of them, so that others
 * cost one short query.
 */
export async function publish(
  tx: Transaction,
  types: readonly MessageType[],
  messages: () => Promise<readonly Message[]>,
): Promise<void> {
  const endpoints = await activeEndpoints(tx);
  if (endpoints.length === 0) return;
  const enabled = types.some(isLifecycleType) ? await loadEnabledTypes(tx) : new Set();
  const sent = types.filter((type) => !isLifecycleType(type) || enabled.has(type));
  await write(tx, receiversOf(endpoints, sent), messages);
}

/** Writes messages of the given types, whether the types are enabled or not: each was requested explicitly. */
export async function publishAskedFor(
  tx: Transaction,
  types: readonly MessageType[],
  messages: () => Promise<readonly Message[]>,
): Promise<void> {
  await write(tx, receiversOf(await activeEndpoints(tx), types), messages);
}

async function write(
  tx: Transaction,
  receivers: ReadonlyMap<MessageType, readonly string[]>,
  messages: () => Promise<readonly Message[]>,
): Promise<void> {
  if (receivers.size === 0) return;
  const wanted = (await messages()).flatMap((message) => {
    const endpointIds = receivers.get(message.type);
    return endpointIds === undefined ? [] : [stored(message, endpointIds)];
  });
  await insertMessages(tx, wanted, Date.now() + RETRIES_MS);
}

/** The endpoints by type; types without an endpoint are absent. */
function receiversOf(
  endpoints: readonly Pick<WebhookEndpoint, 'id' | 'eventTypes'>[],
  types: readonly MessageType[],
): Map<MessageType, readonly string[]> {
  return new Map(
    types.flatMap((type) => {
      const subscribed = endpoints.filter(
        ({ eventTypes }) => eventTypes === null || eventTypes.includes(type),
      );
      return subscribed.length === 0 ? [] : [[type, subscribed.map(({ id }) => id)] as const];
    }),
  );
}

function stored({ id = newId(), type, customerId, content }: Message, endpointIds: readonly string[]) {
  const body = stringify({ id, type, ...content }, (_, value) =>
    value instanceof Decimal ? new LosslessNumber(value.toFixed()) : value,
  );
  assert(body !== undefined, 'an object has a text');
  return { id, type, customerId, body, endpointIds };
}
