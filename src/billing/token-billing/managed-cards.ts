/** Use cases of managed rate cards: the service makes their metrics, products and rates from the catalogue. */
import { USD_CENTS } from '../../core/credit-types.ts';
import type { Decimal } from '../../core/decimal.ts';
import { conflict, type FieldPath, invalid, words } from '../../core/errors.ts';
import { providerName } from '../../core/model-providers.ts';
import { floorToHour, formatInstant, type Instant } from '../../core/time.ts';
import type { RepriceMode } from '../../core/token-billing.ts';
import type { Transaction } from '../../store/base/database.ts';
import type { RateCard } from '../../store/rate-cards/rate-cards.ts';
import {
  findManagedCard,
  insertManagedCard,
  loadManagedModels,
  type ManagedCard,
  type ManagedModel,
  updateManagedCard,
} from '../../store/token-billing/managed-rate-cards.ts';
import { loadTokenModels, modelKey, type StoredModel } from '../../store/token-billing/token-prices.ts';
import type { RowContext } from '../billing-context.ts';
import { mergeCustomFields } from '../custom-fields/store-fields.ts';
import {
  type CreateRateCardInput,
  createRateCardIn,
  type UpdateRateCardInput,
  updateRateCardIn,
} from '../rate-cards/rate-cards.ts';
import { changeModels, type JoiningModel, joinModels, namesOf, pricesAt } from './card-rates.ts';
import { declareManagedFields, describeCard } from './managed-objects.ts';
import { lockCatalogueForChange, planNextSync, repricedModels } from './sync-cards.ts';

/** A model of a request, by its id in the catalogue or an alias that one provider alone has. */
interface SelectedModel {
  readonly model: string;
  /** A fraction; null: the default markup. */
  readonly markup: Decimal | null;
}

export interface ManagedPricing {
  /** Null: all providers of the catalogue, or of the models that are named. */
  readonly providers: readonly string[] | null;
  /** Null: all models of the providers. */
  readonly models: readonly SelectedModel[] | null;
  /** Markups of single models, where all models of the providers are on the card. */
  readonly markups: readonly SelectedModel[];
  readonly defaultMarkup: Decimal | null;
  readonly customCreditTypeId: string | null;
  readonly reprice: RepriceMode;
}

const FIELD: FieldPath = ['managedPricing'];

/**
 * Creates a card with the metrics, products and rates of its models in one transaction. Refuses the same as
 * `createRateCard`, currencies other than USD, models and providers that the catalogue does not have, and models
 * without a markup (`invalid`, naming the field).
 */
export async function createManagedRateCard(
  context: RowContext,
  input: CreateRateCardInput,
  pricing: ManagedPricing,
): Promise<RateCard> {
  if (input.fiatCreditTypeId !== null && input.fiatCreditTypeId !== USD_CENTS.id) {
    throw invalid(['fiatCreditTypeId'], 'must be US cents: AI providers are priced in USD');
  }
  const { customCreditTypeId, defaultMarkup, reprice } = pricing;
  if (
    customCreditTypeId !== null &&
    !input.conversions.some((one) => one.customCreditTypeId === customCreditTypeId)
  ) {
    throw invalid([...FIELD, 'customCreditTypeId'], 'must be a unit of credit_type_conversions');
  }
  return context.db.transaction(async (tx) => {
    await lockCatalogueForChange(tx);
    const catalogue = await loadTokenModels(tx);
    const now = context.clock.now();
    const joining = selectedModels(catalogue, pricing, now);
    const card = await createRateCardIn(tx, context, input);
    const managed = { rateCardId: card.id, defaultMarkup, customCreditTypeId, reprice, syncedAt: now };
    await insertManagedCard(tx, managed);
    await declareManagedFields(tx, context);
    await joinModels(tx, context, managed, joining, input.createdBy);
    await describeCard(tx, managed);
    await planNextSync(tx, catalogue, now);
    return card;
  });
}

type Catalogue = ReadonlyMap<string, StoredModel>;

