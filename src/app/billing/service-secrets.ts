/**
 * Decides whether secrets of receivers are sealed. Releases before this one would sign with the sealed text itself, so
 * with servers, where processes of both may run, nothing is sealed until this release has been in use for a day. With
 * an embedded database no other process runs, and secrets are sealed from the first start.
 */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import { createSecrets, type Secrets } from '../../core/secrets.ts';
import { DAY_MS } from '../../core/time.ts';
import { sealWebhookSecrets } from '../../notifications/webhooks/stored-secrets.ts';
import { sealReceiverSecrets } from '../../payments/custom/receiver-secrets.ts';
import type { Database } from '../../store/base/database.ts';
import { serviceKeySince } from '../../store/service/service-keys.ts';

interface SecretsParts {
  readonly config: Partial<Pick<Config, 'databaseUrl' | 'secretsKey'>>;
  readonly db: Database;
  readonly log: Pick<Logger, 'info'>;
}

const KEY_BYTES = 32;

/** The first start that may seal also seals stored secrets. */
export async function createServiceSecrets({ config, db, log }: SecretsParts): Promise<Secrets> {
  const keySince = await serviceKeySince(db, 'opens_sealed_secrets', randomBytes(KEY_BYTES));
  const seals = config.databaseUrl === undefined || Date.now() - keySince >= DAY_MS;
  const secrets = createSecrets(config.secretsKey, { seals });
  if (config.secretsKey === undefined || !seals) return secrets;
  const sealed = (await sealWebhookSecrets(db, secrets)) + (await sealReceiverSecrets(db, secrets));
  if (sealed > 0) log.info({ sealed }, 'secrets of webhooks and receivers are sealed with SECRETS_KEY now');
  return secrets;
}
