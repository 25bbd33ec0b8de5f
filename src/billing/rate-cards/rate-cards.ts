/** Use cases of rate cards: price lists that contracts refer to. Rates are in add-rates.ts and read-rates.ts. */
import { type CreditType, isFiat, USD_CENTS } from '../../core/credit-types.ts';
import { ZERO } from '../../core/decimal.ts';
import { assert, invalid, notFound, words } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import { newId } from '../../core/ids.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import { effectiveAssignments } from '../../rating/rates/alias-schedule.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import {
  type AliasAssignment,
  aliasNamesOfCards,
  type CreditTypeConversion,
  findRateCard,
  insertConversions,
  insertRateCard,
  listRateCards as listStoredRateCards,
  loadAliasAssignments,
  lockRateCard,
  type NewAlias,
  type RateCard,
  replaceAliases,
  updateRateCard as updateStoredRateCard,
} from '../../store/rate-cards/rate-cards.ts';
import type { RowContext } from '../billing-context.ts';
import { storeCustomFields } from '../custom-fields/store-fields.ts';
import { type WithCustomFields, withCustomFields } from '../custom-fields/with-fields.ts';

export interface CreateRateCardInput {
  readonly name: string;
  readonly description: string | null;
  /** Null: US cents. */
  readonly fiatCreditTypeId: string | null;
  readonly conversions: readonly CreditTypeConversion[];
  readonly aliases: readonly NewAlias[];
  readonly customFields: Readonly<Record<string, string>>;
  readonly createdBy: string;
}

/** A rate card with everything that a reader sees of it. */
export interface RateCardView extends WithCustomFields<RateCard> {
  readonly fiatCreditType: CreditType;
  /** The effective assignments of its aliases. */
  readonly aliases: readonly AliasAssignment[];
  /** The names of the units that it converts. */
  readonly customCreditTypes: ReadonlyMap<string, CreditType>;
}

/**
 * Refuses unknown pricing units, impossible ranges and undeclared custom fields (`invalid`), and the value of
 * a custom field that another card holds (`conflict`). An alias held by another card is taken over.
 */
export async function createRateCard(context: RowContext, input: CreateRateCardInput): Promise<RateCard> {
  return context.db.transaction((tx) => createRateCardIn(tx, context, input));
}

/** `createRateCard` within a transaction. */
export async function createRateCardIn(
  tx: Transaction,
  context: Pick<RowContext, 'clock'>,
  input: CreateRateCardInput,
): Promise<RateCard> {
  const fiatCreditTypeId = input.fiatCreditTypeId ?? USD_CENTS.id;
  if (!isFiat(fiatCreditTypeId)) {
    throw invalid(['fiatCreditTypeId'], `${fiatCreditTypeId} is not a fiat currency`);
  }
  checkAliases(input.aliases);
  await checkConversions(tx, input.conversions, [], 'conversions');
  const card: RateCard = {
    id: newId(),
    name: input.name,
    description: input.description,
    fiatCreditTypeId,
    conversions: input.conversions,
    createdAt: context.clock.now(),
    createdBy: input.createdBy,
    archivedAt: null,
  };
  await insertRateCard(tx, card, input.aliases);
  await storeCustomFields(tx, [
    { entity: 'rate_card', entityId: card.id, fields: input.customFields, path: [] },
  ]);
  return card;
}

export interface UpdateRateCardInput {
  readonly rateCardId: string;
  readonly name?: string;
  readonly description?: string | null;
  /** All assignments of the card from now on. */
  readonly aliases?: readonly NewAlias[];
  readonly addConversions: readonly CreditTypeConversion[];
}

/**
 * Changes the given members; contracts keep their card. Refuses an unknown card (`not_found`), impossible ranges, and
 * conversions of unknown units or of units that have one (`invalid`).
 */
export async function updateRateCard(context: RowContext, input: UpdateRateCardInput): Promise<void> {
  await context.db.transaction((tx) => updateRateCardIn(tx, context, input));
}

/** `updateRateCard` within a transaction. */
export async function updateRateCardIn(
  tx: Transaction,
  { clock }: Pick<RowContext, 'clock'>,
  { rateCardId, name, description, aliases, addConversions }: UpdateRateCardInput,
): Promise<void> {
  if (aliases !== undefined) checkAliases(aliases);
  const card = await lockRateCard(tx, rateCardId);
  if (card === null) throw notFound('rate card', rateCardId);
  await checkConversions(tx, addConversions, card.conversions, 'addConversions');
  await updateStoredRateCard(tx, card.id, {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
  });
  await insertConversions(tx, card.id, addConversions);
  if (aliases !== undefined) await replaceAliases(tx, card.id, aliases, clock.now());
}

