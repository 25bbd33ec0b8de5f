/** The rate card of a new contract: named by id, or by an alias as of the contract's start. */
import { invalid, namesNothing, words } from '../../core/errors.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import { cardBehindAlias } from '../../rating/rates/alias-schedule.ts';
import type { Database, Transaction } from '../../store/base/database.ts';
import { findRateCard, loadAliasAssignments, type RateCard } from '../../store/rate-cards/rate-cards.ts';

export interface RateCardReference {
  readonly rateCardId: string | null;
  /** Excludes `rateCardId`. */
  readonly rateCardAlias: string | null;
}

/** Null if neither is given. Refuses an unknown card or alias (`not_found`), and an archived card (`invalid`). */
export async function resolveRateCard(
  db: Database | Transaction,
  { rateCardId, rateCardAlias }: RateCardReference,
  startingAt: Instant,
): Promise<RateCard | null> {
  if (rateCardId !== null && rateCardAlias !== null) {
    throw invalid(['rateCardAlias'], words`cannot be combined with ${['rateCardId']}`);
  }
  if (rateCardId === null && rateCardAlias === null) return null;
  const path = [rateCardAlias === null ? 'rateCardId' : 'rateCardAlias'];
  const id = rateCardId ?? (await cardOfAlias(db, rateCardAlias ?? '', startingAt));
  const card = await findRateCard(db, id);
  if (card === null) throw namesNothing(path, `rate card ${id} not found`);
  if (card.archivedAt !== null) {
    throw invalid(path, `rate card ${card.id} is archived and takes no new contracts`);
  }
  return card;
}

async function cardOfAlias(db: Database | Transaction, alias: string, at: Instant): Promise<string> {
  const id = cardBehindAlias(await loadAliasAssignments(db, [alias]), at);
  if (id !== null) return id;
  const text = `no rate card has the alias ${JSON.stringify(alias)} at ${formatInstant(at)}`;
  throw namesNothing(['rateCardAlias'], text);
}
