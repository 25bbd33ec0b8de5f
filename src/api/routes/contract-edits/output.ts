/** How an edit looks in answers: added terms as they were added, changes as they were asked for. */
import { z } from 'zod';
import type { EditHistory } from '../../../billing/contracts/edits/edit-history.ts';
import type { ContractChanges, ContractEdit } from '../../../core/terms/contract-edits.ts';
import { formatInstant } from '../../../core/time.ts';
import { timestamp, uuid } from '../../wire/fields.ts';
import {
  commitOutputV2,
  commitToWireV2,
  creditOutputV2,
  creditToWireV2,
} from '../../wire/terms/commit-output.ts';
import { isCommit } from '../../wire/terms/commit-schemas.ts';
import { overrideOutputV2, overrideToWireV2 } from '../../wire/terms/override-schemas.ts';
import {
  recurringCommitOutput,
  recurringCommitToWire,
  recurringCreditOutput,
} from '../../wire/terms/recurring-commit-schemas.ts';
import { scheduledChargeOutput, scheduledChargeToWire } from '../../wire/terms/scheduled-charge-schemas.ts';
import { subscriptionOutput, subscriptionToWire } from '../../wire/terms/subscription-schemas.ts';
import {
  prepaidBalanceThresholdOutput,
  prepaidBalanceThresholdToWire,
  spendThresholdOutput,
  spendThresholdToWire,
  spendTrackerOutput,
  spendTrackerToWire,
} from '../../wire/terms/threshold-schemas.ts';
import { addedCommitContext } from '../contracts/amendment-output.ts';
import { usageFilterOutputV2, usageFiltersToWireV2 } from '../contracts/usage-filter-output.ts';
import {
  commitPatchOutput,
  commitPatchToWire,
  creditPatchOutput,
  ifAny,
  instantToWire,
  recurringPatchOutput,
  recurringPatchToWire,
  scheduledChargePatchOutput,
  scheduledChargePatchToWire,
} from './patch-output.ts';
import {
  prepaidBalanceThresholdPatchOutput,
  prepaidBalanceThresholdPatchToWire,
  spendThresholdPatchOutput,
  spendThresholdPatchToWire,
  subscriptionPatchOutput,
  subscriptionPatchToWire,
} from './settings-patch-output.ts';

const references = z.array(z.object({ id: uuid })).optional();

export const contractEditOutput = z
  .object({
    id: uuid,
    timestamp,
    uniqueness_key: z.string().optional(),
    add_commits: z.array(commitOutputV2).optional(),
    add_credits: z.array(creditOutputV2).optional(),
    add_recurring_commits: z.array(recurringCommitOutput).optional(),
    add_recurring_credits: z.array(recurringCreditOutput).optional(),
    add_overrides: z.array(overrideOutputV2).optional(),
    add_scheduled_charges: z.array(scheduledChargeOutput).optional(),
    add_subscriptions: z.array(subscriptionOutput).optional(),
    add_usage_filters: z.array(usageFilterOutputV2).optional(),
    add_spend_trackers: z.array(spendTrackerOutput).optional(),
    add_spend_threshold_configuration: spendThresholdOutput.optional(),
    add_prepaid_balance_threshold_configuration: prepaidBalanceThresholdOutput.optional(),
    add_billing_provider_configuration_update: z
      .object({
        billing_provider_configuration: z.object({ billing_provider_configuration_id: uuid }),
        schedule: z.object({ effective_at: z.literal('START_OF_CURRENT_PERIOD') }),
      })
      .optional(),
    remove_billing_provider_configuration: z
      .object({ id: uuid })
      .optional()
      .meta({ description: 'Set where the contract lost its configuration because that was archived.' }),
    update_contract_name: z.string().nullable().optional(),
    update_net_payment_terms_days: z.int().nullable().optional(),
    update_contract_end_date: timestamp
      .nullable()
      .optional()
      .meta({ description: 'Null: the contract has had no end since.' }),
    update_commits: z.array(commitPatchOutput).optional(),
    update_credits: z.array(creditPatchOutput).optional(),
    update_recurring_commits: z.array(recurringPatchOutput).optional(),
    update_recurring_credits: z.array(recurringPatchOutput).optional(),
    update_scheduled_charges: z.array(scheduledChargePatchOutput).optional(),
    update_subscriptions: z.array(subscriptionPatchOutput).optional(),
    update_spend_threshold_configuration: spendThresholdPatchOutput.optional(),
    update_prepaid_balance_threshold_configuration: prepaidBalanceThresholdPatchOutput.optional(),
    archive_commits: references,
    archive_credits: references,
    archive_scheduled_charges: references,
    archive_spend_trackers: z.array(z.string()).optional(),
    remove_overrides: references,
    archived_at: timestamp.optional().meta({ description: 'Set where the contract was archived.' }),
  })
  .meta({ id: 'ContractEdit', description: 'A change of a contract. Only the groups that it touched.' });

