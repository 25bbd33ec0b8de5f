/** Amendments, the edits of older clients: additions from a given date on (docs/explanation/contracts.md, "Edits"). */
import { type FieldPath, invalid } from '../../../core/errors.ts';
import type { Contract } from '../../../core/terms/contract.ts';
import type { ContractEdit } from '../../../core/terms/contract-edits.ts';
import { contains, formatInstant, type Instant } from '../../../core/time.ts';
import type { BillingContext } from '../../billing-context.ts';
import { type ContractReference, changeContract } from '../change-contract.ts';
import { requireNotArchived } from '../contract-changes.ts';
import { NO_TERMS_INPUT, type TermsInput } from '../terms/build-terms.ts';
import { applyEdit, NO_EDIT } from './apply-edit.ts';

type AmendmentTerms = Pick<
  TermsInput,
  'commits' | 'credits' | 'overrides' | 'scheduledCharges' | 'discounts' | 'professionalServices'
>;

interface AmendContractInput extends ContractReference {
  readonly startingAt: Instant;
  readonly terms: AmendmentTerms;
  /** Set on the contract; its other fields stay. */
  readonly customFields: Readonly<Record<string, string>>;
  readonly createdBy: string;
}

/**
 * Adds all terms or none, and returns the record of the edit. Refuses the same as `editContract`, a date outside the
 * contract, and terms that begin before it (`invalid`).
 */
export async function amendContract(
  context: BillingContext,
  input: AmendContractInput,
): Promise<ContractEdit> {
  const { startingAt, createdBy, customFields: ownFields } = input;
  const terms: TermsInput = { ...NO_TERMS_INPUT, ...input.terms };
  const now = context.clock.now();
  return context.db.transaction(async (tx) => {
    const origin = { now, changedBy: createdBy, amendmentStartingAt: startingAt };
    return changeContract(tx, context, input, origin, async (full) => {
      requireNotArchived(full);
      requireWithin(full.contract, startingAt);
      requireFromStart(terms, startingAt);
      const additions = { ...NO_EDIT, additions: terms };
      const { paymentProvider } = context;
      const edit = { additionsAt: ['terms'], editedBy: createdBy, now, paymentProvider };
      return { ...(await applyEdit(tx, full, additions, edit)), ownFields };
    });
  });
}

function requireWithin({ startingAt: start, endingBefore: end }: Contract, at: Instant): void {
  if (!contains({ start, end }, at)) throw invalid(['startingAt'], 'must lie within the contract');
}

/** Invoice dates are not restricted: commits may be paid before they can be used. */
function requireFromStart(terms: AmendmentTerms, startingAt: Instant): void {
  const check = (at: Instant | undefined, path: FieldPath) => {
    if (at === undefined || at >= startingAt) return;
    throw invalid(path, `must not be before the amendment starts, ${formatInstant(startingAt)}`);
  };
  for (const [index, { startingAt: at }] of terms.overrides.entries()) {
    check(at, ['terms', 'overrides', index, 'startingAt']);
  }
  for (const [list, commits] of [
    ['commits', terms.commits],
    ['credits', terms.credits],
  ] as const) {
    for (const [index, { accessSchedule }] of commits.entries()) {
      for (const [item, segment] of (accessSchedule?.segments ?? []).entries()) {
        const path = ['terms', list, index, 'accessSchedule', 'segments', item, 'startingAt'];
        check(segment.startingAt, path);
      }
    }
  }
  for (const list of ['scheduledCharges', 'discounts'] as const) {
    for (const [index, { schedule }] of terms[list].entries()) {
      const path = ['terms', list, index, 'schedule'];
      check(schedule.recurring?.startingAt, [...path, 'recurring', 'startingAt']);
      for (const [item, { timestamp }] of (schedule.items ?? []).entries()) {
        check(timestamp, [...path, 'items', item, 'timestamp']);
      }
    }
  }
}
