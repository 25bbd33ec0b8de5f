/** Collects the products, pricing units and balances that terms name, to load them together. Pure. */

import type { Applicability } from '../../../core/terms/applicability.ts';
import type { CommitInput } from '../../../core/terms/commits.ts';
import type { RecurringCommitInput } from '../../../core/terms/recurring-commits.ts';
import type { TermsInput } from './build-terms.ts';
import type { NamedIds } from './terms-context.ts';

export function namedIds(input: TermsInput): NamedIds {
  const commits = [...input.commits, ...input.credits];
  const recurring = [...input.recurringCommits, ...input.recurringCredits];
  const charges = [...input.scheduledCharges, ...input.discounts];
  const { spendThreshold, prepaidBalanceThreshold } = input;
  const productIds = [
    ...commits.flatMap(productsOfBalance),
    ...recurring.flatMap(productsOfBalance),
    ...input.overrides.flatMap(({ productId, specifiers }) => [
      productId,
      ...specifiers.map((specifier) => specifier.productId),
    ]),
    ...charges.map((charge) => charge.productId),
    ...input.professionalServices.map((service) => service.productId),
    ...input.subscriptions.map((subscription) => subscription.productId),
    spendThreshold?.commit.productId,
    ...(prepaidBalanceThreshold === null ? [] : productsOfBalance(prepaidBalanceThreshold.commit)),
  ];
  const creditTypeIds = [
    ...commits.flatMap(unitsOfCommit),
    ...recurring.flatMap(unitsOfRecurring),
    ...input.overrides.map((override) => override.overwriteRate?.creditTypeId),
    ...charges.map((charge) => charge.schedule.creditTypeId),
    ...input.spendTrackers.map((tracker) => tracker.creditTypeId),
    prepaidBalanceThreshold?.customCreditTypeId,
  ];
  const balanceIds = input.overrides.flatMap(({ specifiers }) =>
    specifiers.flatMap((one) => [...one.commitIds, ...one.anyCommitOrCreditIds]),
  );
  return { productIds: present(productIds), creditTypeIds: present(creditTypeIds), balanceIds };
}

function productsOfBalance(from: {
  readonly productId: string;
  readonly applicability: Applicability;
}): (string | null)[] {
  const { productIds, specifiers } = from.applicability;
  return [from.productId, ...productIds, ...specifiers.map((specifier) => specifier.productId)];
}

function unitsOfCommit({ accessSchedule, invoiceSchedule }: CommitInput) {
  return [accessSchedule?.creditTypeId, invoiceSchedule?.creditTypeId];
}

function unitsOfRecurring({ accessAmount, invoiceAmount }: RecurringCommitInput) {
  return [accessAmount.creditTypeId, invoiceAmount?.creditTypeId];
}

function present(ids: readonly (string | null | undefined)[]): string[] {
  return ids.filter((id) => id != null);
}
