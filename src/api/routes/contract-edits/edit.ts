/** Edits of contracts on the wire: the request, and the entries of the edit history. */
import { z } from 'zod';
import type { EditHistory } from '../../../billing/contract-views/edit-history.ts';
import type { ContractEditInput } from '../../../billing/contracts/edits/apply-edit.ts';
import { addedTerms, type ContractEdit } from '../../../core/terms/contract-edits.ts';
import {
  answered,
  called,
  defaulted,
  described,
  kind,
  noted,
  optional,
  patchOf,
  sent,
} from '../../wire/description.ts';
import { enumIn } from '../../wire/fields.ts';
import { anyText, hour, id, instant, reference, truth } from '../../wire/kinds.ts';
import { beside, readAs, record } from '../../wire/record.ts';
import { commitPatch, creditPatch } from '../../wire/terms/commits.ts';
import {
  addedTermsView,
  addedTerms as additions,
  many,
  OVERRIDES_MAX,
} from '../../wire/terms/contract-terms.ts';
import { recurringCommitPatch, recurringCreditPatch } from '../../wire/terms/recurring-commits.ts';
import { scheduledChargePatch } from '../../wire/terms/scheduled-charges.ts';
import { subscriptionPatch } from '../../wire/terms/subscriptions.ts';
import { prepaidBalanceThresholdPatch, spendThresholdPatch } from '../../wire/terms/thresholds.ts';
import {
  billingConfigurationLookup,
  paymentTermsDays,
  spendLimit,
  uniquenessKey,
} from '../contracts/input.ts';
import { usageFiltersViewV2, usageFilterV2 } from '../contracts/usage-filter-output.ts';

/** Null: the edit removes the value. */
const header = {
  name: called(
    'update_contract_name',
    described('Null if the contract has no name.', patchOf(optional(anyText))),
  ),
  netPaymentTermsDays: called('update_net_payment_terms_days', patchOf(paymentTermsDays)),
  spendLimit: described('Null if the contract has no limit.', patchOf(optional(spendLimit))),
  endingBefore: called(
    'update_contract_end_date',
    noted(
      'Null if the contract has had no end since then.',
      described('Null if the contract has no end.', patchOf(optional(hour))),
    ),
  ),
};

const updates = {
  updateCommits: many(commitPatch),
  updateCredits: many(creditPatch),
  updateRecurringCommits: many(recurringCommitPatch),
  updateRecurringCredits: many(recurringCreditPatch),
  updateScheduledCharges: many(scheduledChargePatch),
  updateSubscriptions: many(subscriptionPatch),
  updateSpendThreshold: called('update_spend_threshold_configuration', optional(spendThresholdPatch)),
  updatePrepaidBalanceThreshold: called(
    'update_prepaid_balance_threshold_configuration',
    optional(prepaidBalanceThresholdPatch),
  ),
};

const removals = {
  archiveCommits: many(reference),
  archiveCredits: many(reference),
  archiveScheduledCharges: many(reference),
  archiveSpendTrackers: described('Aliases.', many(anyText)),
  removeOverrides: many(reference, OVERRIDES_MAX),
};

const effectiveAt = kind(enumIn(['START_OF_CURRENT_PERIOD']), z.literal('START_OF_CURRENT_PERIOD'));
const schedule = record({ effectiveAt });

const billingProviderUpdate = readAs(
  record(
    { billingConfiguration: record(billingConfigurationLookup), schedule },
    {
      id: { sent: 'BillingProviderConfigurationUpdate' },
      description: 'For contracts without a billing provider configuration.',
    },
  ),
  ({ billingConfiguration }) => billingConfiguration,
);

const billingProviderUpdateShown = record({
  billingConfiguration: record({ id: called('billing_provider_configuration_id', id) }),
  schedule,
});

const BILLING_UPDATE = 'add_billing_provider_configuration_update';

const edit = record(
  {
    id: answered(id),
    timestamp: answered(instant),
    customerId: sent(id),
    contractId: sent(id),
    uniquenessKey,
    additions: beside(additions, 'add_'),
    usageFilters: answered(called('add_usage_filters', many(usageFilterV2))),
    billingConfiguration: called(BILLING_UPDATE, sent(optional(billingProviderUpdate))),
    addedBilling: called(BILLING_UPDATE, answered(optional(billingProviderUpdateShown))),
    header: beside(header),
    allowEndingBeforeFinalizedInvoice: called(
      'allow_contract_ending_before_finalized_invoice',
      sent(described('Default: true. Finalized invoices stay as they are.', defaulted(truth, true))),
    ),
    updates: beside(updates),
    removals: beside(removals),
    removeBillingConfigurationId: called(
      'remove_billing_provider_configuration',
      answered(
        optional(
          noted(
            'Set if the contract lost its configuration because the configuration was archived.',
            reference,
          ),
        ),
      ),
    ),
    scheduleProfessionalServicesInvoice: called(
      'schedule_pro_services_invoice',
      answered(optional(noted('Set if an invoice of professional services was requested.', reference))),
    ),
    archivedAt: answered(optional(noted('Set if the contract was archived.', instant))),
  },
  {
    id: { sent: 'EditContract', answered: 'ContractEdit' },
    description: 'All changes are applied, or none.',
    note: 'A change of a contract, with the changed groups only.',
  },
);

export const editContractBody = edit.input.strict;

export const contractEditOutput = edit.output;

export function editFromWire(body: z.output<typeof editContractBody>): ContractEditInput {
  const { customerId: _, contractId: __, uniquenessKey: ___, ...input } = body;
  return input;
}

export function editToWire(one: ContractEdit, history: EditHistory) {
  const { changes } = one;
  return edit.write(
    {
      ...one,
      additions: addedTermsView(addedTerms(changes), history),
      usageFilters: usageFiltersViewV2(changes.addUsageFilters, null),
      addedBilling:
        changes.addBillingConfigurationId === null
          ? null
          : {
              billingConfiguration: { id: changes.addBillingConfigurationId },
              schedule: { effectiveAt: 'START_OF_CURRENT_PERIOD' },
            },
      header: changes,
      updates: changes,
      removals: changes,
      removeBillingConfigurationId: changes.removeBillingConfigurationId,
      scheduleProfessionalServicesInvoice: changes.scheduleProfessionalServicesInvoice,
      archivedAt: changes.archivedAt,
    },
    history.names,
  );
}
