/** Sign-ins under way, and those that failed. Both are forgotten after minutes, in real time. */
import { and, count, eq, gt, lt, sql } from 'drizzle-orm';
import { newId } from '../../core/ids.ts';
import type { Database, Transaction } from '../base/database.ts';
import { failedSignIns, signInAttempts } from './people.tables.ts';

type Kind = (typeof signInAttempts.$inferSelect)['kind'];

export interface SignInAttempt {
  readonly kind: Kind;
  readonly personId: string | null;
  /** JSON. */
  readonly secrets: string;
}

/** Stores an attempt, and removes those that have expired. */
export async function keepAttempt(
  db: Database,
  sha256: string,
  attempt: SignInAttempt,
  minutes: number,
): Promise<void> {
  await db.delete(signInAttempts).where(lt(signInAttempts.expiresAt, sql`clock_timestamp()`));
  await db
    .insert(signInAttempts)
    .values({ sha256, ...attempt, expiresAt: sql`clock_timestamp() + ${minutes} * interval '1 minute'` });
}

/** Takes an attempt, once; null if there is none, or it has expired. */
export async function takeAttempt(
  db: Database | Transaction,
  sha256: string,
  kind: Kind,
): Promise<SignInAttempt | null> {
  const rows = await db
    .delete(signInAttempts)
    .where(
      and(
        eq(signInAttempts.sha256, sha256),
        eq(signInAttempts.kind, kind),
        gt(signInAttempts.expiresAt, sql`clock_timestamp()`),
      ),
    )
    .returning({
      kind: signInAttempts.kind,
      personId: signInAttempts.personId,
      secrets: signInAttempts.secrets,
    });
  return rows[0] ?? null;
}

/** Uses a text that counts once in `minutes`. Returns whether it was not used before. */
export async function useOnce(tx: Transaction, sha256: string, minutes: number): Promise<boolean> {
  const rows = await tx
    .insert(signInAttempts)
    .values({
      ...{ sha256, kind: 'provider', secrets: '{}' },
      expiresAt: sql`clock_timestamp() + ${minutes} * interval '1 minute'`,
    })
    .onConflictDoNothing()
    .returning({ sha256: signInAttempts.sha256 });
  return rows.length > 0;
}

/** Counts failures from an address in the last `minutes`. */
export async function countFailedSignIns(db: Database, ip: string, minutes: number): Promise<number> {
  const since = sql`clock_timestamp() - ${minutes} * interval '1 minute'`;
  const rows = await db
    .select({ failures: count() })
    .from(failedSignIns)
    .where(and(eq(failedSignIns.ip, ip), gt(failedSignIns.at, since)));
  return rows[0]?.failures ?? 0;
}

/** Records a failure, and removes those older than `minutes`. */
export async function keepFailedSignIn(db: Database, ip: string, minutes: number): Promise<void> {
  const since = sql`clock_timestamp() - ${minutes} * interval '1 minute'`;
  await db.delete(failedSignIns).where(lt(failedSignIns.at, since));
  await db.insert(failedSignIns).values({ id: newId(), ip, at: sql`clock_timestamp()` });
}
