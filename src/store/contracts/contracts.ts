/** Contract headers. Their terms are in separate modules; contract-terms.ts reads and writes them together. */
import { and, asc, eq, gt, gte, inArray, isNull, lte, or, sql } from 'drizzle-orm';
import { isUuid } from '../../core/ids.ts';
import type { Contract } from '../../core/terms/contract.ts';
import type { Instant } from '../../core/time.ts';
import { builtOnce, placeholdersOf } from '../base/built-once.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { contracts } from './contracts.tables.ts';

export type { Contract } from '../../core/terms/contract.ts';

/**
 * Stores a contract. Returns false, and stores nothing, if its uniqueness key has been used before. If two transactions
 * use one key, the second waits for the first and then gets false.
 */
export async function insertContract(tx: Transaction, contract: Contract): Promise<boolean> {
  const rows = await addContract(tx, toRow(contract));
  return rows.length > 0;
}

const addContract = builtOnce((db) =>
  db
    .insert(contracts)
    .values(placeholdersOf(contracts))
    .onConflictDoNothing({ target: contracts.uniquenessKey })
    .returning({ id: contracts.id })
    .prepare(''),
);

/** Whether the customer has at least this many contracts that are not archived. */
export async function hasContracts(tx: Transaction, customerId: string, count: number): Promise<boolean> {
  const [last] = await contractAtPlace(tx, { customerId, place: count - 1 });
  return last !== undefined;
}

const contractAtPlace = builtOnce((db) =>
  db
    .select({ id: contracts.id })
    .from(contracts)
    .where(and(eq(contracts.customerId, sql.placeholder('customerId')), isNull(contracts.archivedAt)))
    .offset(sql.placeholder('place'))
    .limit(1)
    .prepare(''),
);

/** The contract that was created with the uniqueness key. */
export async function contractWithKey(db: Database | Transaction, key: string): Promise<string | null> {
  const [row] = await db.select({ id: contracts.id }).from(contracts).where(eq(contracts.uniquenessKey, key));
  return row?.id ?? null;
}

/** Writes the header of a contract that exists. */
export async function updateContract(tx: Transaction, contract: Contract): Promise<void> {
  await tx.update(contracts).set(toRow(contract)).where(eq(contracts.id, contract.id));
}

/** The contract, archived or not; null if the id is unknown or not a UUID. */
export async function findContract(db: Database | Transaction, id: string): Promise<Contract | null> {
  if (!isUuid(id)) return null;
  return (await loadContracts(db, { ids: [id], includeArchived: true }))[0] ?? null;
}

/** Locks a contract until the transaction ends: changes of one contract follow one another. */
export async function lockContract(tx: Transaction, id: string): Promise<Contract | null> {
  if (!isUuid(id)) return null;
  const rows = await tx.select().from(contracts).where(eq(contracts.id, id)).for('no key update');
  return rows[0] === undefined ? null : fromRow(rows[0]);
}

/**
 * Locks a customer's contracts that are not archived until the transaction ends: at most `limit` of them, and with
 * `billingConfigurationIds` only those with one of these configurations. They are locked by start, as renewals go
 * from the older to the newer contract, so that transactions that lock several contracts cannot deadlock.
 */
export async function lockContractsOf(
  tx: Transaction,
  customerId: string,
  filter: { readonly billingConfigurationIds?: readonly string[]; readonly limit: number },
): Promise<Contract[]> {
  const { billingConfigurationIds, limit } = filter;
  if (billingConfigurationIds?.length === 0) return [];
  const rows = await tx
    .select()
    .from(contracts)
    .where(
      and(
        eq(contracts.customerId, customerId),
        isNull(contracts.archivedAt),
        billingConfigurationIds === undefined
          ? undefined
          : inArray(contracts.billingConfigurationId, [...billingConfigurationIds]),
      ),
    )
    .orderBy(asc(contracts.startingAt), asc(contracts.createdAt), asc(contracts.id))
    .limit(limit)
    .for('no key update');
  return rows.map(fromRow);
}

