/** The input of an issued usage invoice as it was when it was computed: its terms, and the moment of its events. */
import type { OfferedBalance } from '../../../core/invoice-balances.ts';
import type { Database } from '../../../store/base/database.ts';
import { loadCountedUpTo } from '../../../store/invoices/invoice-moments.ts';
import { loadInvoiceBalances, loadInvoiceTerms } from '../../../store/invoices/invoice-terms.ts';
import type { IssuedInvoice } from '../../../store/invoices/invoices.ts';
import { type InvoiceContext, invoiceContext, type UsageTarget } from './invoice-context.ts';
import { withCountedCharges, withEarlierCharges } from './issued-charges.ts';

export interface FrozenInput {
  readonly target: UsageTarget;
  /** Its terms, with the aliases of its time, and the charges of subscriptions that its composites count. */
  readonly context: InvoiceContext;
  /**
   * Events that were ingested later do not count: epoch microseconds. Null if unknown, because there was no event, or
   * because an earlier version issued it.
   */
  readonly countedUpTo: string | null;
  /** The balances that it was offered, in burn-down order. */
  readonly balances: readonly OfferedBalance[];
}

/** Null for a SCHEDULED invoice, which is not computed from terms. */
export async function frozenInput(db: Database, invoice: IssuedInvoice): Promise<FrozenInput | null> {
  const { id, customerId, contractId, period, frozen, balancesId } = invoice;
  if (frozen === null) return null;
  const terms = await loadInvoiceTerms(db, frozen);
  const { card, contract } = terms;
  const target = { contract: { id: contractId, customerId, rateCardId: frozen.cardTermsId }, period };
  const kept = await invoiceContext(
    db,
    new Map([[frozen.cardTermsId, card]]),
    new Map([[contractId, contract]]),
  );
  const counting = await withCountedCharges(db, kept, invoice, terms);
  const context = await withEarlierCharges(db, counting, [target]);
  const balances = await loadInvoiceBalances(db, balancesId);
  return { target, context, countedUpTo: await loadCountedUpTo(db, id), balances };
}
