/** Deliveries of invoices that fail for long, with the reason: they are tried again, and need a person. */
import { and, asc, eq, gt, isNotNull, lte } from 'drizzle-orm';
import type { Instant } from '../../core/time.ts';
import type { Database } from '../base/database.ts';
import { invoiceDeliveries } from './invoice-deliveries.tables.ts';
import { invoices } from './invoices.tables.ts';

interface FailingDelivery {
  readonly invoiceId: string;
  readonly customerId: string;
  readonly contractId: string;
  /** When the first of the failed attempts has ended, by the clock of the service. */
  readonly failingSince: Instant;
  readonly attempts: number;
  /** When it is tried again, by the clock of the service. */
  readonly retryAt: Instant;
  readonly lastError: string | null;
  /** The step that fails: it goes to its provider, is voided there, or its state is asked for. */
  readonly step: 'deliver' | 'void' | 'look';
}

/** Those whose attempts have failed without a success since an instant or longer, in the order of their ids. */
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
