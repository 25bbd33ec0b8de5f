/** Messages of credit notes. */
import type { CreditNoteHead } from '../core/credit-note.ts';
import { formatInstant, type Instant } from '../core/time.ts';
import type { Transaction } from '../store/base/database.ts';
import { publish } from './outbox.ts';

/** Publishes that a note was issued, or voided, at `now`. */
export async function publishCreditNote(
  tx: Transaction,
  type: 'credit_note.issued' | 'credit_note.voided',
  note: CreditNoteHead,
  now: Instant,
): Promise<void> {
  await publish(tx, [type], async () => [
    {
      type,
      customerId: note.customerId,
      content: {
        properties: {
          credit_note_id: note.id,
          credit_note_number: note.number,
          invoice_id: note.invoiceId,
          customer_id: note.customerId,
          reason: note.reason,
          total: note.subTotal.plus(note.tax),
          timestamp: formatInstant(now),
        },
      },
    },
  ]);
}
