/**
 * Which customers have balances that contracts of other customers draw on: a parent shares balances with its children.
 */
import { sql } from 'drizzle-orm';
import { connectedGroups } from '../../core/connected-groups.ts';
import type { Database, Transaction } from '../base/database.ts';
import { contracts } from '../contracts/contracts.tables.ts';
import { commits } from './commits.tables.ts';

/**
 * For each customer, all customers that it shares balances with, over any number of hierarchies, itself included,
 * ascending.
 */
export type Families = ReadonlyMap<string, readonly string[]>;

/**
 * The families of these customers and of all that they share balances with. One query for customers that share none,
 * and one more for each step from a hierarchy to the next one. Not recursive: PostgreSQL estimates the cost of a
 * recursive query so high that it compiles it.
 */
export async function loadFamilies(
  db: Database | Transaction,
  customerIds: readonly string[],
): Promise<Families> {
  const known = new Set(customerIds);
  const links: (readonly [string, string])[] = [];
  // Terminates, because no customer is queried twice.
  for (let asked = [...known]; asked.length > 0; ) {
    const found = await loadLinks(db, asked);
    links.push(...found);
    asked = [...new Set(found.map(([, other]) => other))].filter((other) => !known.has(other));
    for (const other of asked) known.add(other);
  }
  return connectedGroups(known, links);
}

/** Pairs of one of the customers and another, one of which has a balance that a contract of the other may draw on. */
async function loadLinks(
  db: Database | Transaction,
  customerIds: readonly string[],
): Promise<(readonly [string, string])[]> {
  const ids = sql`${`{${customerIds.join(',')}}`}::uuid[]`;
  const mayDraw = sql`c.archived_at is null and c.customer_id <> m.customer_id and (m.child_access = 'ALL'
    or (m.child_access = 'CONTRACT_IDS' and c.id = any(m.child_contract_ids)))`;
  // Few contracts have a parent, so PostgreSQL should not search all balances for shared ones.
  const rows = await db.execute(sql`
    with children as materialized (
      select id, customer_id, parent_contract_id, archived_at from ${contracts}
      where customer_id = any(${ids}) and parent_contract_id is not null
    )
    select c.customer_id as asked, m.customer_id as other
    from children c join ${commits} m on m.contract_id = c.parent_contract_id
    where ${mayDraw}
    union
    select m.customer_id, c.customer_id
    from ${commits} m join ${contracts} c on c.parent_contract_id = m.contract_id
    where m.customer_id = any(${ids}) and m.child_access <> 'NONE' and ${mayDraw}`);
  return rows.map(({ asked, other }) => [String(asked), String(other)] as const);
}
