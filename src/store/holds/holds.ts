/** Holds: amounts reserved from balances and limits before usage occurs (docs/explanation/holds.md). */
import { and, desc, eq, inArray, lte, type SQL, sql } from 'drizzle-orm';
import { type Decimal, decimal } from '../../core/decimal.ts';
import type { AccountMarks, AccountSeen, Hold } from '../../core/hold.ts';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { rowsAsJson } from '../base/insert-rows.ts';
import { holds } from './holds.tables.ts';

/** Requests of one statement that reads for many. */
export const READ_TOGETHER_MAX = 500;

export type HoldStatus = Hold['status'];

/** An active hold past its expiry has expired, even if that is not written yet. */
export function shownStatus(
  { status, expiresAt }: Pick<Hold, 'status' | 'expiresAt'>,
  now: Instant,
): HoldStatus {
  return status === 'active' && expiresAt <= now ? 'expired' : status;
}

/** The active or settled hold of a transaction; else the last one that has ended. */
export async function findHolds(
  db: Database,
  {
    ids = [],
    transactionIds = [],
  }: { readonly ids?: readonly string[]; readonly transactionIds?: readonly string[] },
): Promise<Hold[]> {
  const found: Hold[] = [];
  if (ids.length > 0)
    found.push(
      ...(await db
        .select()
        .from(holds)
        .where(inArray(holds.id, [...ids]))),
    );
  if (transactionIds.length > 0) {
    const rows = await db
      .select()
      .from(holds)
      .where(inArray(holds.transactionId, [...transactionIds]))
      .orderBy(sql`${holds.status} in ('active', 'settled') desc`, desc(holds.createdAt), desc(holds.id));
    const first = new Map<string, Hold>();
    for (const row of rows) if (!first.has(row.transactionId)) first.set(row.transactionId, row);
    found.push(...first.values());
  }
  return found;
}

/** The newest first. */
export async function listHolds(
  db: Database,
  filter: { readonly customerId: string; readonly status: HoldStatus | null; readonly now: Instant },
  { after, limit }: PageRequest,
): Promise<Page<Hold>> {
  const at = formatInstant(filter.now);
  const behind =
    after === null
      ? undefined
      : sql`(${holds.createdAt}, ${holds.id}) < (${formatInstant(after.at)}::timestamptz, ${after.id}::uuid)`;
  const rows = await db
    .select()
    .from(holds)
    .where(and(eq(holds.customerId, filter.customerId), statusCondition(filter.status, at), behind))
    .orderBy(desc(holds.createdAt), desc(holds.id))
    .limit(limit + 1);
  return cutPage(rows, limit, ({ createdAt, id }) => ({ at: createdAt, id }));
}

function statusCondition(status: HoldStatus | null, at: string): SQL | undefined {
  if (status === null) return undefined;
  if (status === 'active') return sql`${holds.status} = 'active' and ${holds.expiresAt} > ${at}::timestamptz`;
  if (status === 'expired')
    return sql`(${holds.status} = 'expired' or ${holds.status} = 'active' and ${holds.expiresAt} <= ${at}::timestamptz)`;
  return eq(holds.status, status);
}

/** Rows of `price_changes` that are kept: far more than `priceMark` reads. */
const PRICE_CHANGES_KEPT = 10_000;

/**
 * A text that identifies the set of these rows: each further row changes it. Rows get their numbers before they are
 * committed.
 */
function priceMark(which: SQL): SQL {
  return sql`(select count(*) || ' ' || coalesce(sum(id), 0) from (
    select id from price_changes where ${which} order by id desc limit 200) latest)`;
}

/** The mark of changes that may affect any card. */
const ALL_PRICES = priceMark(sql`rate_card_id is null`);

/**
 * A table of the prices of each customer of the table `asked`, for the cards of its contracts. Each card is read once.
 */
const CARD_PRICES = sql`
  cards as materialized (
    select distinct a.customer_id, c.rate_card_id from asked a cross join lateral (
      select rate_card_id from contracts
      where customer_id = a.customer_id and rate_card_id is not null offset 0) c
  ), card_marks as materialized (
    select c.rate_card_id, ${priceMark(sql`rate_card_id = c.rate_card_id`)} as mark
    from (select distinct rate_card_id from cards) c
  ), card_prices as materialized (
    select customer_id, string_agg(rate_card_id::text || ' ' || mark, ' ' order by rate_card_id) as marks
    from cards join card_marks using (rate_card_id) group by customer_id
  )`;

const PRICES = sql`${ALL_PRICES} || coalesce(' ' || cp.marks, '')`;

/** Creates the rows that holds of these customers need. */
export async function ensureAccounts(db: Database, customerIds: readonly string[]): Promise<void> {
  await db.execute(sql`
    insert into hold_accounts (customer_id, version, usage_mark)
    select id, 0, 0 from unnest(${uuids(customerIds)}) id order by id on conflict do nothing`);
}

