/** Balances as clients of the stores see them (docs/reference/sql.md, "How balances get there"). */
import { readFile } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { vi } from 'vitest';
import { publishBalances } from '../../src/billing/sql/publish-balances.ts';
import type { Instant } from '../../src/core/time.ts';
import type { Database } from '../../src/store/base/database.ts';
import {
  connectPostgres,
  type PostgresConnection,
} from '../../src/store/postgres-driver/connect-postgres.ts';

/** The script that an operator runs first. */
export async function applyPostgresScript(connection: PostgresConnection): Promise<void> {
  const admin = connectPostgres(connection, { max: 1 });
  await admin.unsafe(await readFile(new URL('../../deploy/analysts-postgres.sql', import.meta.url), 'utf8'));
  await admin.end();
}

/** Resolves when a whole pass has taken place. The second one that ends has begun here, whatever was under way. */
export async function publishAll(db: Database, now: Instant): Promise<void> {
  let complete = 0;
  const isPublished = async () => {
    const step = await publishBalances({ db, clock: { now: () => now } }, { passEveryMs: 0 });
    complete += step === 'complete' ? 1 : 0;
    return complete === 2;
  };
  await vi.waitUntil(isPublished, { timeout: 120_000, interval: 20 });
}

/** All rows of the view, in one order: `commit customer contract type unit balance`. */
export async function publishedRows(db: Database): Promise<string[]> {
  const rows = await db.execute<Readonly<Record<string, string | null>>>(sql`
    select commit_id, customer_id, contract_id, type, credit_type_id, balance from analysts.balances`);
  return rows.map((row) => Object.values(row).join(' ')).sort();
}