/** Members that are undefined are not written. */
export function editToWire(edit: ContractEdit, history: EditHistory): z.input<typeof contractEditOutput> {
  const { changes } = edit;
  return {
    id: edit.id,
    timestamp: formatInstant(edit.timestamp),
    uniqueness_key: edit.uniquenessKey ?? undefined,
    ...additionsToWire(changes, history),
    update_contract_name: changes.name,
    update_net_payment_terms_days: changes.netPaymentTermsDays,
    update_contract_end_date: instantToWire(changes.endingBefore),
    ...updatesToWire(changes),
    ...removalsToWire(changes),
    archived_at: instantToWire(changes.archivedAt) ?? undefined,
  };
}

function additionsToWire(changes: ContractChanges, { contract, names, now, fiatCreditTypeId }: EditHistory) {
  const context = addedCommitContext(names, changes);
  const recurring = (kind: 'COMMIT' | 'CREDIT') =>
    ifAny(
      changes.addRecurringCommits
        .filter((term) => term.kind === kind)
        .map((term) => recurringCommitToWire(term, names)),
    );
  const { addSpendThreshold: spend, addPrepaidBalanceThreshold: prepaid } = changes;
  return {
    add_commits: ifAny(changes.addCommits.filter(isCommit).map((one) => commitToWireV2(one, context))),
    add_credits: ifAny(
      changes.addCommits.filter((one) => !isCommit(one)).map((one) => creditToWireV2(one, context)),
    ),
    add_recurring_commits: recurring('COMMIT'),
    add_recurring_credits: recurring('CREDIT'),
    add_overrides: ifAny(changes.addOverrides.map((one) => overrideToWireV2(one, names))),
    add_scheduled_charges: ifAny(changes.addScheduledCharges.map((one) => scheduledChargeToWire(one, names))),
    add_subscriptions: ifAny(
      changes.addSubscriptions.map((one) =>
        subscriptionToWire(one, { contract, names, now, fiatCreditTypeId }),
      ),
    ),
    add_usage_filters: ifAny(usageFiltersToWireV2(changes.addUsageFilters, null)),
    add_spend_trackers: ifAny(changes.addSpendTrackers.map(spendTrackerToWire)),
    add_spend_threshold_configuration: spend === null ? undefined : spendThresholdToWire(spend),
    add_prepaid_balance_threshold_configuration:
      prepaid === null ? undefined : prepaidBalanceThresholdToWire(prepaid),
    add_billing_provider_configuration_update: billingProviderToWire(changes.addBillingConfigurationId),
  };
}

function billingProviderToWire(id: string | null) {
  if (id === null) return undefined;
  return {
    billing_provider_configuration: { billing_provider_configuration_id: id },
    schedule: { effective_at: 'START_OF_CURRENT_PERIOD' as const },
  };
}

function updatesToWire(changes: ContractChanges) {
  const { updateSpendThreshold: spend, updatePrepaidBalanceThreshold: prepaid } = changes;
  return {
    update_commits: ifAny(changes.updateCommits.map(commitPatchToWire)),
    update_credits: ifAny(changes.updateCredits.map(commitPatchToWire)),
    update_recurring_commits: ifAny(changes.updateRecurringCommits.map(recurringPatchToWire)),
    update_recurring_credits: ifAny(changes.updateRecurringCredits.map(recurringPatchToWire)),
    update_scheduled_charges: ifAny(changes.updateScheduledCharges.map(scheduledChargePatchToWire)),
    update_subscriptions: ifAny(changes.updateSubscriptions.map(subscriptionPatchToWire)),
    update_spend_threshold_configuration: spend === null ? undefined : spendThresholdPatchToWire(spend),
    update_prepaid_balance_threshold_configuration:
      prepaid === null ? undefined : prepaidBalanceThresholdPatchToWire(prepaid),
  };
}

function removalsToWire(changes: ContractChanges) {
  const ids = (list: readonly string[]) => ifAny(list.map((id) => ({ id })));
  return {
    archive_commits: ids(changes.archiveCommits),
    archive_credits: ids(changes.archiveCredits),
    archive_scheduled_charges: ids(changes.archiveScheduledCharges),
    archive_spend_trackers: ifAny([...changes.archiveSpendTrackers]),
    remove_overrides: ids(changes.removeOverrides),
    remove_billing_provider_configuration: referenceToWire(changes.removeBillingConfigurationId),
  };
}

function referenceToWire(id: string | null) {
  return id === null ? undefined : { id };
}
