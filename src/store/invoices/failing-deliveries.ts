/** Deliveries of invoices that have been failing for long, with the reason: they are retried, and need attention. */
import { and, asc, eq, gt, isNotNull, lte } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import type { Database } from '../base/database.ts';
import { invoiceDeliveries } from './invoice-deliveries.tables.ts';
import { invoices } from './invoices.tables.ts';

interface FailingDelivery {
  readonly invoiceId: string;
  readonly customerId: string;
  readonly contractId: string;
  /** When the first of the failed attempts ended, by the clock of the service. */
  readonly failingSince: Instant;
  readonly attempts: number;
  /** When it is retried, by the clock of the service. */
  readonly retryAt: Instant;
  readonly lastError: string | null;
  /** The failing step: delivering, voiding, or reading the state. */
  readonly step: 'deliver' | 'void' | 'look';
}

/** Deliveries that have failed without a success since an instant or longer, in the order of their ids. */
export async function listFailingDeliveries(
  db: Database,
  {
    since,
    afterId,
    limit,
  }: { readonly since: Instant; readonly afterId: string | null; readonly limit: number },
): Promise<FailingDelivery[]> {
  const { invoiceId, failingSince, dueAt } = invoiceDeliveries;
  const rows = await db
    .select({
      invoiceId,
      customerId: invoiceDeliveries.customerId,
      contractId: invoices.contractId,
      failingSince,
      attempts: invoiceDeliveries.failures,
      retryAt: dueAt,
      lastError: invoiceDeliveries.error,
      isVoid: invoiceDeliveries.voidWanted,
      deliveredAt: invoiceDeliveries.deliveredAt,
    })
    .from(invoiceDeliveries)
    .innerJoin(invoices, eq(invoices.id, invoiceId))
    .where(
      and(isNotNull(dueAt), lte(failingSince, since), afterId === null ? undefined : gt(invoiceId, afterId)),
    )
    .orderBy(asc(invoiceId))
    .limit(limit);
  return rows.flatMap(({ failingSince: from, retryAt, isVoid, deliveredAt, ...row }) => {
    if (from === null || retryAt === null) return [];
    const step = isVoid ? 'void' : deliveredAt === null ? 'deliver' : 'look';
    return [{ ...row, failingSince: from, retryAt, step } as const];
  });
}
