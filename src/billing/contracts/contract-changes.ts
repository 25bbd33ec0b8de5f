/** Changes of a contract's end date and usage filter. */
import { type FieldPath, invalid, Refusal } from '../../core/errors.ts';
import type { FullContract, UsageFilter } from '../../core/terms/contract.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import type { Transaction } from '../../store/base/database.ts';
import { lastIssuedPeriodEnds } from '../../store/invoices/issued-periods.ts';
import type { BillingContext } from '../billing-context.ts';
import { holdNextFinalizations } from '../invoice-queue/finalization.ts';
import { checkUsageFilter } from '../products/usage-filters.ts';
import { type ContractReference, changeContract } from './change-contract.ts';
import { withEndDate } from './terms/truncate-terms.ts';

export interface UpdateEndDateInput extends ContractReference {
  readonly changedBy: string;
  /** Null: removes the end. */
  readonly endingBefore: Instant | null;
  /** Whether the end may precede the end of finalized invoices, which do not change. */
  readonly allowEndingBeforeFinalizedInvoice: boolean;
}

/**
 * Sets, moves or removes the end. Refuses (`invalid`) an end that is not after the start, one before a finalized
 * invoice if that is not allowed, and an archived contract.
 */
export async function updateEndDate(context: BillingContext, input: UpdateEndDateInput): Promise<void> {
  const now = context.clock.now();
  await context.db.transaction(async (tx) => {
    await changeContract(tx, context, input, { now, changedBy: input.changedBy }, async (full) => {
      requireNotArchived(full);
      await checkEndDate(tx, full, input, ['endingBefore']);
      const { endingBefore } = input;
      return { after: withEndDate(full, endingBefore, now), changes: { endingBefore } };
    });
  });
}

/** Refuses (`invalid`, naming `field`) an invalid end date of the contract. */
export async function checkEndDate(
  tx: Transaction,
  { contract }: FullContract,
  {
    endingBefore,
    allowEndingBeforeFinalizedInvoice,
  }: Pick<UpdateEndDateInput, 'endingBefore' | 'allowEndingBeforeFinalizedInvoice'>,
  field: FieldPath,
): Promise<void> {
  if (endingBefore === null) return;
  if (endingBefore <= contract.startingAt) throw invalid(field, 'must be after the contract starts');
  if (allowEndingBeforeFinalizedInvoice) return;
  // Decisions here must still be valid when this transaction commits.
  await holdNextFinalizations(tx, [contract]);
  const issuedUntil = (await lastIssuedPeriodEnds(tx, [contract.id])).get(contract.id);
  if (issuedUntil !== undefined && endingBefore < issuedUntil) {
    throw invalid(field, `a finalized invoice reaches until ${formatInstant(issuedUntil)}`);
  }
}

export interface SetUsageFilterInput extends ContractReference {
  readonly changedBy: string;
  readonly filter: UsageFilter;
}

/** Sets the filter from its start on. Refuses (`invalid`) a start outside the contract and an unknown key. */
export async function setUsageFilter(context: BillingContext, input: SetUsageFilterInput): Promise<void> {
  const { filter, changedBy } = input;
  await context.db.transaction(async (tx) => {
    await changeContract(tx, context, input, { now: context.clock.now(), changedBy }, async (full) => {
      requireNotArchived(full);
      await checkUsageFilter(tx, full.contract, filter, []);
      return { after: withUsageFilter(full, filter), changes: { addUsageFilters: [filter] } };
    });
  });
}

/** Replaces an existing filter with the same start. */
function withUsageFilter(full: FullContract, filter: UsageFilter): FullContract {
  const others = full.terms.usageFilters.filter((one) => one.startingAt !== filter.startingAt);
  const usageFilters = [...others, filter].toSorted((a, b) => a.startingAt - b.startingAt);
  return { ...full, terms: { ...full.terms, usageFilters } };
}

/** Refuses (`invalid`) an archived contract. */
export function requireNotArchived({ contract }: FullContract): void {
  if (contract.archivedAt !== null) {
    throw new Refusal('invalid', `contract ${contract.id} is archived`);
  }
}
