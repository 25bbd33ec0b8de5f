/** Contract headers. */
import { and, asc, gt, gte, inArray, isNull, lte, or } from 'drizzle-orm';
import type { StatementSchedule } from '../core/catalogue.ts';
import { isUuid } from '../core/ids.ts';
import type { Instant } from '../core/time.ts';
import type { Database, Transaction } from './database.ts';
import { contracts } from './schema/contracts.ts';

export interface Contract {
  readonly id: string;
  readonly customerId: string;
  readonly name: string | null;
  /** Null: the contract has no usage lines. */
  readonly rateCardId: string | null;
  readonly startingAt: Instant;
  /** Exclusive; null while the contract has no end. */
  readonly endingBefore: Instant | null;
  readonly statementSchedule: StatementSchedule;
  readonly netPaymentTermsDays: number | null;
  readonly uniquenessKey: string | null;
  readonly createdAt: Instant;
  readonly createdBy: string;
  readonly archivedAt: Instant | null;
}

/**
 * Stores a contract. Returns false, and stores nothing, where its uniqueness key has been used before;
 * of two transactions with one key the second waits for the first and then gets false.
 */
export async function insertContract(tx: Transaction, contract: Contract): Promise<boolean> {
  const rows = await tx
    .insert(contracts)
    .values(toRow(contract))
    .onConflictDoNothing({ target: contracts.uniquenessKey })
    .returning({ id: contracts.id });
  return rows.length > 0;
}

/** The contract, archived or not; null where the id is unknown or not a UUID. */
export async function findContract(db: Database | Transaction, id: string): Promise<Contract | null> {
  if (!isUuid(id)) return null;
  return (await loadContracts(db, { ids: [id], includeArchived: true }))[0] ?? null;
}

export interface ContractFilter {
  readonly ids?: readonly string[];
  readonly customerIds?: readonly string[];
  readonly includeArchived?: boolean;
  /** Only contracts in force at this instant. */
  readonly coveringDate?: Instant;
  /** Only contracts that start at or after this instant. */
  readonly startingFrom?: Instant;
}

/** The contracts that pass all given conditions, by customer, start and id. Archived ones only if asked for. */
export async function loadContracts(db: Database | Transaction, filter: ContractFilter): Promise<Contract[]> {
  const { ids, customerIds, includeArchived = false, coveringDate, startingFrom } = filter;
  if (ids?.length === 0 || customerIds?.length === 0) return [];
  const rows = await db
    .select()
    .from(contracts)
    .where(
      and(
        ids === undefined ? undefined : inArray(contracts.id, [...ids]),
        customerIds === undefined ? undefined : inArray(contracts.customerId, [...customerIds]),
        includeArchived ? undefined : isNull(contracts.archivedAt),
        coveringDate === undefined ? undefined : inForceAt(coveringDate),
        startingFrom === undefined ? undefined : gte(contracts.startingAt, startingFrom),
      ),
    )
    .orderBy(asc(contracts.customerId), asc(contracts.startingAt), asc(contracts.id));
  return rows.map(fromRow);
}

function inForceAt(at: Instant) {
  return and(
    lte(contracts.startingAt, at),
    or(isNull(contracts.endingBefore), gt(contracts.endingBefore, at)),
  );
}

function toRow(contract: Contract): typeof contracts.$inferInsert {
  const { statementSchedule, ...rest } = contract;
  return {
    ...rest,
    statementFrequency: statementSchedule.frequency,
    statementDay: statementSchedule.day,
    statementAnchor: statementSchedule.anchor,
  };
}

function fromRow(row: typeof contracts.$inferSelect): Contract {
  return {
    id: row.id,
    customerId: row.customerId,
    name: row.name,
    rateCardId: row.rateCardId,
    startingAt: row.startingAt,
    endingBefore: row.endingBefore,
    statementSchedule: {
      frequency: row.statementFrequency,
      day: row.statementDay,
      anchor: row.statementAnchor,
    },
    netPaymentTermsDays: row.netPaymentTermsDays,
    uniquenessKey: row.uniquenessKey,
    createdAt: row.createdAt,
    createdBy: row.createdBy,
    archivedAt: row.archivedAt,
  };
}
