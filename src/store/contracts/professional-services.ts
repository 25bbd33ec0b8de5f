/** Professional services with the items that were requested for invoices. */
import { and, asc, eq, getTableColumns, not, sql } from 'drizzle-orm';
import { addToGroup } from '../../core/group-by.ts';
import { eachInChunks } from '../../core/in-chunks.ts';
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

/** Writes the items of an existing service: existing ones are kept, others added or removed. */
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
 * One statement, so that a request committed concurrently is read whole or not at all, even if its items belong to
 * several contracts and services. There may be thousands of rows: other work of the process runs while they become
 * items.
 */
async function loadItems(
  db: Database | Transaction,
  serviceIds: readonly string[],
): Promise<Map<string, RequestedItem[]>> {
  const byService = new Map<string, RequestedItem[]>();
  if (serviceIds.length === 0) return byService;
  const rows = await db.execute(sql`
    select * from ${requestedItems} where ${isOneOf(requestedItems.serviceId, serviceIds)}
    order by ${requestedItems.sequence}`);
  await eachInChunks(rows, (row) => {
    const { sequence: _, serviceId, ...item } = itemOf(row);
    addToGroup(byService, serviceId, item);
  });
  return byService;
}

const COLUMNS = Object.entries(getTableColumns(requestedItems));

/** A row in the form in which Drizzle would read it. */
function itemOf(row: Readonly<Record<string, unknown>>): typeof requestedItems.$inferSelect {
  const members = COLUMNS.map(([name, column]) => {
    const value = row[column.name];
    return [name, value === null ? null : column.mapFromDriverValue(value)];
  });
  return Object.fromEntries(members);
}