/**
 * Archives a card: new contracts cannot use it, existing ones continue. Idempotent. Refuses an unknown card
 * (`not_found`).
 */
export async function archiveRateCard(context: RowContext, id: string): Promise<void> {
  await context.db.transaction(async (tx) => {
    const card = await lockRateCard(tx, id);
    if (card === null) throw notFound('rate card', id);
    if (card.archivedAt === null) await updateStoredRateCard(tx, id, { archivedAt: context.clock.now() });
  });
}

/** The rate card, archived or not. Refuses an unknown one. */
export async function getRateCard(context: Pick<RowContext, 'db'>, id: string): Promise<RateCardView> {
  const card = await findRateCard(context.db, id);
  const [view] = card === null ? [] : await viewsOf(context.db, [card]);
  if (view === undefined) throw notFound('rate card', id);
  return view;
}

export async function listRateCards(
  context: Pick<RowContext, 'db'>,
  page: PageRequest,
): Promise<Page<RateCardView>> {
  const { rows, next } = await listStoredRateCards(context.db, page);
  return { rows: await viewsOf(context.db, rows), next };
}

/** Refuses (`invalid`) an alias that ends before it begins. */
export function checkAliases(aliases: readonly Pick<NewAlias, 'startingAt' | 'endingBefore'>[]): void {
  for (const [index, { startingAt, endingBefore }] of aliases.entries()) {
    if (startingAt !== null && endingBefore !== null && endingBefore <= startingAt) {
      throw invalid(['aliases', index, 'endingBefore'], words`must be after ${['startingAt']}`);
    }
  }
}

/** `existing` are the card's own; `list` is their path in the request. */
async function checkConversions(
  db: Database | Transaction,
  conversions: readonly CreditTypeConversion[],
  existing: readonly CreditTypeConversion[],
  list: 'conversions' | 'addConversions',
): Promise<void> {
  const ids = conversions.map((conversion) => conversion.customCreditTypeId);
  const known = await loadCreditTypes(db, ids);
  const converted = new Set(existing.map((conversion) => conversion.customCreditTypeId));
  for (const [index, { customCreditTypeId, fiatPerCustomCredit }] of conversions.entries()) {
    const field = [list, index];
    if (isFiat(customCreditTypeId) || !known.has(customCreditTypeId)) {
      throw invalid([...field, 'customCreditTypeId'], `${customCreditTypeId} is not a custom pricing unit`);
    }
    if (converted.has(customCreditTypeId)) {
      throw invalid(
        [...field, 'customCreditTypeId'],
        `${customCreditTypeId} has a conversion already, which cannot change`,
      );
    }
    converted.add(customCreditTypeId);
    // 0 is the price of a free plan.
    if (fiatPerCustomCredit.lt(ZERO)) {
      throw invalid([...field, 'fiatPerCustomCredit'], 'must not be negative');
    }
  }
}

async function viewsOf(db: Database, cards: readonly RateCard[]): Promise<RateCardView[]> {
  const names = await aliasNamesOfCards(
    db,
    cards.map((card) => card.id),
  );
  const assignments = groupBy(await loadAliasAssignments(db, names), (assignment) => assignment.name);
  const aliases = groupBy(
    [...assignments.values()].flatMap(effectiveAssignments),
    (assignment) => assignment.rateCardId,
  );
  const creditTypes = await loadCreditTypes(
    db,
    cards.flatMap((card) => [
      card.fiatCreditTypeId,
      ...card.conversions.map((conversion) => conversion.customCreditTypeId),
    ]),
  );
  const shown = await withCustomFields(db, cards);
  return shown.map((card) => {
    const fiatCreditType = creditTypes.get(card.fiatCreditTypeId);
    assert(fiatCreditType !== undefined, `rate card ${card.id} has a known currency`);
    const own = (aliases.get(card.id) ?? []).toSorted((a, b) => a.sequence - b.sequence);
    return { ...card, fiatCreditType, aliases: own, customCreditTypes: creditTypes };
  });
}
