/**
 * Unpaid invoices (docs/explanation/payments.md, "Ageing"). Their amounts and ages are computed in one statement, so that
 * tens of thousands of invoices take no longer than a list.
 */
import { and, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { AgeingBucket } from '../../core/ageing.ts';
import { AGEING_BUCKETS } from '../../core/ageing.ts';
import { minorUnitPlaces } from '../../core/currencies.ts';
import { type Decimal, decimal } from '../../core/decimal.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { offsetNotThere } from './credit-note-deliveries.ts';
import { invoices } from './invoices.tables.ts';

type Reader = Database | Transaction;

/**
 * Issued here, with an amount, neither paid nor given up at its provider. Invoices that another system has billed, and
 * those whose amounts are on a consolidated invoice, are not received by themselves.
 */
const unpaid = (isOpenThere: SQL) => sql`(${invoices.status} = 'FINALIZED' and ${invoices.total} > 0
  and not ${invoices.isHistorical} and ${isOpenThere}
  and ${invoices.id} not in (select k.constituent_id from invoice_constituents k
    join invoices s on s.id = k.invoice_id where s.status = 'FINALIZED'))`;

const ENDED = sql`('PAID', 'SKIPPED', 'VOID', 'UNCOLLECTIBLE')`;
const UNPAID = unpaid(sql`not exists (select 1 from invoice_deliveries d
  where d.invoice_id = ${invoices.id} and d.status in ${ENDED})`);
/** The same beside the joined row of the delivery, which costs half the time over all invoices. */
const UNPAID_JOINED = unpaid(sql`coalesce(delivery.status, '') not in ${ENDED}`);

const DUE_AT = sql`(${invoices.issuedAt} + ${invoices.netPaymentTermsDays} * interval '1 day')`;

function at(instant: Instant): SQL {
  return sql`${formatInstant(instant)}::timestamptz`;
}

/** The bucket of an unpaid invoice at `now`. The last millisecond of day 30 is in 0 to 30. */
function bucketAt(now: Instant): SQL {
  const days = sql`floor(extract(epoch from ${at(now)} - coalesce(${DUE_AT}, ${invoices.issuedAt})) / 86400)`;
  return sql`case when ${DUE_AT} > ${at(now)} then 'NOT_YET_DUE' when ${days} <= 30 then 'DAYS_0_30'
    when ${days} <= 60 then 'DAYS_31_60' when ${days} <= 90 then 'DAYS_61_90' else 'ABOVE_90' end`;
}

/** Which invoices are listed by what is unpaid, by number, time and amount. All given conditions hold. */
export interface ReceivableFilter {
  /** Unpaid ones of this age. */
  readonly ageing?: AgeingBucket | undefined;
  /** If true, unpaid ones whose due date has passed; if false, all others. */
  readonly overdue?: boolean | undefined;
  readonly number?: string | undefined;
  readonly dueFrom?: Instant | undefined;
  readonly dueBefore?: Instant | undefined;
  /** Totals in the unit of the invoice, inclusive. */
  readonly totalMin?: Decimal | undefined;
  readonly totalMax?: Decimal | undefined;
  /** The time for `ageing` and `overdue`. */
  readonly now?: Instant | undefined;
}

export function receivableConditions(filter: ReceivableFilter): (SQL | undefined)[] {
  const { ageing, overdue, number, dueFrom, dueBefore, totalMin, totalMax, now = 0 } = filter;
  const isOverdue = sql`(${UNPAID} and coalesce(${DUE_AT} <= ${at(now)}, false))`;
  return [
    ageing === undefined ? undefined : sql`(${UNPAID} and ${bucketAt(now)} = ${ageing})`,
    overdue === undefined ? undefined : overdue ? isOverdue : sql`not ${isOverdue}`,
    number === undefined
      ? undefined
      : sql`${invoices.id} in (select n.invoice_id from invoice_numbers n where n.number = ${number})`,
    dueFrom === undefined ? undefined : sql`${DUE_AT} >= ${at(dueFrom)}`,
    dueBefore === undefined ? undefined : sql`${DUE_AT} < ${at(dueBefore)}`,
    totalMin === undefined ? undefined : sql`${invoices.total} >= ${totalMin.toFixed()}::numeric`,
    totalMax === undefined ? undefined : sql`${invoices.total} <= ${totalMax.toFixed()}::numeric`,
  ];
}

export type InvoiceSums = {
  readonly creditTypeId: string;
  readonly count: number;
  /** Sum of the totals, exact. */
  readonly total: Decimal;
  /** The amount that is left to pay: rounded to the minor unit of the currency, with tax where the provider has added it. */
  readonly unpaid: Decimal;
};

export type AgeingSums = InvoiceSums & { readonly bucket: AgeingBucket };

const amount = z.string().transform((text) => decimal(text));
const sumsRow = z.object({ unit: z.string(), count: z.number(), total: amount, unpaid: amount });
const ageingRow = sumsRow.extend({ bucket: z.enum(AGEING_BUCKETS) });

function sumsFromRow({ unit, ...sums }: z.output<typeof sumsRow>): InvoiceSums {
  return { creditTypeId: unit, ...sums };
}

/** Places of the minor unit of each currency that an invoice has. */
async function placesOfUnits(db: Reader): Promise<SQL> {
  const rows = await db.selectDistinct({ unit: invoices.creditTypeId }).from(invoices);
  const places = rows.map(
    ({ unit }) => sql`when ${unit}::uuid then ${sql.raw(String(minorUnitPlaces(unit)))}`,
  );
  return places.length === 0 ? sql`0` : sql`case ${invoices.creditTypeId} ${sql.join(places, sql` `)} end`;
}

const SUMS = (places: SQL) => sql`${invoices.creditTypeId}::text as unit, count(*)::int as count,
  sum(${invoices.total})::text as total,
  coalesce(sum(greatest(coalesce(delivery.total, round(${invoices.total}, ${places})) - coalesce(delivery.amount_paid, 0)
    - ${offsetNotThere(invoices.id)}, 0))
    filter (where ${UNPAID_JOINED}), 0)::text as unpaid`;
const FROM = sql`from ${invoices} left join invoice_deliveries delivery on delivery.invoice_id = ${invoices.id}`;

/** The sums of the invoices for which the conditions hold, by currency. */
export async function sumInvoices(
  db: Reader,
  conditions: readonly (SQL | undefined)[],
): Promise<InvoiceSums[]> {
  const where = and(...conditions) ?? sql`true`;
  const rows = await db.execute(sql`
    select ${SUMS(await placesOfUnits(db))} ${FROM} where ${where}
    group by ${invoices.creditTypeId} order by ${invoices.creditTypeId}`);
  return z
    .array(sumsRow)
    .parse([...rows])
    .map(sumsFromRow);
}

/** The unpaid invoices of all customers by currency and age; buckets without an invoice are absent. */
export async function sumByAge(db: Reader, now: Instant): Promise<AgeingSums[]> {
  const rows = await db.execute(sql`
    select ${bucketAt(now)} as bucket, ${SUMS(await placesOfUnits(db))} ${FROM} where ${UNPAID_JOINED}
    group by bucket, ${invoices.creditTypeId} order by ${invoices.creditTypeId}`);
  return z
    .array(ageingRow)
    .parse([...rows])
    .map(({ bucket, ...sums }) => ({ bucket, ...sumsFromRow(sums) }));
}