function selectedModels(catalogue: Catalogue, pricing: ManagedPricing, now: Instant): JoiningModel[] {
  const { providers, models, markups, defaultMarkup } = pricing;
  const named = providers?.map((given, index) => providerInCatalogue(catalogue, given, index)) ?? null;
  const offered = [...catalogue.values()].filter(
    (model) => (named === null || named.includes(model.provider)) && pricesAt(model, now).size > 0,
  );
  const find = finder(offered);
  if (models !== null) {
    return uniqueModels(models, 'models', find).map(([model, { markup }, field]) => ({
      model,
      markup: markupOf(markup ?? defaultMarkup, [...field, 'markup']),
    }));
  }
  const own = new Map(
    uniqueModels(markups, 'markups', find).map(([model, { markup }]) => [modelKey(model), markup]),
  );
  if (offered.length === 0) throw invalid(FIELD, 'the catalogue has no models: import prices first');
  return offered.map((model) => ({
    model,
    markup: markupOf(own.get(modelKey(model)) ?? defaultMarkup, [...FIELD, 'defaultMarkup']),
  }));
}

/** The provider as the catalogue has it: under the name that is given, or else by the table of names. */
function providerInCatalogue(catalogue: Catalogue, given: string, index: number): string {
  const known = new Set([...catalogue.values()].map(({ provider }) => provider));
  const provider = [given, providerName(given)].find((one) => known.has(one));
  if (provider !== undefined) return provider;
  throw invalid([...FIELD, 'providers', index], `the catalogue has no provider ${given}`);
}

function markupOf(markup: Decimal | null, field: FieldPath): Decimal {
  if (markup === null)
    throw invalid(field, 'is required: a model has neither its own nor the default markup');
  return markup;
}

type Find = (name: string, field: FieldPath) => StoredModel;

/** Finds models by id or alias. Refuses (`invalid`, naming `field`) names of none and of several. */
function finder(offered: readonly StoredModel[]): Find {
  const byName = new Map<string, StoredModel[]>();
  for (const model of offered) {
    for (const name of new Set(namesOf(model))) byName.set(name, [...(byName.get(name) ?? []), model]);
  }
  return (name, field) => {
    const [found, other] = byName.get(name) ?? [];
    if (found === undefined) throw invalid(field, `the catalogue has no model ${name} with a price`);
    if (other !== undefined) {
      throw invalid(field, `${name} is a model of ${found.provider} and of ${other.provider}`);
    }
    return found;
  };
}

function uniqueModels(
  given: readonly SelectedModel[],
  list: string,
  find: Find,
): [StoredModel, SelectedModel, FieldPath][] {
  const seen = new Set<string>();
  return given.map((one, index) => {
    const field = [...FIELD, list, index];
    const model = find(one.model, [...field, 'model']);
    if (seen.has(modelKey(model))) throw invalid([...field, 'model'], `repeats ${model.model}`);
    seen.add(modelKey(model));
    return [model, one, field];
  });
}

export interface ManagedPricingUpdate {
  /** On a full hour: markups, removals and adopted prices hold from here on. Null: from the current hour on. */
  readonly startingAt: Instant | null;
  readonly markups: readonly SelectedModel[];
  /** Null: stays as it is. */
  readonly defaultMarkup: Decimal | null;
  readonly addModels: readonly SelectedModel[];
  /** Ids in the catalogue, or aliases. */
  readonly removeModels: readonly string[];
  readonly reprice: RepriceMode | null;
  /** Adopts the present prices of the catalogue. */
  readonly adoptPrices: boolean;
}

/**
 * Changes a card as `updateRateCard` does, and its managed prices, in one transaction. Refuses a card that is not
 * managed, and models that it does not have or has already (`invalid`, naming the field).
 */
