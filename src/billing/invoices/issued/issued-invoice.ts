/** An issued invoice by its id alone, to be voided or regenerated. */
import { conflict, notFound, type Refusal } from '../../../core/errors.ts';
import { inSnapshot } from '../../../store/base/database.ts';
import { listContracts } from '../../../store/contracts/contracts.ts';
import { firstCredited } from '../../../store/invoices/credit-notes.ts';
import { findInvoiceHead, type IssuedInvoice } from '../../../store/invoices/invoices.ts';
import type { BillingContext } from '../../billing-context.ts';
import { type ConsolidatedPlace, consolidatedPlaces } from '../consolidated/drafts.ts';
import { type DraftPlace, draftPlacesOf } from '../drafts/draft-places.ts';

export type InvoiceHead = Omit<IssuedInvoice, 'lines'>;

type AnyDraftPlace = DraftPlace | ConsolidatedPlace;

/** Refuses an unknown id (`not_found`), and the id of a draft with the result of `refusal`. */
export async function requireIssued(
  context: BillingContext,
  id: string,
  refusal: (state: 'DRAFT') => Refusal,
): Promise<InvoiceHead> {
  const found = await findInvoiceHead(context.db, id);
  if (found !== null) return found;
  // Only requests with an unknown id cost this.
  throw (await findDraftPlace(context, id)) === null ? notFound('invoice', id) : refusal('DRAFT');
}

/** Refuses (`conflict`) an invoice that has a credit note that is not voided. */
export async function requireUncredited({ db }: Pick<BillingContext, 'db'>, id: string): Promise<void> {
  const credited = await firstCredited(db, [id]);
  if (credited !== null)
    throw conflict(`invoice ${id} has the credit note ${credited.number}: void that first`);
}

/** Contracts whose drafts are searched together. */
const CONTRACTS_PER_READ = 500;

/**
 * The draft with this id, or null. Drafts are not stored and their ids do not contain the contract, so all contracts
 * are searched.
 */
export async function findDraftPlace(context: BillingContext, id: string): Promise<AnyDraftPlace | null> {
  let after: string | null = null;
  for (;;) {
    const { places, last } = await draftPlacesAfter(context, after);
    const found = places.find((place) => place.id === id);
    if (found !== undefined) return found;
    if (last === null) return null;
    after = last;
  }
}

/** The drafts of some contracts; `last` is the last contract, null if there are no more. */
async function draftPlacesAfter(
  context: BillingContext,
  after: string | null,
): Promise<{ readonly places: readonly AnyDraftPlace[]; readonly last: string | null }> {
  return inSnapshot(context.db, async (db) => {
    const contracts = await listContracts(db, { after, limit: CONTRACTS_PER_READ });
    const places = [
      ...(await draftPlacesOf({ ...context, db }, contracts, {})),
      ...(await consolidatedPlaces({ ...context, db }, contracts, {})),
    ];
    const last = contracts.length < CONTRACTS_PER_READ ? null : (contracts.at(-1)?.id ?? null);
    return { places, last };
  });
}