export interface ContractFilter {
  readonly ids?: readonly string[];
  readonly customerIds?: readonly string[];
  /** Only children of these contracts. */
  readonly parentIds?: readonly string[];
  readonly includeArchived?: boolean;
  /** Only contracts in force at this instant. */
  readonly coveringDate?: Instant;
  /** Only contracts that start at or after this instant. */
  readonly startingFrom?: Instant;
}

/** The contracts that pass all given conditions, by customer, start and id. Archived ones only if asked for. */
export async function loadContracts(db: Database | Transaction, filter: ContractFilter): Promise<Contract[]> {
  const { ids, customerIds, parentIds, includeArchived = false, coveringDate, startingFrom } = filter;
  if (ids?.length === 0 || customerIds?.length === 0 || parentIds?.length === 0) return [];
  const rows = await db
    .select()
    .from(contracts)
    .where(
      and(
        ids === undefined ? undefined : isOneOf(contracts.id, ids),
        customerIds === undefined ? undefined : isOneOf(contracts.customerId, customerIds),
        parentIds === undefined ? undefined : inArray(contracts.parentContractId, [...parentIds]),
        includeArchived ? undefined : isNull(contracts.archivedAt),
        coveringDate === undefined ? undefined : inForceAt(coveringDate),
        startingFrom === undefined ? undefined : gte(contracts.startingAt, startingFrom),
      ),
    )
    .orderBy(asc(contracts.customerId), asc(contracts.startingAt), asc(contracts.id));
  return rows.map(fromRow);
}

/** Contracts that are not archived, by id, starting after `after`. */
export async function listContracts(
  db: Database | Transaction,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<Contract[]> {
  const rows = await db
    .select()
    .from(contracts)
    .where(and(isNull(contracts.archivedAt), after === null ? undefined : gt(contracts.id, after)))
    .orderBy(asc(contracts.id))
    .limit(limit);
  return rows.map(fromRow);
}

/** Customers with active contracts on a rate card, by id, starting after `after`. */
export async function customersOfRateCard(
  db: Database | Transaction,
  rateCardId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<string[]> {
  const rows = await db
    .selectDistinct({ customerId: contracts.customerId })
    .from(contracts)
    .where(
      and(
        eq(contracts.rateCardId, rateCardId),
        isNull(contracts.archivedAt),
        after === null ? undefined : gt(contracts.customerId, after),
      ),
    )
    .orderBy(asc(contracts.customerId))
    .limit(limit);
  return rows.map(({ customerId }) => customerId);
}

/** A condition on contracts. */
export function inForceAt(at: Instant) {
  return and(
    lte(contracts.startingAt, at),
    or(isNull(contracts.endingBefore), gt(contracts.endingBefore, at)),
  );
}

function toRow(contract: Contract): typeof contracts.$inferInsert {
  const { statementSchedule, parent, spendLimit, ...rest } = contract;
  return {
    ...rest,
    statementFrequency: statementSchedule.frequency,
    statementDay: statementSchedule.day,
    statementAnchor: statementSchedule.anchor,
    spendLimitAmount: spendLimit?.amount ?? null,
    spendLimitCreditTypeId: spendLimit?.creditTypeId ?? null,
    parentContractId: parent?.contractId ?? null,
    parentCustomerId: parent?.customerId ?? null,
    payer: parent?.payer ?? null,
    usageStatementBehavior: parent?.usageStatementBehavior ?? null,
  };
}

function fromRow(row: typeof contracts.$inferSelect): Contract {
  const { statementFrequency, statementDay, statementAnchor, ...others } = row;
  const { parentContractId, parentCustomerId, payer, usageStatementBehavior, ...header } = others;
  const { spendLimitAmount, spendLimitCreditTypeId, ...rest } = header;
  return {
    ...rest,
    statementSchedule: { frequency: statementFrequency, day: statementDay, anchor: statementAnchor },
    spendLimit:
      spendLimitAmount === null ? null : { amount: spendLimitAmount, creditTypeId: spendLimitCreditTypeId },
    parent:
      parentContractId === null || parentCustomerId === null
        ? null
        : { contractId: parentContractId, customerId: parentCustomerId, payer, usageStatementBehavior },
  };
}
