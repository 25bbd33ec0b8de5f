/**
 * Adds a charge to the draft of a usage invoice, as a scheduled charge of its contract (docs/explanation/invoices.md).
 */
import type { Decimal } from '../../../core/decimal.ts';
import { assert, invalid } from '../../../core/errors.ts';
import { newId } from '../../../core/ids.ts';
import type { FullContract } from '../../../core/terms/contract.ts';
import type { ScheduledCharge } from '../../../core/terms/scheduled-charges.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { lastIssuedPeriodEnds } from '../../../store/invoices/issued-periods.ts';
import { loadProducts } from '../../../store/products/products.ts';
import { findRateCard } from '../../../store/rate-cards/rate-cards.ts';
import type { BillingContext } from '../../billing-context.ts';
import { holdFinalization } from '../../invoice-queue/finalization.ts';
import { type InvoiceTarget, openPeriods } from '../../invoice-queue/usage-periods.ts';
import { type ContractReference, changeContract } from '../change-contract.ts';
import { requireNotArchived } from '../contract-changes.ts';
import { requireFixedProduct } from '../terms/terms-context.ts';

export interface AddChargeInput extends ContractReference {
  readonly productId: string;
  /** In the currency of the invoice. */
  readonly price: Decimal;
  readonly quantity: Decimal;
  /** Not printed. */
  readonly description: string;
  /** Identifies the draft by the start of its period. */
  readonly invoiceStartTimestamp: Instant;
  readonly addedBy: string;
}

/**
 * Refuses an unknown contract (`not_found`), and as `invalid` an archived one, a product that is not FIXED, and a
 * period without a draft.
 */
export async function addCharge(context: BillingContext, input: AddChargeInput): Promise<void> {
  const now = context.clock.now();
  await context.db.transaction(async (tx) => {
    await changeContract(tx, context, input, { now, changedBy: input.addedBy }, async (full) => {
      requireNotArchived(full);
      const draft = await heldDraft(tx, full, input.invoiceStartTimestamp, now);
      const charge = await newCharge(tx, full, input, draft.period.end, now);
      const scheduledCharges = [...full.terms.scheduledCharges, charge];
      return {
        after: { ...full, terms: { ...full.terms, scheduledCharges } },
        changes: { addScheduledCharges: [charge] },
      };
    });
  });
}

/** The draft cannot be finalized until the transaction ends. */
async function heldDraft(
  tx: Transaction,
  full: FullContract,
  start: Instant,
  now: Instant,
): Promise<InvoiceTarget> {
  const found = await draftFrom(tx, full, start, now);
  if (found !== null) await holdFinalization(tx, found);
  // It may have been finalized during the search.
  const held = await draftFrom(tx, full, start, now);
  if (held !== null) return held;
  throw invalid(
    ['invoiceStartTimestamp'],
    `contract ${full.contract.id} has no draft of a usage invoice that starts at ${formatInstant(start)}`,
  );
}

async function draftFrom(
  tx: Transaction,
  { contract }: FullContract,
  start: Instant,
  now: Instant,
): Promise<InvoiceTarget | null> {
  const issuedUntil = await lastIssuedPeriodEnds(tx, [contract.id]);
  const period = openPeriods(contract, issuedUntil.get(contract.id), now).find((one) => one.start === start);
  return period === undefined ? null : { contract, period };
}

async function newCharge(
  tx: Transaction,
  { contract }: FullContract,
  { productId, price, quantity, description, addedBy }: AddChargeInput,
  timestamp: Instant,
  now: Instant,
): Promise<ScheduledCharge> {
  requireFixedProduct({ products: await loadProducts(tx, [productId]) }, productId, ['productId']);
  const card = await findRateCard(tx, contract.rateCardId ?? '');
  assert(card !== null, 'a contract with a usage invoice has a rate card');
  const amounts = { unitPrice: price, quantity, amount: price.times(quantity) };
  return {
    id: newId(),
    contractId: contract.id,
    kind: 'CHARGE',
    productId,
    name: null,
    description,
    schedule: {
      creditTypeId: card.fiatCreditTypeId,
      doNotInvoice: false,
      items: [{ id: newId(), timestamp, ...amounts }],
    },
    onUsageInvoice: true,
    createdAt: now,
    createdBy: addedBy,
    archivedAt: null,
  };
}
