/** Which customers have balances that contracts of other customers draw on: those that a parent shares with its children. */
import { sql } from 'drizzle-orm';
import { connectedGroups } from '../core/connected-groups.ts';
import type { Database, Transaction } from './database.ts';
import { commits } from './schema/commits.ts';
import { contracts } from './schema/contracts.ts';

/** By customer: all with whom it shares balances, over any number of hierarchies, itself included, ascending. */
export type Families = ReadonlyMap<string, readonly string[]>;

/** Of these customers and of all that they share balances with. One query. */
export async function loadFamilies(
  db: Database | Transaction,
  customerIds: readonly string[],
): Promise<Families> {
  if (customerIds.length === 0) return new Map();
  const shares = sql`(m.child_access = 'ALL'
    or (m.child_access = 'CONTRACT_IDS' and c.id = any(m.child_contract_ids))) and c.archived_at is null`;
  const links = await db.execute(sql`
    with recursive reached (customer_id, through) as (
      select id, id from unnest(${`{${customerIds.join(',')}}`}::uuid[]) as id
      union
      select other.customer_id, reached.customer_id
      from reached cross join lateral (
        select m.customer_id
        from ${contracts} c join ${commits} m on m.contract_id = c.parent_contract_id
        where c.customer_id = reached.customer_id and ${shares}
        union all
        select c.customer_id
        from ${commits} m join ${contracts} c on c.parent_contract_id = m.contract_id
        where m.customer_id = reached.customer_id and m.child_access <> 'NONE' and ${shares}
      ) other
    )
    select customer_id, through from reached where customer_id <> through`);
  const connected = links.map(({ customer_id, through }) => [String(customer_id), String(through)]);
  return connectedGroups(customerIds, connected);
}
