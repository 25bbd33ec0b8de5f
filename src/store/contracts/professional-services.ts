/** Professional services with the items that were requested for invoices. */
import { and, asc, eq, gt, not } from 'drizzle-orm';
import { addToGroup } from '../../core/group-by.ts';
import type { ProfessionalService, RequestedItem } from '../../core/terms/professional-services.ts';
import type { Database, Transaction } from '../base/database.ts';
import { isOneOf } from '../base/is-one-of.ts';
import { rowsPerInsert } from '../base/rows-per-insert.ts';
import { professionalServices, requestedItems } from './professional-services.tables.ts';

/** Stores services in their order. */
export async function insertProfessionalServices(
  tx: Transaction,
  added: readonly ProfessionalService[],
): Promise<void> {
  const rows = added.map(({ items: _, ...service }) => service);
  for (const chunk of rowsPerInsert(rows)) await tx.insert(professionalServices).values(chunk);
  for (const { id, items } of added) await insertItems(tx, id, items);
}

/** Writes the items of a service that exists: those it has are kept, others added or removed. */
export async function updateProfessionalService(
  tx: Transaction,
  before: ProfessionalService,
  { id, items }: ProfessionalService,
): Promise<void> {
  await tx.delete(requestedItems).where(
    and(
      eq(requestedItems.serviceId, id),
      not(
        isOneOf(
          requestedItems.id,
          items.map((item) => item.id),
        ),
      ),
    ),
  );
  const kept = new Set(before.items.map((item) => item.id));
  await insertItems(
    tx,
    id,
    items.filter((item) => !kept.has(item.id)),
  );
}

async function insertItems(
  tx: Transaction,
  serviceId: string,
  items: readonly RequestedItem[],
): Promise<void> {
  const rows = items.map((item) => ({ ...item, serviceId }));
  for (const chunk of rowsPerInsert(rows)) await tx.insert(requestedItems).values(chunk);
}

/** The services of the contracts in the order of addition. */
export async function loadProfessionalServices(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<ProfessionalService[]> {
  if (contractIds.length === 0) return [];
  const rows = await db
    .select()
    .from(professionalServices)
    .where(isOneOf(professionalServices.contractId, contractIds))
    .orderBy(asc(professionalServices.sequence));
  const items = await loadItems(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map(({ sequence: _, ...row }) => ({ ...row, items: items.get(row.id) ?? [] }));
}

/**
 * Items read by one statement: other work of the process waits while their rows are read. Those of one request are
 * committed together, and after all that their contract had: its lock is held. So no statement has a part of a request
 * that the one before it did not have.
 */
const ITEMS_PER_PART = 1_000;

async function loadItems(
  db: Database | Transaction,
  serviceIds: readonly string[],
): Promise<Map<string, RequestedItem[]>> {
  const byService = new Map<string, RequestedItem[]>();
  if (serviceIds.length === 0) return byService;
  for (let after = 0; ; ) {
    const rows = await db
      .select()
      .from(requestedItems)
      .where(and(isOneOf(requestedItems.serviceId, serviceIds), gt(requestedItems.sequence, after)))
      .orderBy(asc(requestedItems.sequence))
      .limit(ITEMS_PER_PART);
    for (const { sequence, serviceId, ...item } of rows) {
      addToGroup(byService, serviceId, item);
      after = sequence;
    }
    if (rows.length < ITEMS_PER_PART) return byService;
  }
}
