/** The secrets of custom receivers in configurations: sealed if there is a key. */
import { z } from 'zod';
import type { Secrets } from '../../core/secrets.ts';
import type { Database } from '../../store/base/database.ts';
import {
  type BillingConfiguration,
  listUnsealedReceivers,
  replaceSigningSecret,
} from '../../store/customers/billing-configurations.ts';

/** An object, so that no secret chosen by a client is mistaken for a sealed one. */
const sealedSecret = z.object({ sealed: z.string() });

type Receiver = Pick<BillingConfiguration, 'id' | 'billingProvider' | 'deliveryMethod' | 'configuration'>;

const purposeOf = (configurationId: string) => `custom-receiver ${configurationId}`;

/** The settings as they are stored. */
export function storedSettings(secrets: Secrets, receiver: Receiver): Receiver['configuration'] {
  const { id, billingProvider, deliveryMethod, configuration } = receiver;
  const { signing_secret: secret } = configuration;
  if (billingProvider !== 'custom' || deliveryMethod !== 'webhook' || typeof secret !== 'string') {
    return configuration;
  }
  const sealed = secrets.seal(secret, purposeOf(id));
  return sealed === null ? configuration : { ...configuration, signing_secret: { sealed } };
}

/** The settings as the client has sent them; with the sealed secret if no key opens it. */
export function openedSettings(
  secrets: Secrets,
  { id, configuration }: Pick<Receiver, 'id' | 'configuration'>,
): Receiver['configuration'] {
  const { data } = sealedSecret.safeParse(configuration.signing_secret);
  const secret = data === undefined ? null : secrets.open(data.sealed, purposeOf(id));
  return secret === null ? configuration : { ...configuration, signing_secret: secret };
}

export function hasSealedSecret({ configuration }: Pick<Receiver, 'configuration'>): boolean {
  return sealedSecret.safeParse(configuration.signing_secret).success;
}

/**
 * Seals secrets that were stored before there was a key, in batches. Returns how many configurations had such secrets.
 */
export async function sealReceiverSecrets(db: Database, secrets: Secrets): Promise<number> {
  let sealed = 0;
  let after: string | null = null;
  do {
    const batch: readonly BillingConfiguration[] = await listUnsealedReceivers(db, after);
    for (const one of batch) {
      const { signing_secret: stored } = storedSettings(secrets, one);
      await replaceSigningSecret(db, one.id, { read: String(one.configuration.signing_secret), stored });
    }
    sealed += batch.length;
    after = batch.at(-1)?.id ?? null;
  } while (after !== null);
  return sealed;
}
