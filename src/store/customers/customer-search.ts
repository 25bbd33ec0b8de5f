/**
 * Finds customers by a text: by any part of their name, or by the beginning of an alias or of a custom field's value,
 * in any letter case; or by their whole id or CRM account.
 *
 * Each search uses an index (schema/customers.ts, schema/custom-fields.ts), so it reads only its matches. A name is
 * found by its parts of up to three characters, and then compared.
 */
import { type AnyColumn, and, asc, eq, type SQL, sql } from 'drizzle-orm';
import { isUuid } from '../../core/ids.ts';
import { cutPage, type KeysetPosition, type Page, type PageRequest } from '../../core/paging.ts';
import { formatInstant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { customFieldKeys, customFieldValues } from '../custom-fields/custom-fields.tables.ts';
import { customers, ingestAliases } from './customers.tables.ts';
import { type Customer, type CustomerFilter, filterConditions, withAliases } from './customers.ts';

/** How well a text matches: 0 if a value equals it, 1 if a value begins with it, 2 if a name contains it. */
const RANKS = { whole: 0, beginning: 1, part: 2 } as const;

/** Bits per character in the number that encodes a part of a name (`customer_name_parts` in drizzle/). */
const BITS_OF_CHARACTER = 21;

export interface FoundPosition extends KeysetPosition {
  /** One of `RANKS`. */
  readonly rank: number;
}

/** The best matches first, then by creation and id. */
export async function searchCustomers(
  db: Database | Transaction,
  { text, ...filter }: CustomerFilter & { readonly text: string },
  { after, limit }: PageRequest<FoundPosition>,
): Promise<Page<Customer, FoundPosition>> {
  const rank = sql<number>`best.rank`;
  const found = await db
    .select({ customer: customers, rank })
    .from(customers)
    .innerJoin(sql`(${bestFits(text)}) as best`, eq(customers.id, sql`best.id`))
    .where(and(...filterConditions(db, filter), isBehind(after)))
    .orderBy(asc(rank), asc(customers.createdAt), asc(customers.id))
    .limit(limit + 1);
  const page = cutPage(found, limit, (row) => ({
    rank: row.rank,
    at: row.customer.createdAt,
    id: row.customer.id,
  }));
  const rows = page.rows.map(({ customer }) => customer);
  return { rows: await withAliases(db, rows), next: page.next };
}

/** The ids of matches, each with its best rank. */
function bestFits(text: string): SQL {
  return sql`with asked as (select lower(${text}::text) as whole), found as (${waysToFind(text)})
    select id, min(rank) as rank from found group by id`;
}

function waysToFind(text: string): SQL {
  const ids = `{${isUuid(text) ? text : ''}}`;
  const ways = [
    sql`select ${customers.id} as id, ${RANKS.whole}::int as rank from ${customers} where ${customers.id} = any(${ids}::uuid[])`,
    sql`select ${customers.id}, ${RANKS.whole}::int from ${customers} where ${customers.crmAccountId} = ${text}`,
    byName(),
    sql`select ${ingestAliases.customerId}, ${rankOf(ingestAliases.alias)} from ${ingestAliases}, asked
      where ${begins(ingestAliases.alias)}`,
    sql`select ${customFieldValues.entityId}, ${rankOf(customFieldValues.value)} from ${customFieldValues}, asked
      where ${customFieldValues.keyId} in (select ${customFieldKeys.id} from ${customFieldKeys}
        where ${customFieldKeys.entity} = 'customer' and ${customFieldKeys.removedAt} is null)
      and ${begins(customFieldValues.value)}`,
  ];
  return sql.join(ways, sql` union all `);
}

/** For a longer text only parts of three characters are queried: they are rarer, and the name is compared anyway. */
function byName(): SQL {
  const parts = sql`array(select part from asked, unnest(customer_name_parts(whole)) as part
    where part >= 1::bigint << ${BITS_OF_CHARACTER}::int * (least(3, length(whole)) - 1))`;
  return sql`select ${customers.id}, ${rankOf(customers.name)} from ${customers}, asked
    where customer_name_parts(${customers.name}) @> ${parts} and position(whole in lower(${customers.name})) > 0`;
}

function rankOf(column: AnyColumn): SQL {
  return sql`case when lower(${column}) = whole then ${RANKS.whole}::int
    when starts_with(lower(${column}), whole) then ${RANKS.beginning}::int else ${RANKS.part}::int end`;
}

/** A range of the index: no text that begins with `whole` sorts after `whole` with the highest character. */
function begins(column: AnyColumn): SQL {
  const folded = sql`(lower(${column})) collate "C"`;
  return sql`${folded} >= whole and ${folded} < whole || U&'\\+10FFFF'`;
}

function isBehind(after: FoundPosition | null): SQL | undefined {
  if (after === null) return undefined;
  const { rank, at, id } = after;
  return sql`(best.rank, ${customers.createdAt}, ${customers.id}) > (${rank}::int, ${formatInstant(at)}::timestamptz, ${id}::uuid)`;
}
