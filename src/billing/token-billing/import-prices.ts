/** Brings prices into the catalogue. The same file twice changes nothing. */
import { invalid } from '../../core/errors.ts';
import { formatInstant } from '../../core/time.ts';
import type { PricedModel, TokenPrice } from '../../core/token-billing.ts';
import type { Transaction } from '../../store/base/database.ts';
import {
  insertModelAliases,
  insertTokenPrices,
  loadTokenModels,
  type ModelAlias,
  modelKey,
  type NewTokenPrice,
} from '../../store/token-billing/token-prices.ts';
import type { RowContext } from '../billing-context.ts';
import type { ModelOfFile } from './price-files.ts';
import { lockCatalogueForChange, syncManagedCards } from './sync-cards.ts';

export interface ImportedPrices {
  readonly models: number;
  /** Prices that the catalogue did not have. */
  readonly addedPrices: number;
  readonly addedAliases: number;
}

/**
 * Adds new prices, and lets new models join managed cards. A price that already applies is not added again. Refuses
 * (`invalid`) another price for an instant that has one, and an alias of another model.
 */
export async function importPrices(
  context: RowContext,
  models: readonly ModelOfFile[],
): Promise<ImportedPrices> {
  return context.db.transaction(async (tx) => {
    const imported = await importPricesIn(tx, context, models);
    if (imported.addedPrices + imported.addedAliases > 0) await syncManagedCards(tx, context);
    return imported;
  });
}

async function importPricesIn(
  tx: Transaction,
  { clock }: Pick<RowContext, 'clock'>,
  given: readonly ModelOfFile[],
): Promise<ImportedPrices> {
  await lockCatalogueForChange(tx);
  const known = await loadTokenModels(tx);
  const models = given.flatMap((model) => [model, ...underFormerNames(model, known)]);
  const recordedAt = clock.now();
  const prices: NewTokenPrice[] = [];
  const addedBefore = new Map<string, readonly TokenPrice[]>();
  const aliases = new Map<string, ModelAlias>();
  requireOneModelPerName([...known.values(), ...models]);
  for (const { provider, model, aliases: others, prices: listed } of models) {
    const stored = known.get(modelKey({ provider, model }));
    for (const alias of others) {
      const isNew = alias !== model && stored?.aliases.includes(alias) !== true;
      if (isNew) aliases.set(modelKey({ provider, model: alias }), { provider, alias, model });
    }
    // A file may have a model under two names of its provider.
    const before = addedBefore.get(modelKey({ provider, model })) ?? [];
    const added = newPrices(`${provider} ${model}`, [...(stored?.prices ?? []), ...before], listed);
    addedBefore.set(modelKey({ provider, model }), [...before, ...added]);
    prices.push(...added.map((price) => ({ ...price, provider, model, recordedAt })));
  }
  await insertTokenPrices(tx, prices);
  await insertModelAliases(tx, [...aliases.values()]);
  return { models: given.length, addedPrices: prices.length, addedAliases: aliases.size };
}

/** Refuses (`invalid`) an id or alias of two models of one provider. */
function requireOneModelPerName(models: readonly PricedModel[]): void {
  const modelOfName = new Map<string, string>();
  for (const { provider, model, aliases: others } of models) {
    for (const alias of [model, ...others]) {
      const name = modelKey({ provider, model: alias });
      const holder = modelOfName.get(name) ?? model;
      if (holder !== model) {
        throw invalid([], `${provider} ${alias} means ${holder} already, and cannot mean ${model} too`);
      }
      modelOfName.set(name, model);
    }
  }
}

/** Cards and events may have a model under the name that files wrote before the table of names: it stays up to date. */
function underFormerNames(
  { prices, former }: ModelOfFile,
  known: ReadonlyMap<string, PricedModel>,
): PricedModel[] {
  return former.filter((one) => known.has(modelKey(one))).map((one) => ({ ...one, prices }));
}

function newPrices(
  name: string,
  stored: readonly TokenPrice[],
  given: readonly TokenPrice[],
): readonly TokenPrice[] {
  const history = [...stored];
  const added: TokenPrice[] = [];
  for (const price of given.toSorted((a, b) => a.validFrom - b.validFrom)) {
    const before = history
      .filter(({ kind, validFrom }) => kind === price.kind && validFrom <= price.validFrom)
      .sort((a, b) => a.validFrom - b.validFrom)
      .at(-1);
    if (before?.usdPerToken.eq(price.usdPerToken) === true) continue;
    if (before?.validFrom === price.validFrom) {
      throw invalid(
        [],
        `${name} has another price of ${price.kind} from ${formatInstant(price.validFrom)} on: give the new one a later instant`,
      );
    }
    added.push(price);
    history.push(price);
  }
  return added;
}
