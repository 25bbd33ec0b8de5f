/** The stored form of webhook secrets: sealed if there is a key, else in plain text. */
import type { Secrets } from '../../core/secrets.ts';
import type { Database } from '../../store/base/database.ts';
import {
  listUnsealedEndpoints,
  lockEndpoint,
  SEALED_SECRET,
  saveEndpoint,
  type WebhookEndpoint,
} from '../../store/messages/webhook-endpoints.ts';

/** Secrets of webhooks are generated and begin with `whsec_`, so none is mistaken for a sealed one. */
const isSealed = (stored: string) => stored.startsWith(SEALED_SECRET);

const purposeOf = (endpointId: string) => `webhook-secret ${endpointId}`;

/** The stored form of a secret. A sealed text stays as it is. */
export function storedSecret(secrets: Secrets, endpointId: string, secret: string): string {
  if (isSealed(secret)) return secret;
  const sealed = secrets.seal(secret, purposeOf(endpointId));
  return sealed === null ? secret : `${SEALED_SECRET}${sealed}`;
}

/** The secret itself; null: it was sealed with a key that this process does not have. */
export function openedSecret(secrets: Secrets, endpointId: string, stored: string): string | null {
  if (!isSealed(stored)) return stored;
  return secrets.open(stored.slice(SEALED_SECRET.length), purposeOf(endpointId));
}

/** Seals secrets that were stored before there was a key. Returns how many webhooks had such secrets. */
export async function sealWebhookSecrets(db: Database, secrets: Secrets): Promise<number> {
  const ids = await listUnsealedEndpoints(db);
  for (const id of ids) {
    await db.transaction(async (tx) => {
      const endpoint = await lockEndpoint(tx, id);
      if (endpoint !== null) await saveEndpoint(tx, id, sealedMembers(secrets, endpoint));
    });
  }
  return ids.length;
}

function sealedMembers(secrets: Secrets, { id, secret, formerSecret }: WebhookEndpoint) {
  return {
    secret: storedSecret(secrets, id, secret),
    formerSecret: formerSecret === null ? null : storedSecret(secrets, id, formerSecret),
  };
}
