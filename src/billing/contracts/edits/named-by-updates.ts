/** Collects the products and pricing units named by the updates of an edit, to load them in one query. Pure. */
import type { Applicability } from '../../../core/terms/applicability.ts';
import type { ContractTerms } from '../../../core/terms/contract.ts';
import type { Updates } from '../../../core/terms/contract-edits.ts';
import type { ApplicabilityPatch } from '../../../core/terms/patches.ts';
import type { NamedIds } from '../terms/terms-context.ts';

export function namedByUpdates(updates: Updates): NamedIds {
  const { updateSpendThreshold: spend, updatePrepaidBalanceThreshold: prepaid } = updates;
  const balances = [...updates.updateCommits, ...updates.updateCredits, ...ifAny(prepaid?.commit)];
  return {
    productIds: present([...balances.flatMap(productsOfPatch), spend?.commit?.productId]),
    creditTypeIds: present([prepaid?.customCreditTypeId]),
    balanceIds: [],
  };
}

/** Includes those that the updated terms already name, because an updated term is checked as a whole. */
export function namedByUpdated(terms: ContractTerms, updates: Updates): NamedIds {
  const changed = new Set([...updates.updateCommits, ...updates.updateCredits].map(({ id }) => id));
  const spend = updates.updateSpendThreshold === null ? null : terms.spendThreshold;
  const prepaid = updates.updatePrepaidBalanceThreshold === null ? null : terms.prepaidBalanceThreshold;
  const scopes = [
    ...terms.commits.filter(({ id }) => changed.has(id)).map(({ applicability }) => applicability),
    ...ifAny(prepaid?.commit.applicability),
  ];
  return {
    productIds: present([
      ...scopes.flatMap(productsOfScope),
      spend?.commit.productId,
      prepaid?.commit.productId,
    ]),
    creditTypeIds: present([prepaid?.customCreditTypeId]),
    balanceIds: [],
  };
}

function productsOfPatch(
  patch: ApplicabilityPatch & { readonly productId?: string | undefined },
): (string | null | undefined)[] {
  const { productId, productIds, specifiers } = patch;
  return [
    productId,
    ...productsOfScope({ productIds: productIds ?? [], productTags: [], specifiers: specifiers ?? [] }),
  ];
}

function productsOfScope({ productIds, specifiers }: Applicability): (string | null)[] {
  return [...productIds, ...specifiers.map((specifier) => specifier.productId)];
}

function ifAny<Value>(value: Value | null | undefined): Value[] {
  return value == null ? [] : [value];
}

function present(ids: readonly (string | null | undefined)[]): string[] {
  return ids.filter((id) => id != null);
}