export async function readAccounts(
  db: Database | Transaction,
  customerIds: readonly string[],
): Promise<AccountSeen[]> {
  const rows = await db.execute(sql`
    with asked as materialized (select unnest(${uuids(customerIds)}) as customer_id), ${CARD_PRICES}
    select a.customer_id, a.version, a.usage_mark,
      (select count(*) || ' ' || coalesce(sum(c.id), 0) from customer_changes c where c.customer_id = a.customer_id) as changes,
      ${PRICES} as prices
    from hold_accounts a left join card_prices cp using (customer_id)
    where a.customer_id = any(${uuids(customerIds)})`);
  return rows.map((row) => ({
    customerId: String(row.customer_id),
    version: Number(row.version),
    usageMark: Number(row.usage_mark),
    changes: String(row.changes),
    prices: String(row.prices),
  }));
}

export async function loadActiveHolds(
  db: Database | Transaction,
  customerIds: readonly string[],
): Promise<Hold[]> {
  return await db
    .select()
    .from(holds)
    .where(and(inArray(holds.customerId, [...customerIds]), eq(holds.status, 'active')));
}

/** Active holds starting with a customer, ascending by customer and id. */
export async function activeHoldsAfter(
  db: Database,
  after: { readonly customerId: string; readonly id: string } | null,
  { createdUpTo, limit }: { readonly createdUpTo: Instant | null; readonly limit: number },
): Promise<Hold[]> {
  const behind =
    after === null
      ? undefined
      : sql`(${holds.customerId}, ${holds.id}) > (${after.customerId}::uuid, ${after.id}::uuid)`;
  const isOld = createdUpTo === null ? undefined : lte(holds.createdAt, createdUpTo);
  return await db
    .select()
    .from(holds)
    .where(and(eq(holds.status, 'active'), behind, isOld))
    .orderBy(holds.customerId, holds.id)
    .limit(limit);
}

export interface HoldEnd {
  readonly id: string;
  readonly status: 'settled' | 'released';
  readonly settledAmount: Decimal | null;
}

export interface HoldWrites {
  readonly now: Instant;
  /** For each customer of the families, the state that the decision was based on. */
  readonly seen: readonly (AccountSeen & { readonly family: number })[];
  /** `needsPrices`: stored only if prices are unchanged, too. */
  readonly grants: readonly { readonly family: number; readonly hold: Hold; readonly needsPrices: boolean }[];
  readonly ends: readonly HoldEnd[];
  readonly extensions: readonly { readonly id: string; readonly expiresAt: Instant }[];
}

export interface HoldsWritten {
  /** The families whose state was unchanged. */
  readonly families: ReadonlySet<number>;
  /** The families in which only prices have changed. */
  readonly repriced: ReadonlySet<number>;
  /** The holds that were stored, ended or extended. */
  readonly ids: ReadonlySet<string>;
  readonly accounts: ReadonlyMap<string, AccountMarks>;
}

/** If two processes change holds of the same customers, one waits for the other before it changes any row. */
const AFTER_LOCKS = sql`(select count(*) from locked) >= 0`;

/** Another hold of the transaction may have replaced an expired one. The amount may become known later. */
const MAY_SETTLE = sql`case h.status when 'active' then true
  when 'expired' then not exists (
    select from holds o where o.transaction_id = h.transaction_id and o.status in ('active', 'settled'))
  when 'settled' then h.settled_amount is null and u.amount is not null else false end`;

/**
 * Stores grants and ends of holds of any customers, in one statement. Grants are stored only if nothing of their family
 * has changed since it was read, by any process; the accounts are locked until then, in the order of their ids.
 */
