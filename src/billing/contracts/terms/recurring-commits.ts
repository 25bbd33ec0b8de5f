/**
 * Validates and creates recurring commits and credits (docs/explanation/contracts.md, "Recurring commits and credits").
 * Pure.
 */
import { isFiat } from '../../../core/credit-types.ts';
import { ONE, ZERO } from '../../../core/decimal.ts';
import { type FieldPath, invalid, words } from '../../../core/errors.ts';
import { withoutUuidCase } from '../../../core/ids.ts';
import type { RecurringCommit, RecurringCommitInput } from '../../../core/terms/recurring-commits.ts';
import type { Instant } from '../../../core/time.ts';
import { validateApplicability, validateHierarchyAccess } from './applicability.ts';
import {
  requireCreditType,
  requireEndAfterStart,
  requireFixedProduct,
  type TermsContext,
} from './terms-context.ts';

/** Refuses (`invalid`) the first invalid field; `path` is the term's place in the request. */
export function validateRecurringCommit(
  input: RecurringCommitInput,
  path: FieldPath,
  context: TermsContext,
): void {
  requireFixedProduct(context, input.productId, [...path, 'productId']);
  checkAmounts(input, path, context);
  checkDates(input, path, context);
  checkSubscription(input, path, context);
  const { rolloverFraction } = input;
  if (rolloverFraction !== null && (rolloverFraction.lt(ZERO) || rolloverFraction.gt(ONE))) {
    throw invalid([...path, 'rolloverFraction'], 'must be from 0 to 1');
  }
  if (input.commitDurationPeriods < 1) {
    throw invalid([...path, 'commitDurationPeriods'], 'must be at least 1');
  }
  if (input.kind === 'CREDIT' && input.invoiceRounding !== null) {
    throw invalid([...path, 'invoiceRounding'], 'is for commits only: credits are not invoiced');
  }
  validateApplicability(input.applicability, [...path, 'applicability'], context);
  validateHierarchyAccess(input.hierarchyAccess, path);
}

/** Refuses (`invalid`) a second DAILY term in either list. */
export function refuseSecondDaily(terms: readonly { input: RecurringCommitInput; path: FieldPath }[]): void {
  const [, second] = terms.filter(({ input }) => input.recurrenceFrequency === 'DAILY');
  if (second === undefined) return;
  throw invalid([...second.path, 'recurrenceFrequency'], 'a contract can have one DAILY term only');
}

function checkAmounts(input: RecurringCommitInput, path: FieldPath, context: TermsContext): void {
  const { accessAmount, invoiceAmount, subscription } = input;
  requireCreditType(context, accessAmount.creditTypeId, [...path, 'accessAmount', 'creditTypeId']);
  if (subscription === null && accessAmount.quantity === null) {
    throw invalid([...path, 'accessAmount', 'quantity'], words`is required without ${['subscription']}`);
  }
  if (subscription !== null && accessAmount.quantity !== null) {
    throw invalid([...path, 'accessAmount', 'quantity'], words`cannot be combined with ${['subscription']}`);
  }
  if (invoiceAmount !== null) {
    const field = [...path, 'invoiceAmount', 'creditTypeId'];
    // Access may be in custom units; invoices are in a currency.
    if (!isFiat(requireCreditType(context, invoiceAmount.creditTypeId, field))) {
      throw invalid(field, 'must be a fiat currency');
    }
  }
}

function checkDates(input: RecurringCommitInput, path: FieldPath, { contract }: TermsContext): void {
  if (input.startingAt < contract.startingAt) {
    throw invalid([...path, 'startingAt'], 'must not be before the contract starts');
  }
  if (contract.endingBefore !== null && input.startingAt >= contract.endingBefore) {
    throw invalid([...path, 'startingAt'], 'must be before the contract ends');
  }
  requireEndAfterStart(input, path);
}

/** Finds it by id, ignoring case, or by temporary id. */
function namedSubscription({ subscriptions }: TermsContext, id: string) {
  return subscriptions.get(id) ?? subscriptions.get(withoutUuidCase(id));
}

function checkSubscription(input: RecurringCommitInput, path: FieldPath, context: TermsContext): void {
  if (input.subscription === null) return;
  const { subscriptionId, allocation } = input.subscription;
  const subscription = namedSubscription(context, subscriptionId);
  if (subscription === undefined) {
    throw invalid(
      [...path, 'subscription', 'subscriptionId'],
      words`${JSON.stringify(subscriptionId)} is neither the id nor a ${['temporaryId']} of a subscription of the contract`,
    );
  }
  const seatBased = subscription.quantityManagementMode === 'SEAT_BASED';
  if (allocation === 'INDIVIDUAL' && !seatBased) {
    throw invalid([...path, 'subscription', 'allocation'], 'INDIVIDUAL needs a SEAT_BASED subscription');
  }
  if (input.recurrenceFrequency === 'DAILY' && seatBased) {
    throw invalid([...path, 'recurrenceFrequency'], 'DAILY cannot be tied to a SEAT_BASED subscription');
  }
}

/** Creates the term from an input that `validateRecurringCommit` has accepted. */
export function buildRecurringCommit(
  input: RecurringCommitInput,
  context: TermsContext,
  origin: {
    readonly id: string;
    readonly contractId: string;
    readonly createdAt: Instant;
    readonly createdBy: string;
  },
): RecurringCommit {
  const { temporaryId: _, subscription, ...rest } = input;
  return {
    ...rest,
    ...origin,
    rateType: input.rateType ?? 'LIST_RATE',
    proration: input.proration ?? 'FIRST_AND_LAST',
    subscription:
      subscription === null
        ? null
        : {
            ...subscription,
            subscriptionId:
              namedSubscription(context, subscription.subscriptionId)?.id ?? subscription.subscriptionId,
          },
  };
}
