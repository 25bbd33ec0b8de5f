/** Gives managed rate cards their rates, through the use case that adds any rate. */
import type { Decimal } from '../../core/decimal.ts';
import { assert } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import {
  FIRST_RATES_START,
  type PricedModel,
  TOKEN_KINDS,
  type TokenKind,
} from '../../core/token-billing.ts';
import { managedPrice } from '../../rating/rates/managed-price.ts';
import type { Transaction } from '../../store/base/database.ts';
import { findRateCard } from '../../store/rate-cards/rate-cards.ts';
import {
  insertManagedModels,
  type ManagedCard,
  type ManagedModel,
  updateManagedModels,
} from '../../store/token-billing/managed-rate-cards.ts';
import type { StoredModel, StoredTokenPrice } from '../../store/token-billing/token-prices.ts';
import type { RowContext } from '../billing-context.ts';
import { addRatesIn } from '../rate-cards/add-rates.ts';
import type { RateTerms } from '../rate-cards/rate-terms.ts';
import { createManagedProducts } from './managed-objects.ts';

/** The name that managed rates have in `created_by` if no person requested them. */
export const CATALOGUE_ACTOR = 'catalogue';

/** Models whose products and rates are created together. Between two such parts the process answers other requests. */
const MODELS_PER_PART = 250;
/** Rows per part, one for each kind of tokens of a model. */
const ROWS_PER_PART = 500;

export interface JoiningModel {
  readonly model: StoredModel;
  readonly markup: Decimal;
}

/** The latest price of each kind that is valid at `now`. */
export function pricesAt(model: StoredModel, now: Instant): Map<TokenKind, StoredTokenPrice> {
  return new Map(
    TOKEN_KINDS.flatMap((kind) => {
      const price = model.prices.findLast((one) => one.kind === kind && one.validFrom <= now);
      return price === undefined ? [] : [[kind, price] as const];
    }),
  );
}

/** The ids that events may have for a model. */
export function namesOf({ model, aliases }: PricedModel): string[] {
  return [model, ...aliases];
}

/** Creates the products of models that the card does not have, and their first rates. */
export async function joinModels(
  tx: Transaction,
  context: RowContext,
  card: ManagedCard,
  joining: readonly JoiningModel[],
  createdBy: string,
): Promise<void> {
  for (let from = 0; from < joining.length; from += MODELS_PER_PART) {
    await joinPart(tx, context, card, joining.slice(from, from + MODELS_PER_PART), createdBy);
  }
}

async function joinPart(
  tx: Transaction,
  context: RowContext,
  card: ManagedCard,
  joining: readonly JoiningModel[],
  createdBy: string,
): Promise<void> {
  const now = context.clock.now();
  const added = joining.flatMap(({ model, markup }) =>
    [...pricesAt(model, now).values()].map((price) => ({ model, markup, price })),
  );
  const products = await createManagedProducts(
    tx,
    context,
    added.map(({ model: { model }, markup, price: { kind } }) => ({ model, markup, kind })),
    createdBy,
  );
  const rows = added.map(({ model, markup, price }, index): ManagedModel => {
    const productId = products[index];
    assert(productId !== undefined, 'each kind of tokens has its product');
    return {
      rateCardId: card.rateCardId,
      provider: model.provider,
      model: model.model,
      kind: price.kind,
      productId,
      markup,
      usdPerToken: price.usdPerToken,
      validFrom: price.validFrom,
      ratesFrom: FIRST_RATES_START,
      names: namesOf(model),
      isRemoved: false,
    };
  });
  await insertManagedModels(tx, rows);
  await addManagedRates(tx, context, card, rows, FIRST_RATES_START, createdBy);
}

/** Sets new prices of models of the card from an instant on: markup, provider's price, names and removal as given. */
export async function changeModels(
  tx: Transaction,
  context: RowContext,
  card: ManagedCard,
  changed: readonly ManagedModel[],
  change: { readonly startingAt: Instant; readonly createdBy: string },
): Promise<void> {
  await updateManagedModels(
    tx,
    changed.map((row) => ({ ...row, ratesFrom: change.startingAt })),
  );
  await addManagedRates(tx, context, card, changed, change.startingAt, change.createdBy);
}

/** A rate for each name of each model. One that was removed is no longer entitled. */
export async function addManagedRates(
  tx: Transaction,
  context: RowContext,
  card: ManagedCard,
  models: readonly ManagedModel[],
  startingAt: Instant,
  createdBy: string,
): Promise<void> {
  const centsPerUnit = await unitOfCard(tx, card);
  for (let from = 0; from < models.length; from += ROWS_PER_PART) {
    const part = models.slice(from, from + ROWS_PER_PART);
    await addRatesIn(tx, context, {
      rateCardId: card.rateCardId,
      rates: part.flatMap((row) => ratesOf(row, card, centsPerUnit, startingAt)),
      pathOf: () => ['managedPricing'],
      createdBy,
    });
  }
}

function ratesOf(
  { productId, provider, names, isRemoved, usdPerToken, markup }: ManagedModel,
  { customCreditTypeId }: ManagedCard,
  centsPerUnit: Decimal | null,
  startingAt: Instant,
): RateTerms[] {
  const price = managedPrice(usdPerToken, markup, centsPerUnit);
  return names.map((name) => ({
    productId,
    pricingGroupValues: { model: name, provider },
    billingFrequency: null,
    startingAt,
    endingBefore: null,
    entitled: !isRemoved,
    creditTypeId: customCreditTypeId,
    price: { rateType: 'FLAT', price, tiers: null, minimum: null, quantity: null, isProrated: null },
    commitPrice: null,
  }));
}

/** Cents for one custom unit; null where rates are in cents. */
async function unitOfCard(
  tx: Transaction,
  { rateCardId, customCreditTypeId }: ManagedCard,
): Promise<Decimal | null> {
  if (customCreditTypeId === null) return null;
  const card = await findRateCard(tx, rateCardId);
  const conversion = card?.conversions.find((one) => one.customCreditTypeId === customCreditTypeId);
  assert(conversion !== undefined, `card ${rateCardId} converts the unit that it is managed in`);
  return conversion.fiatPerCustomCredit;
}
