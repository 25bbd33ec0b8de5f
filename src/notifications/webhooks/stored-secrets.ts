/** The secrets of webhooks as they are stored: sealed where there is a key, else as receivers have them. */
import type { Secrets } from '../../core/secrets.ts';
import type { Database } from '../../store/base/database.ts';
import {
  listUnsealedEndpoints,
  lockEndpoint,
  SEALED_SECRET,
  saveEndpoint,
  type WebhookEndpoint,
} from '../../store/messages/webhook-endpoints.ts';

/** Secrets of webhooks are generated and begin with `whsec_`, so that none is taken for a sealed one. */
const isSealed = (stored: string) => stored.startsWith(SEALED_SECRET);

const purposeOf = (endpointId: string) => `webhook-secret ${endpointId}`;

/** The text that is stored for a secret. A sealed text stays as it is. */
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

/** Seals what was stored before there was a key. Returns how many webhooks had such secrets. */
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
