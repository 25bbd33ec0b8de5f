/** Creates a contract from explicit terms (docs/contracts.md). */
import type { StatementSchedule } from '../../core/catalogue.ts';
import type { Clock } from '../../core/clock.ts';
import { conflict, invalid, notFound, Refusal } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import { type Contract, insertContract } from '../../store/contracts.ts';
import { findCustomer } from '../../store/customers.ts';
import type { Database, Transaction } from '../../store/database.ts';
import { findRateCard, loadAliasAssignments, type RateCard } from '../../store/rate-cards.ts';
import { requireDeclaredCustomFields } from '../custom-fields.ts';
import { cardBehindAlias } from '../rate-cards/alias-schedule.ts';

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  /** Runs in the transaction that stores the contract: what it writes exists if and only if the contract does. */
  readonly onCreated: (tx: Transaction, contract: Contract) => Promise<void>;
}

export interface CreateContractInput {
  readonly customerId: string;
  readonly name: string | null;
  readonly rateCardId: string | null;
  /** Resolved as of `startingAt`, for the contract's whole life. Excludes `rateCardId`. */
  readonly rateCardAlias: string | null;
  readonly startingAt: Instant;
  readonly endingBefore: Instant | null;
  readonly statementSchedule: StatementSchedule;
  readonly netPaymentTermsDays: number | null;
  readonly uniquenessKey: string | null;
  readonly customFields: Readonly<Record<string, string>>;
  readonly createdBy: string;
}

/**
 * Refuses an unknown customer or rate card (`not_found`), terms that contradict each other (`invalid`) and
 * a uniqueness key that was used before (`conflict`); nothing is stored then.
 */
export async function createContract(deps: Deps, input: CreateContractInput): Promise<Contract> {
  requireDeclaredCustomFields('contract', input.customFields);
  checkDates(input);
  await requireActiveCustomer(deps, input.customerId);
  const rateCard = await resolveRateCard(deps, input);
  const contract: Contract = {
    id: newId(),
    customerId: input.customerId,
    name: input.name,
    rateCardId: rateCard?.id ?? null,
    startingAt: input.startingAt,
    endingBefore: input.endingBefore,
    statementSchedule: input.statementSchedule,
    netPaymentTermsDays: input.netPaymentTermsDays,
    uniquenessKey: input.uniquenessKey,
    createdAt: deps.clock.now(),
    createdBy: input.createdBy,
    archivedAt: null,
  };
  await deps.db.transaction(async (tx) => {
    if (!(await insertContract(tx, contract))) {
      throw conflict('This uniqueness key has already been used.');
    }
    await deps.onCreated(tx, contract);
  });
  return contract;
}

function checkDates({
  startingAt,
  endingBefore,
  statementSchedule: { day, anchor },
}: CreateContractInput): void {
  if (endingBefore !== null && endingBefore <= startingAt) {
    throw invalid('ending_before', 'must be after starting_at');
  }
  const field = 'usage_statement_schedule.billing_anchor_date';
  if (day === 'CUSTOM_DATE' && anchor === null) throw invalid(field, 'is required with day CUSTOM_DATE');
  if (day !== 'CUSTOM_DATE' && anchor !== null) throw invalid(field, 'is for day CUSTOM_DATE only');
}

async function requireActiveCustomer(deps: Deps, customerId: string): Promise<void> {
  const customer = await findCustomer(deps.db, customerId);
  if (customer === null) throw notFound('customer', customerId, 'CustomerNotFound');
  if (customer.archivedAt !== null) throw invalid('customer_id', `customer ${customerId} is archived`);
}

async function resolveRateCard(deps: Deps, input: CreateContractInput): Promise<RateCard | null> {
  const { rateCardId, rateCardAlias, startingAt } = input;
  if (rateCardId !== null && rateCardAlias !== null) {
    throw invalid('rate_card_alias', 'cannot be combined with rate_card_id');
  }
  if (rateCardId === null && rateCardAlias === null) return null;
  const field = rateCardAlias === null ? 'rate_card_id' : 'rate_card_alias';
  const id = rateCardId ?? (await cardOfAlias(deps, rateCardAlias ?? '', startingAt));
  const card = await findRateCard(deps.db, id);
  if (card === null) throw new Refusal('not_found', `${field}: rate card ${id} not found`);
  if (card.archivedAt !== null) {
    throw invalid(field, `rate card ${card.id} is archived and takes no new contracts`);
  }
  return card;
}

async function cardOfAlias(deps: Deps, alias: string, at: Instant): Promise<string> {
  const id = cardBehindAlias(await loadAliasAssignments(deps.db, [alias]), at);
  if (id !== null) return id;
  const text = `no rate card has the alias ${JSON.stringify(alias)} at ${formatInstant(at)}`;
  throw new Refusal('not_found', `rate_card_alias: ${text}`);
}
