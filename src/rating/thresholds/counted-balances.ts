/** Which balances a prepaid balance threshold counts (docs/explanation/thresholds.md, "The balance"). Pure. */
import type { CustomFields } from '../../core/custom-fields.ts';
import type { Commit } from '../../core/terms/commits.ts';
import type { PrepaidBalanceThreshold } from '../../core/terms/thresholds.ts';

type Specifiers = PrepaidBalanceThreshold['balanceSpecifiers'];

/** Whether it is prepaid and charges of the contract can draw on it, in the unit of the threshold. */
export function isPrepaidFor(
  { type, contractId, applicableContractIds, accessSchedule }: Commit,
  contract: { readonly id: string },
  creditTypeId: string,
): boolean {
  if (type === 'POSTPAID' || accessSchedule.creditTypeId !== creditTypeId) return false;
  if (contractId !== null) return contractId === contract.id;
  return applicableContractIds.length === 0 || applicableContractIds.includes(contract.id);
}

/** Whether an entry of an `exclude` list excludes the balance: it meets all filters of the entry for its kind. */
export function isExcluded(type: Commit['type'], fields: CustomFields, specifiers: Specifiers): boolean {
  const entity = type === 'CREDIT' ? 'ContractCredit' : 'Commit';
  return specifiers.some(({ exclude }) =>
    exclude.some(({ customFieldFilters }) => {
      const own = customFieldFilters.filter(
        (filter) => filter.entity === entity || filter.entity === 'ContractCreditOrCommit',
      );
      return own.length > 0 && own.every(({ key, value }) => fields[key] === value);
    }),
  );
}
