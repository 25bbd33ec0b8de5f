/** The preceding finalized invoices of invoices, of the same contract or of the one that it renews. */
import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Decimal, decimal } from '../../core/decimal.ts';
import type { Invoice, InvoiceType } from '../../core/invoice.ts';
import { formatInstant, type Instant, type Interval } from '../../core/time.ts';
import { instantFromPostgres } from '../base/columns.ts';
import type { Database, Transaction } from '../base/database.ts';
import { contractTransitions } from '../contracts/contracts.tables.ts';
import { invoices } from './invoices.tables.ts';

export interface PreviousInvoice {
  readonly id: string;
  readonly period: Interval;
  readonly issuedAt: Instant;
  readonly total: Decimal;
}

type Following = Pick<Invoice, 'id' | 'contractId' | 'type' | 'creditTypeId' | 'period'>;

const row = z.object({
  following: z.string(),
  id: z.string(),
  start: z.string().transform(instantFromPostgres),
  end: z.string().transform(instantFromPostgres),
  issued: z.string().transform(instantFromPostgres),
  total: z.string().transform(decimal),
});

/** By the following invoice; invoices without a predecessor are absent. */
export async function previousFinalized(
  db: Database | Transaction,
  following: readonly Following[],
): Promise<Map<string, PreviousInvoice>> {
  const found = await Promise.all(
    (['USAGE', 'USAGE_CONSOLIDATED'] as const).map((type) =>
      ofType(
        db,
        following.filter((invoice) => invoice.type === type),
        type,
      ),
    ),
  );
  return new Map(found.flat());
}

async function ofType(
  db: Database | Transaction,
  following: readonly Following[],
  type: InvoiceType,
): Promise<(readonly [string, PreviousInvoice])[]> {
  if (following.length === 0) return [];
  const asked = JSON.stringify(
    following.map(({ id, contractId, creditTypeId, period }) => ({
      ...{ id, contract: contractId, unit: creditTypeId },
      start: formatInstant(period.start),
    })),
  );
  const rows = await db.execute(sql`
    select asked.id as following, last.id, last.period_start::text as start, last.period_end::text as end,
      last.issued_at::text as issued, last.total::text as total
    from jsonb_to_recordset(${asked}::jsonb) as asked(id uuid, contract uuid, unit uuid, start timestamptz)
    left join ${contractTransitions} renewal on renewal.to_contract_id = asked.contract
    cross join lateral (
      select * from (
        (${lastOf(sql`asked.contract`, type)}) union all (${lastOf(sql`renewal.from_contract_id`, type)})
      ) as either order by period_start desc limit 1
    ) as last`);
  return rows.map((read) => {
    const { following: id, start, end, issued, ...rest } = row.parse(read);
    return [id, { id: rest.id, period: { start, end }, issuedAt: issued, total: rest.total }] as const;
  });
}

/** The type is written out, so that it matches the condition of the unique indexes of contract and period. */
function lastOf(contract: SQL, type: InvoiceType): SQL {
  return sql`select ${invoices.id}, ${invoices.periodStart}, ${invoices.periodEnd}, ${invoices.issuedAt}, ${invoices.total}
    from ${invoices}
    where ${invoices.contractId} = ${contract} and ${invoices.type} = ${sql.raw(`'${type}'`)}
      and ${invoices.status} <> 'VOID' and ${invoices.creditTypeId} = asked.unit and ${invoices.periodStart} < asked.start
    order by ${invoices.periodStart} desc limit 1`;
}
