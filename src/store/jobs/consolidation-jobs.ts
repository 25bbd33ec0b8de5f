/** The queued jobs that issue consolidated invoices: one per billing period of a parent whose usage invoice is issued. */
import { and, eq, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Database, Transaction } from '../base/database.ts';
import { jobs } from './jobs.tables.ts';
import { enqueueJobs, type Job, type NewJob } from './jobs.ts';

/** The kind of the jobs. */
export const CONSOLIDATION_JOB = 'issue_consolidated_invoice';

const payloadSchema = z.object({ contract_id: z.uuid(), period_start: z.int() });

/** A billing period of a parent. */
export interface ConsolidatedPeriod {
  readonly contractId: string;
  readonly periodStart: Instant;
}

export function consolidatedPeriodOf({ payload }: Pick<Job, 'payload'>): ConsolidatedPeriod {
  const { contract_id: contractId, period_start: periodStart } = payloadSchema.parse(payload);
  return { contractId, periodStart };
}

/** A job has no subject: while it waits for the invoice of a child, other invoices of the parent do not wait for it. */
export async function queueConsolidations(
  tx: Transaction,
  due: readonly (ConsolidatedPeriod & { readonly runAt: Instant })[],
): Promise<void> {
  await enqueueJobs(
    tx,
    due.map(
      ({ contractId, periodStart, runAt }): NewJob => ({
        kind: CONSOLIDATION_JOB,
        key: `${contractId}:${formatInstant(periodStart)}`,
        subject: null,
        runAt,
        payload: { contract_id: contractId, period_start: periodStart },
      }),
    ),
  );
}

/** The jobs that are queued for these parents. */
export async function queuedConsolidations(
  db: Database | Transaction,
  contractIds: readonly string[],
): Promise<ConsolidatedPeriod[]> {
  if (contractIds.length === 0) return [];
  const rows = await db
    .select({ payload: jobs.payload })
    .from(jobs)
    .where(and(eq(jobs.kind, CONSOLIDATION_JOB), isOfOneOf(contractIds)));
  return rows.map(consolidatedPeriodOf);
}

function isOfOneOf(contractIds: readonly string[]): SQL {
  return sql`${jobs.payload}->>'contract_id' = any(${`{${contractIds.join(',')}}`}::text[])`;
}