export async function writeHolds(db: Database, writes: HoldWrites): Promise<HoldsWritten> {
  const at = formatInstant(writes.now);
  const [grants = '[]'] = rowsAsJson(
    holds,
    writes.grants.map(({ hold }) => hold),
  );
  const families = JSON.stringify(
    writes.grants.map(({ hold, family, needsPrices }) => ({
      ...{ id: hold.id, family, needs_prices: needsPrices },
    })),
  );
  const seen = JSON.stringify(writes.seen);
  const ends = JSON.stringify(
    writes.ends.map(({ settledAmount, ...end }) => ({ ...end, amount: settledAmount?.toFixed() ?? null })),
  );
  const extensions = JSON.stringify(
    writes.extensions.map(({ id, expiresAt }) => ({ id, expires_at: formatInstant(expiresAt) })),
  );
  const rows = await db.execute(sql`
    with seen as materialized (
      select * from json_to_recordset(${seen}::json) as s(family int, "customerId" uuid, version bigint, "usageMark" bigint, changes text, prices text)
    ), asked as materialized (select "customerId" as customer_id from seen
    ), ${CARD_PRICES}, ends as materialized (
      select * from json_to_recordset(${ends}::json) as u(id uuid, status text, amount numeric)
    ), extensions as materialized (
      select * from json_to_recordset(${extensions}::json) as u(id uuid, expires_at timestamptz)
    ), locked as materialized (
      select customer_id, version, usage_mark from hold_accounts
      where customer_id in (
        select "customerId" from seen
        union select customer_id from holds where id in (select id from ends union all select id from extensions)
      ) order by customer_id for no key update
    ), valid as materialized (
      select s.family, bool_and(s.prices = ${PRICES}) as has_prices
      from seen s left join locked l on l.customer_id = s."customerId"
      left join card_prices cp on cp.customer_id = s."customerId"
      group by s.family
      having bool_and(coalesce(l.version = s.version and l.usage_mark = s."usageMark", false)
        and s.changes = (select count(*) || ' ' || coalesce(sum(c.id), 0) from customer_changes c where c.customer_id = s."customerId"))
    ), ended as (
      update holds h set status = u.status, settled_amount = u.amount, ended_at = ${at}::timestamptz
      from ends u
      where h.id = u.id and ${AFTER_LOCKS} and case when u.status = 'settled' then ${MAY_SETTLE}
        else h.status = 'active' and h.expires_at > ${at}::timestamptz end
      returning h.id, h.customer_id, h.status
    ), extended as (
      update holds h set expires_at = u.expires_at
      from extensions u
      where h.id = u.id and ${AFTER_LOCKS} and h.status = 'active' and h.expires_at > ${at}::timestamptz
      returning h.id, h.customer_id
    ), inserted as (
      insert into holds
      select r.* from json_populate_recordset(null::holds, ${grants}::json) r
      join json_to_recordset(${families}::json) as f(id uuid, family int, needs_prices boolean) on f.id = r.id
      join valid on valid.family = f.family and (valid.has_prices or not f.needs_prices)
      on conflict do nothing
      returning id, customer_id
    ), changed as (
      select id, customer_id from ended union all select id, customer_id from extended
      union all select id, customer_id from inserted
    ), marks as (
      update hold_accounts a set version = version + 1, usage_mark = usage_mark +
        case when exists (select from ended e where e.customer_id = a.customer_id and e.status = 'settled') then 1 else 0 end
      where customer_id in (select customer_id from changed)
      returning customer_id, version, usage_mark
    )
    select case when has_prices then 'family' else 'repriced' end as kind, family::text as name, 0 as version, 0 as usage_mark from valid
    union all select 'hold', id::text, 0, 0 from changed
    union all select 'customer', customer_id::text, version, usage_mark from marks`);
  const of = (kind: string) => rows.filter((row) => row.kind === kind);
  return {
    families: new Set(of('family').map(({ name }) => Number(name))),
    repriced: new Set(of('repriced').map(({ name }) => Number(name))),
    ids: new Set(of('hold').map(({ name }) => String(name))),
    accounts: new Map(
      of('customer').map(({ name, version, usage_mark }) => [
        String(name),
        { version: Number(version), usageMark: Number(usage_mark) },
      ]),
    ),
  };
}

/** Ends active holds past their expiry, for every process. Returns the marks of their customers. */
export async function endExpired(
  db: Database,
  ids: readonly string[],
  now: Instant,
): Promise<ReadonlyMap<string, AccountMarks>> {
  const at = formatInstant(now);
  const rows = await db.execute(sql`
    with locked as materialized (
      select customer_id from hold_accounts
      where customer_id in (select customer_id from holds where id = any(${uuids(ids)}))
      order by customer_id for no key update
    ), ended as (
      update holds set status = 'expired', ended_at = expires_at
      where id = any(${uuids(ids)}) and ${AFTER_LOCKS} and status = 'active' and expires_at <= ${at}::timestamptz
      returning customer_id
    )
    update hold_accounts set version = version + 1 where customer_id in (select customer_id from ended)
    returning customer_id, version, usage_mark`);
  return new Map(
    rows.map((row) => [
      String(row.customer_id),
      { version: Number(row.version), usageMark: Number(row.usage_mark) },
    ]),
  );
}

/** The number of active holds, and their amounts by unit. */
export async function readOutstanding(
  db: Database,
  now: Instant,
): Promise<{ readonly creditTypeId: string; readonly count: number; readonly amount: Decimal }[]> {
  const rows = await db.execute(sql`
    select credit_type_id, count(*)::int as count, sum(amount)::text as amount from holds
    where status = 'active' and expires_at > ${formatInstant(now)}::timestamptz group by credit_type_id`);
  return rows.map((row) => ({
    creditTypeId: String(row.credit_type_id),
    count: Number(row.count),
    amount: decimal(String(row.amount)),
  }));
}

/** Removes some of the holds that ended before `before`, and ends some expired ones that were not accessed since. */
export async function tidyHolds(db: Database, before: Instant, limit: number): Promise<number> {
  const at = formatInstant(before);
  const rows = await db.execute(sql`
    delete from holds where id in (
      select id from holds where ended_at < ${at}::timestamptz or status = 'active' and expires_at < ${at}::timestamptz
      limit ${limit}
    ) returning 1 as one`);
  // Only the latest rows are read (`priceMark`).
  await db.execute(sql`
    delete from price_changes where id <= (select max(id) from price_changes) - ${PRICE_CHANGES_KEPT}::bigint`);
  return rows.length;
}

/** Deletes the holds of an erased customer. */
export async function deleteHolds(tx: Transaction, customerId: string): Promise<void> {
  await tx.delete(holds).where(eq(holds.customerId, customerId));
}

function uuids(ids: readonly string[]): SQL {
  return sql`${`{${ids.join(',')}}`}::uuid[]`;
}
