/** The terms of the charges of subscriptions on an invoice, for its explanation. */
import { type Invoice, isSubscriptionLine } from '../../../core/invoice.ts';
import type { InvoiceTerms } from '../../../core/invoice-terms.ts';
import type { Instant } from '../../../core/time.ts';
import { type ChargeTermsOf, createChargeTerms } from '../../../rating/explain/charge-terms.ts';
import type { Database, Transaction } from '../../../store/base/database.ts';
import { findContract } from '../../../store/contracts/contracts.ts';
import { loadSubscriptions } from '../../../store/contracts/subscriptions.ts';
import { cardOf, loadInvoiceContext, termsOf } from './invoice-context.ts';

/**
 * `kept` are the terms of a usage invoice. An issued scheduled invoice stores none: its charges have the current terms
 * as far as they give the prices of the lines. A draft has the quantities too, which may change later.
 */
export async function readChargeTerms(
  db: Database | Transaction,
  { lines, contractId, status, period }: Invoice,
  kept: InvoiceTerms | null,
  now: Instant,
): Promise<ChargeTermsOf> {
  const isDraft = status === 'DRAFT';
  if (!lines.some(isSubscriptionLine)) return () => null;
  const contract = await findContract(db, contractId);
  if (contract === null) return () => null;
  const context = kept === null ? await loadInvoiceContext(db, [{ contract, period }], now) : null;
  const card = kept?.card ?? (context === null ? null : cardOf(context, contract).terms);
  const terms = kept?.contract ?? (context === null ? null : termsOf(context, contract));
  if (card === null || terms === null) return () => null;
  const subscriptions = await loadSubscriptions(db, [contractId]);
  return createChargeTerms({
    contract,
    subscriptions: new Map(subscriptions.map((one) => [one.id, one])),
    products: card.subscriptions,
    fiatCreditTypeId: card.fiatCreditTypeId,
    overrides: { overrides: terms.overrides, prioritization: terms.multiplierPrioritization },
    hasQuantities: isDraft,
    areKept: isDraft || kept !== null,
  });
}
