/**
 * Finds the reasons that tokens have no price on the managed cards of their customer
 * (docs/explanation/token-billing.md, "Without a price").
 */
import { groupBy } from '../../core/group-by.ts';
import { modelName, providerName } from '../../core/model-providers.ts';
import { contains, type Instant } from '../../core/time.ts';
import type { TokenKind } from '../../core/token-billing.ts';
import type { Database } from '../../store/base/database.ts';
import { type Contract, loadContracts } from '../../store/contracts/contracts.ts';
import { ownersOfRefs, type UsageOwnerName } from '../../store/customers/usage-owners.ts';
import {
  loadManagedCards,
  loadManagedModels,
  type ManagedModel,
} from '../../store/token-billing/managed-rate-cards.ts';
import { loadTokenModels, type StoredModel } from '../../store/token-billing/token-prices.ts';
import { namesOf } from './card-rates.ts';

/** Tokens of one model that a customer used. */
export interface TokenUse {
  /** Id or ingest alias, as sent. */
  readonly customerRef: string;
  /** Empty: not given. */
  readonly provider: string;
  readonly model: string;
  readonly kinds: readonly TokenKind[];
  /** The contract that is active at this instant decides. */
  readonly at: Instant;
}

/** Null if every kind of tokens has a price. In the order of the uses. */
export async function unpricedReasons(db: Database, uses: readonly TokenUse[]): Promise<(string | null)[]> {
  if (uses.length === 0) return [];
  const owners = await ownersOfRefs(db, [...new Set(uses.map(({ customerRef }) => customerRef))]);
  const customerIds = [...new Set([...owners.values()].map(({ id }) => id))];
  const contracts = customerIds.length === 0 ? [] : await loadContracts(db, { customerIds });
  const cardIds = new Set(contracts.flatMap(({ rateCardId }) => rateCardId ?? []));
  const managed = (await loadManagedCards(db)).filter(({ rateCardId }) => cardIds.has(rateCardId));
  const managedIds = managed.map(({ rateCardId }) => rateCardId);
  const known: Known = {
    owners,
    contracts: groupBy(contracts, ({ customerId }) => customerId),
    models: groupBy(await loadManagedModels(db, managedIds), ({ rateCardId }) => rateCardId),
    managed: new Set(managedIds),
    catalogue: new Set(
      [...(await loadTokenModels(db, [...new Set(uses.map(({ provider }) => provider))])).values()].flatMap(
        namedKeys,
      ),
    ),
  };
  return uses.map((use) => reasonOf(use, known));
}

interface Known {
  readonly owners: ReadonlyMap<string, UsageOwnerName>;
  readonly contracts: ReadonlyMap<string, readonly Contract[]>;
  readonly models: ReadonlyMap<string, readonly ManagedModel[]>;
  readonly managed: ReadonlySet<string>;
  /** Every id of a model of the catalogue, with its provider. */
  readonly catalogue: ReadonlySet<string>;
}

function namedKeys(model: StoredModel): string[] {
  return namesOf(model).map((name) => nameKey(model.provider, name));
}

function nameKey(provider: string, name: string): string {
  return JSON.stringify([provider, name]);
}

function reasonOf(use: TokenUse, known: Known): string | null {
  const { customerRef, provider, model, kinds, at } = use;
  if (provider === '' || model === '') return `the event has no ${provider === '' ? 'provider' : 'model'}`;
  if (kinds.length === 0) return 'the event has no number of tokens';
  const owner = known.owners.get(customerRef);
  if (owner === undefined) {
    return `no customer has ${JSON.stringify(customerRef)} as its id or as an ingest alias`;
  }
  const cards = (known.contracts.get(owner.id) ?? []).flatMap(({ rateCardId, startingAt, endingBefore }) =>
    rateCardId !== null &&
    known.managed.has(rateCardId) &&
    contains({ start: startingAt, end: endingBefore }, at)
      ? [rateCardId]
      : [],
  );
  if (cards.length === 0) return 'the customer has no contract on a managed rate card at that time';
  const missing = cards.map((card) => missingKinds(use, known.models.get(card) ?? []));
  if (missing.some((one) => one.length === 0)) return null;
  const [first = []] = missing;
  if (first.length < kinds.length) {
    return `${model} of ${provider} has no price of ${first.join(', ')} on the rate card`;
  }
  return known.catalogue.has(nameKey(provider, model))
    ? `${model} of ${provider} is not on the rate card`
    : `${model} of ${provider} is not in the catalogue${otherName(use)}`;
}

/** Events of callers are stored as they were sent: with another name of the provider or the model they have no price. */
function otherName({ provider, model }: TokenUse): string {
  const named = [providerName(provider), modelName(model)];
  return named[0] === provider && named[1] === model ? '' : `, which calls it ${named[1]} of ${named[0]}`;
}

function missingKinds({ provider, model, kinds }: TokenUse, onCard: readonly ManagedModel[]): TokenKind[] {
  const own = onCard.filter(
    (row) => !row.isRemoved && row.provider === provider && row.names.includes(model),
  );
  return kinds.filter((kind) => !own.some((row) => row.kind === kind));
}
