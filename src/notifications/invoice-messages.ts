/** Messages of invoices. */
import type { Invoice } from '../core/invoice.ts';
import { formatInstant } from '../core/time.ts';
import type { Transaction } from '../store/database.ts';
import { publish } from './outbox.ts';

const FINALIZED = 'invoice.finalized';

/** Tells of invoices that this transaction issues; others are passed over. */
export async function publishFinalized(
  tx: Transaction,
  invoices: readonly Pick<Invoice, 'id' | 'customerId' | 'issuedAt' | 'status'>[],
): Promise<void> {
  const finalized = invoices.filter(({ status }) => status === 'FINALIZED');
  if (finalized.length === 0) return;
  await publish(tx, [FINALIZED], async () =>
    finalized.map(({ id, customerId, issuedAt }) => ({
      type: FINALIZED,
      customerId,
      content: {
        properties: {
          invoice_id: id,
          customer_id: customerId,
          invoice_finalized_date: formatInstant(issuedAt),
        },
      },
    })),
  );
}
