/**
 * Archiving customers' billing configurations (docs/explanation/catalogue.md, "Billing providers").
 *
 * Lock order: the customer, the configurations, the contracts by their starts. A transaction that assigns a
 * configuration to a contract locks the contract first. There is no deadlock: such a contract has no
 * configuration yet, so this operation does not wait for it.
 */
import { invalid, notFound, Refusal } from '../../core/errors.ts';
import type { FullContract } from '../../core/terms/contract.ts';
import type { ContractChanges } from '../../core/terms/contract-edits.ts';
import type { Transaction } from '../../store/base/database.ts';
import { lockContractsOf } from '../../store/contracts/contracts.ts';
import {
  archiveBillingConfigurations,
  loadBillingConfigurations,
} from '../../store/customers/billing-configurations.ts';
import { lockCustomer } from '../../store/customers/customers.ts';
import type { BillingContext } from '../billing-context.ts';
import { CONTRACTS_PER_CALL_MAX, changeLockedContracts } from './change-contract.ts';
import type { ContractChange } from './settle-contract.ts';

export interface ArchiveConfigurationsInput {
  readonly customerId: string;
  readonly ids: readonly string[];
  readonly archivedBy: string;
}

/**
 * Archives configurations, all or none; idempotent. Contracts that use them lose the configuration, are no longer
 * delivered, and make no threshold purchases; archived contracts do not change. Refuses an unknown customer
 * (`not_found`), ids that are not the customer's, and configurations of more contracts than one call may change
 * (`invalid`).
 */
export async function archiveConfigurations(
  context: BillingContext,
  input: ArchiveConfigurationsInput,
): Promise<void> {
  const { customerId, ids, archivedBy } = input;
  const now = context.clock.now();
  await context.db.transaction(async (tx) => {
    if (!(await lockCustomer(tx, customerId))) throw notFound('customer', customerId);
    await requireOwn(tx, customerId, ids);
    await archiveBillingConfigurations(tx, ids, now);
    const limit = CONTRACTS_PER_CALL_MAX + 1;
    const contracts = await lockContractsOf(tx, customerId, { billingConfigurationIds: ids, limit });
    if (contracts.length === limit) {
      throw new Refusal(
        'invalid',
        `more than ${CONTRACTS_PER_CALL_MAX} contracts use these configurations: archive some contracts first`,
      );
    }
    const origin = { now, changedBy: archivedBy };
    await changeLockedContracts(tx, context, contracts, origin, withoutConfiguration);
  });
}

async function requireOwn(tx: Transaction, customerId: string, ids: readonly string[]): Promise<void> {
  const known = await loadBillingConfigurations(tx, ids);
  for (const [index, id] of ids.entries()) {
    if (known.get(id)?.customerId === customerId) continue;
    throw invalid(['ids', index], `customer ${customerId} has no billing configuration ${id}`);
  }
}

/** Disables thresholds, because nobody can be charged without a configuration. */
function withoutConfiguration({ contract, terms }: FullContract): ContractChange {
  const { spendThreshold: spend, prepaidBalanceThreshold: prepaid } = terms;
  const disabled = { isEnabled: false };
  const changes: Partial<ContractChanges> = {
    removeBillingConfigurationId: contract.billingConfigurationId,
    updateSpendThreshold: spend?.isEnabled ? disabled : null,
    updatePrepaidBalanceThreshold: prepaid?.isEnabled ? disabled : null,
  };
  return {
    after: {
      contract: { ...contract, billingConfigurationId: null },
      terms: {
        ...terms,
        spendThreshold: spend && { ...spend, ...disabled },
        prepaidBalanceThreshold: prepaid && { ...prepaid, ...disabled },
      },
    },
    changes,
  };
}
