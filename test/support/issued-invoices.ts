/** Rows of issued invoices without contracts, for tests of later changes to issued invoices. */
import { sql } from 'drizzle-orm';
import { USD_CENTS } from '../../src/core/credit-types.ts';
import { ZERO } from '../../src/core/decimal.ts';
import { newId } from '../../src/core/ids.ts';
import type { Database, Transaction } from '../../src/store/base/database.ts';
import { insertInvoices } from '../../src/store/invoices/invoices.ts';

/** Invoices of this database need no customer, contract or terms from now on. */
export async function allowLooseInvoices(db: Database): Promise<void> {
  const rows = await db.execute<{ name: string }>(sql`
    select conname as name from pg_constraint where conrelid = 'invoices'::regclass and contype = 'f'`);
  for (const { name } of rows) await db.execute(sql.raw(`alter table invoices drop constraint "${name}"`));
}

/** Stores invoices without lines that were issued at these instants. Returns their ids in the same order. */
export async function insertLooseInvoices(tx: Transaction, issuedAt: readonly number[]): Promise<string[]> {
  const issued = issuedAt.map((at) => ({
    id: newId(),
    customerId: newId(),
    contractId: newId(),
    type: 'USAGE' as const,
    status: 'FINALIZED' as const,
    period: { start: at - 1, end: at, countedFrom: at - 1 },
    issuedAt: at,
    creditTypeId: USD_CENTS.id,
    total: ZERO,
    netPaymentTermsDays: null,
    isHistorical: false,
    regeneratedFromInvoiceId: null,
    lines: [],
    warningCount: 0,
    frozen: { breakdownId: newId(), cardTermsId: newId(), contractTermsId: newId() },
    balancesId: null,
    termsReadAt: null,
    countedUpTo: null,
  }));
  await insertInvoices(tx, issued);
  return issued.map(({ id }) => id);
}

export interface NumberedInvoice {
  readonly id: string;
  readonly type: string;
  readonly issuedAt: number;
  readonly year: number | null;
  readonly position: number | null;
  readonly number: string | null;
}

/** All issued invoices by issue date and id. */
export async function numberedInvoices(db: Database): Promise<NumberedInvoice[]> {
  const rows = await db.execute<{
    id: string;
    type: string;
    issued_at: string;
    year: number | null;
    position: number | null;
    number: string | null;
  }>(sql`
    select i.id, i.type, extract(epoch from i.issued_at) * 1000 as issued_at, n.year, n.position, n.number
    from invoices i left join invoice_numbers n on n.invoice_id = i.id
    order by i.issued_at, i.id`);
  return rows.map(({ issued_at, ...row }) => ({ ...row, issuedAt: Number(issued_at) }));
}