export async function updateManagedRateCard(
  context: RowContext,
  input: UpdateRateCardInput,
  update: ManagedPricingUpdate,
  createdBy: string,
): Promise<void> {
  await context.db.transaction(async (tx) => {
    await lockCatalogueForChange(tx);
    await updateRateCardIn(tx, context, input);
    const card = await findManagedCard(tx, input.rateCardId);
    if (card === null) throw invalid(FIELD, `rate card ${input.rateCardId} is not managed`);
    await changePricing(tx, context, card, update, createdBy);
  });
}

async function changePricing(
  tx: Transaction,
  context: RowContext,
  card: ManagedCard,
  update: ManagedPricingUpdate,
  createdBy: string,
): Promise<void> {
  const now = context.clock.now();
  const catalogue = await loadTokenModels(tx);
  const models = await loadManagedModels(tx, [card.rateCardId]);
  const startingAt = update.startingAt ?? floorToHour(now);
  const changed = changedModels(models, catalogue, update, now);
  const later = changed.rows.find(({ ratesFrom }) => ratesFrom > startingAt);
  if (later !== undefined) {
    const last = formatInstant(later.ratesFrom);
    throw invalid(
      [...FIELD, 'startingAt'],
      `the price of ${later.model} changes at ${last}, and no earlier again`,
    );
  }
  await changeModels(tx, context, card, changed.rows, { startingAt, createdBy });
  await mergeCustomFields(
    tx,
    changed.remarked.map(({ productId, markup }) => ({
      entity: 'contract_product',
      entityId: productId,
      fields: { ai_markup: markup.toFixed() },
      path: FIELD,
    })),
  );
  const changedCard = {
    ...card,
    defaultMarkup: update.defaultMarkup ?? card.defaultMarkup,
    reprice: update.reprice ?? card.reprice,
  };
  await joinModels(
    tx,
    context,
    changedCard,
    addedModels(models, catalogue, changedCard, update, now),
    createdBy,
  );
  await updateManagedCard(tx, changedCard);
  await describeCard(tx, changedCard);
}

function changedModels(
  models: readonly ManagedModel[],
  catalogue: Catalogue,
  update: ManagedPricingUpdate,
  now: Instant,
): { readonly rows: ManagedModel[]; readonly remarked: ManagedModel[] } {
  const onCard = new Set(models.filter(({ isRemoved }) => !isRemoved).map(modelKey));
  const find = finder([...catalogue.values()].filter((model) => onCard.has(modelKey(model))));
  const markups = new Map(
    uniqueModels(update.markups, 'markups', find).map(([model, { markup }, field]) => [
      modelKey(model),
      markupOf(markup ?? update.defaultMarkup, [...field, 'markup']),
    ]),
  );
  const removed = new Set(
    update.removeModels.map((name, index) => modelKey(find(name, [...FIELD, 'removeModels', index]))),
  );
  const repriced = update.adoptPrices ? repricedModels(models, catalogue, now) : [];
  const adopted = new Map(repriced.map((row) => [row.productId, row]));
  const changed = models.flatMap((row): ManagedModel[] => {
    const key = modelKey(row);
    const markup = markups.get(key);
    const isRemoved = removed.has(key);
    if (row.isRemoved || (markup === undefined && !isRemoved && !adopted.has(row.productId))) return [];
    return [{ ...(adopted.get(row.productId) ?? row), markup: markup ?? row.markup, isRemoved }];
  });
  return { rows: changed, remarked: changed.filter((row) => markups.has(modelKey(row))) };
}

function addedModels(
  models: readonly ManagedModel[],
  catalogue: Catalogue,
  card: ManagedCard,
  { addModels }: ManagedPricingUpdate,
  now: Instant,
): JoiningModel[] {
  if (addModels.length === 0) return [];
  const known = new Set(models.map(modelKey));
  const find = finder([...catalogue.values()].filter((model) => pricesAt(model, now).size > 0));
  return uniqueModels(addModels, 'addModels', find).map(([model, { markup }, field]) => {
    if (known.has(modelKey(model))) {
      throw conflict(words`${model.model} is or was on this rate card`, [...field, 'model']);
    }
    return { model, markup: markupOf(markup ?? card.defaultMarkup, [...field, 'markup']) };
  });
}
