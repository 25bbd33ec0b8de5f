/** Gives managed rate cards their rates, through the use case that adds any rate. */
import type { Clock } from '../../core/clock.ts';
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
import type { Transaction } from '../../store/database.ts';
import {
  insertManagedModels,
  type ManagedCard,
  type ManagedModel,
  updateManagedModels,
} from '../../store/managed-rate-cards.ts';
import { findRateCard } from '../../store/rate-cards.ts';
import type { StoredModel, StoredTokenPrice } from '../../store/token-prices.ts';
import { addRatesIn } from '../rate-cards/add-rates.ts';
import type { RateTerms } from '../rate-cards/rate-terms.ts';
import { createManagedProducts } from './managed-objects.ts';

interface Deps {
  readonly clock: Clock;
}

/** The name that managed rates have in `created_by` where nobody asked for them. */
export const CATALOGUE_ACTOR = 'catalogue';

/** Rates of one call of the use case: each statement stays below the limit of parameters. */
const RATES_PER_CALL = 5_000;

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

/** Creates the products of models that the card does not have, and their first rates. Returns what was added. */
export async function joinModels(
  tx: Transaction,
  deps: Deps,
  card: ManagedCard,
  joining: readonly JoiningModel[],
  createdBy: string,
): Promise<ManagedModel[]> {
  const now = deps.clock.now();
  const added = joining.flatMap(({ model, markup }) =>
    [...pricesAt(model, now).values()].map((price) => ({ model, markup, price })),
  );
  const products = await createManagedProducts(
    tx,
    deps,
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
  await addManagedRates(tx, deps, card, rows, FIRST_RATES_START, createdBy);
  return rows;
}

/** Prices models of the card anew from an instant on: markup, provider's price, names and removal as given. */
export async function changeModels(
  tx: Transaction,
  deps: Deps,
  card: ManagedCard,
  changed: readonly ManagedModel[],
  change: { readonly startingAt: Instant; readonly createdBy: string },
): Promise<void> {
  await updateManagedModels(
    tx,
    changed.map((row) => ({ ...row, ratesFrom: change.startingAt })),
  );
  await addManagedRates(tx, deps, card, changed, change.startingAt, change.createdBy);
}

/** A rate for each name of each model. One that was removed is no longer entitled. */
export async function addManagedRates(
  tx: Transaction,
  deps: Deps,
  card: ManagedCard,
  models: readonly ManagedModel[],
  startingAt: Instant,
  createdBy: string,
): Promise<void> {
  const centsPerUnit = await unitOfCard(tx, card);
  const rates = models.flatMap((row) =>
    row.names.map(
      (name): RateTerms => ({
        productId: row.productId,
        pricingGroupValues: { model: name, provider: row.provider },
        billingFrequency: null,
        startingAt,
        endingBefore: null,
        entitled: !row.isRemoved,
        creditTypeId: card.customCreditTypeId,
        price: {
          rateType: 'FLAT',
          price: managedPrice(row.usdPerToken, row.markup, centsPerUnit),
          tiers: null,
          minimum: null,
          quantity: null,
          isProrated: null,
        },
        commitPrice: null,
      }),
    ),
  );
  for (let from = 0; from < rates.length; from += RATES_PER_CALL) {
    await addRatesIn(tx, deps, {
      rateCardId: card.rateCardId,
      rates: rates.slice(from, from + RATES_PER_CALL),
      pathOf: () => ['managedPricing'],
      createdBy,
    });
  }
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
