/**
 * Synchronizes managed cards with the catalogue: new models of their providers join at the default markup, once, and
 * price changes are adopted if the card is set to adopt them. The processed price of each model is stored with it, so a
 * repeated sync changes nothing.
 */
import { groupBy } from '../../core/group-by.ts';
import { providerName } from '../../core/model-providers.ts';
import { floorToHour, HOUR_MS, type Instant } from '../../core/time.ts';
import { FIRST_RATES_START } from '../../core/token-billing.ts';
import type { Transaction } from '../../store/base/database.ts';
import { enqueueJobs, holdJobsOf } from '../../store/jobs/jobs.ts';
import {
  loadManagedCards,
  loadManagedModels,
  type ManagedCard,
  type ManagedModel,
  updateManagedCard,
  updateManagedModels,
} from '../../store/token-billing/managed-rate-cards.ts';
import {
  loadTokenModels,
  lockTokenCatalogue,
  modelKey,
  type StoredModel,
} from '../../store/token-billing/token-prices.ts';
import type { RowContext } from '../billing-context.ts';
import {
  addManagedRates,
  CATALOGUE_ACTOR,
  changeModels,
  type JoiningModel,
  joinModels,
  namesOf,
  pricesAt,
} from './card-rates.ts';
import { describeCard } from './managed-objects.ts';

/** The kind of the jobs. */
export const TOKEN_PRICES_JOB = 'sync_token_prices';

type Catalogue = ReadonlyMap<string, StoredModel>;

/**
 * `lockTokenCatalogue` for changes that may queue a sync. A sync that runs has its place in the queue already when it takes
 * this lock: in the other order each would wait for the other.
 */
export async function lockCatalogueForChange(tx: Transaction): Promise<void> {
  await holdJobsOf(tx, TOKEN_PRICES_JOB);
  await lockTokenCatalogue(tx);
}

/** Brings all managed cards up to the catalogue, and queues the next time at which a price becomes valid. */
export async function syncManagedCards(tx: Transaction, context: RowContext): Promise<void> {
  await lockTokenCatalogue(tx);
  const catalogue = await loadTokenModels(tx);
  const cards = await loadManagedCards(tx);
  const models = groupBy(
    await loadManagedModels(
      tx,
      cards.map(({ rateCardId }) => rateCardId),
    ),
    ({ rateCardId }) => rateCardId,
  );
  for (const card of cards) await syncCard(tx, context, card, models.get(card.rateCardId) ?? [], catalogue);
  await planNextSync(tx, catalogue, context.clock.now());
}

/** Queues a sync at the first full hour at which a later price is valid. */
export async function planNextSync(tx: Transaction, catalogue: Catalogue, now: Instant): Promise<void> {
  const later = [...catalogue.values()]
    .flatMap(({ prices }) => prices.map(({ validFrom }) => validFrom))
    .filter((validFrom) => validFrom > now);
  if (later.length === 0) return;
  const next = later.reduce((first, at) => Math.min(first, at));
  const runAt = ceilToHour(next);
  await enqueueJobs(tx, [{ kind: TOKEN_PRICES_JOB, key: String(runAt), subject: null, runAt, payload: {} }]);
}

async function syncCard(
  tx: Transaction,
  context: RowContext,
  card: ManagedCard,
  models: readonly ManagedModel[],
  catalogue: Catalogue,
): Promise<void> {
  const now = context.clock.now();
  await joinModels(tx, context, card, joiningModels(card, models, catalogue, now), CATALOGUE_ACTOR);
  await addNewNames(tx, context, card, models, catalogue);
  if (card.reprice === 'auto') {
    const repriced = repricedModels(models, catalogue, now);
    const startOf = ({ validFrom, ratesFrom }: ManagedModel) =>
      Math.max(ceilToHour(validFrom), floorToHour(now), ratesFrom);
    for (const [startingAt, rows] of groupBy(repriced, startOf)) {
      await changeModels(tx, context, card, rows, { startingAt, createdBy: CATALOGUE_ACTOR });
    }
  }
  const synced = { ...card, syncedAt: now };
  await updateManagedCard(tx, synced);
  await describeCard(tx, synced);
}

/**
 * Models of the card's providers, and kinds of tokens of its models, with their first price since the last sync.
 * Removed models stay away.
 */
function joiningModels(
  card: ManagedCard,
  models: readonly ManagedModel[],
  catalogue: Catalogue,
  now: Instant,
): JoiningModel[] {
  // A card that was created with the name of an older file takes the models of the same provider.
  const providers = new Set(models.flatMap(({ provider }) => [provider, providerName(provider)]));
  const known = groupBy(models, modelKey);
  return [...catalogue.values()].flatMap((model): JoiningModel[] => {
    const own = known.get(modelKey(model)) ?? [];
    const markup = own[0]?.markup ?? card.defaultMarkup;
    if (!providers.has(model.provider) || own.some(({ isRemoved }) => isRemoved) || markup === null)
      return [];
    const kinds = new Set(own.map(({ kind }) => kind));
    const valid = model.prices.filter(({ kind, validFrom }) => validFrom <= now && !kinds.has(kind));
    const newSince = Math.min(...valid.map(({ validFrom, recordedAt }) => Math.max(validFrom, recordedAt)));
    return valid.length > 0 && newSince > card.syncedAt
      ? [{ model: { ...model, prices: valid }, markup }]
      : [];
  });
}

/** Names that models of the card have been given since get the rate of their model. */
async function addNewNames(
  tx: Transaction,
  context: RowContext,
  card: ManagedCard,
  models: readonly ManagedModel[],
  catalogue: Catalogue,
): Promise<void> {
  const changed = models.flatMap((row) => {
    const model = catalogue.get(modelKey(row));
    const names = model === undefined ? [] : namesOf(model).filter((name) => !row.names.includes(name));
    return names.length === 0 || row.isRemoved ? [] : [{ row, names }];
  });
  await addManagedRates(
    tx,
    context,
    card,
    changed.map(({ row, names }) => ({ ...row, names })),
    FIRST_RATES_START,
    CATALOGUE_ACTOR,
  );
  await updateManagedModels(
    tx,
    changed.map(({ row, names }) => ({ ...row, names: [...row.names, ...names] })),
  );
}

/** The models whose provider has another price now, with that price. */
export function repricedModels(
  models: readonly ManagedModel[],
  catalogue: Catalogue,
  now: Instant,
): ManagedModel[] {
  return models.flatMap((row) => {
    const model = catalogue.get(modelKey(row));
    const price = model === undefined ? undefined : pricesAt(model, now).get(row.kind);
    if (row.isRemoved || price === undefined || price.validFrom <= row.validFrom) return [];
    if (price.usdPerToken.eq(row.usdPerToken)) return [];
    return [{ ...row, usdPerToken: price.usdPerToken, validFrom: price.validFrom }];
  });
}

function ceilToHour(at: Instant): Instant {
  return Math.ceil(at / HOUR_MS) * HOUR_MS;
}
