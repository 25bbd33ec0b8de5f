/** What a client sends to edit a contract, and to amend one. */
import { z } from 'zod';
import type { AmendContractInput } from '../../../billing/contracts/edits/amend-contract.ts';
import type { ContractEditInput } from '../../../billing/contracts/edits/apply-edit.ts';
import type { TermsInput } from '../../../billing/contracts/terms/build-terms.ts';
import { CONTRACT_BILLING_PROVIDERS, DELIVERY_METHODS } from '../../../core/billing-providers.ts';
import { invalid } from '../../../core/errors.ts';
import type { Removals, Updates } from '../../../core/terms/contract-edits.ts';
import { strictBody } from '../../http/strict-body.ts';
import { customFields, enumIn, hourAlignedTimestamp, uuid } from '../../wire/fields.ts';
import {
  commitFromWire,
  commitInput,
  commitInputV2,
  creditFromWire,
  creditInput,
} from '../../wire/terms/commit-schemas.ts';
import { overrideFromWire, overrideInput } from '../../wire/terms/override-schemas.ts';
import {
  recurringCommitFromWire,
  recurringCommitInput,
  recurringCreditFromWire,
  recurringCreditInput,
} from '../../wire/terms/recurring-commit-schemas.ts';
import {
  scheduledChargeFromWire,
  scheduledChargeInput,
  scheduledChargeInputV2,
} from '../../wire/terms/scheduled-charge-schemas.ts';
import { subscriptionFromWire, subscriptionInput } from '../../wire/terms/subscription-schemas.ts';
import {
  prepaidBalanceThresholdFromWire,
  prepaidBalanceThresholdInput,
  spendThresholdFromWire,
  spendThresholdInput,
  spendTrackerFromWire,
  spendTrackerInput,
} from '../../wire/terms/threshold-schemas.ts';
import { paymentTermsDays, uniquenessKey } from '../contracts/input.ts';
import {
  commitPatchFromWire,
  commitPatchInput,
  creditPatchFromWire,
  creditPatchInput,
  recurringCommitPatchFromWire,
  recurringCommitPatchInput,
  recurringCreditPatchFromWire,
  recurringCreditPatchInput,
  scheduledChargePatchFromWire,
  scheduledChargePatchInput,
} from './patch-input.ts';
import {
  prepaidBalanceThresholdPatchFromWire,
  prepaidBalanceThresholdPatchInput,
  spendThresholdPatchFromWire,
  spendThresholdPatchInput,
  subscriptionPatchFromWire,
  subscriptionPatchInput,
} from './settings-patch-input.ts';

/** Far above any contract; keeps one call's transaction within seconds. */
const TERMS_MAX = 1_000;
const OVERRIDES_MAX = 5_000;

function listOf<Item extends z.ZodType>(item: Item, max = TERMS_MAX) {
  return z.array(item).max(max).nullish();
}

const reference = z.object({ id: uuid });

/** Changes of things that do not exist here: refused, never dropped. */
const UNSUPPORTED_EDITS = [
  'add_discounts',
  'add_professional_services',
  'add_reseller_royalties',
  'add_revenue_system_configuration_update',
] as const;
const UNSUPPORTED_AMENDMENTS = ['discounts', 'professional_services', 'reseller_royalties'] as const;

function unsupportedFields(names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, z.unknown().optional()]));
}

/** An empty list asks for nothing and may stand. */
function refuseUnsupported(body: object, names: readonly string[]): void {
  const isGiven = (value: unknown) => value != null && !(Array.isArray(value) && value.length === 0);
  for (const [name, value] of Object.entries(body)) {
    if (names.includes(name) && isGiven(value)) throw invalid([name], 'is not supported');
  }
}

/** The interface knows them, and they mean nothing here (docs/contracts.md, "Not supported"). */
const IGNORED_IN_EDITS = [
  ...[
    'add_commits',
    'add_credits',
    'add_recurring_commits',
    'add_recurring_credits',
    'add_scheduled_charges',
    'update_commits',
    'update_credits',
    'update_scheduled_charges',
  ].flatMap((group) => [`${group}.netsuite_sales_order_id`, `${group}.salesforce_opportunity_id`]),
  'add_commits.amount',
  'add_commits.access_schedule.access_type',
  'add_credits.access_schedule.access_type',
  'add_subscriptions.payment_gate_config',
  ...['add', 'update'].flatMap((verb) =>
    ['duration', 'rate_type', 'rollover_fraction'].map(
      (name) => `${verb}_prepaid_balance_threshold_configuration.commit.${name}`,
    ),
  ),
];

const billingProviderUpdate = z
  .object({
    billing_provider_configuration: z.object({
      billing_provider_configuration_id: uuid.nullish(),
      billing_provider: z.enum(CONTRACT_BILLING_PROVIDERS).nullish(),
      delivery_method: z.enum(DELIVERY_METHODS).nullish(),
    }),
    schedule: z.object({ effective_at: enumIn(['START_OF_CURRENT_PERIOD']) }),
  })
  .meta({
    id: 'BillingProviderConfigurationUpdate',
    description: 'For contracts without a billing provider configuration.',
  });

const editFields = z
  .object({
    customer_id: uuid,
    contract_id: uuid,
    uniqueness_key: uniquenessKey.nullish(),
    add_commits: listOf(commitInputV2),
    add_credits: listOf(creditInput),
    add_recurring_commits: listOf(recurringCommitInput),
    add_recurring_credits: listOf(recurringCreditInput),
    add_overrides: listOf(overrideInput, OVERRIDES_MAX),
    add_scheduled_charges: listOf(scheduledChargeInputV2),
    add_subscriptions: listOf(subscriptionInput),
    add_spend_threshold_configuration: spendThresholdInput.nullish(),
    add_prepaid_balance_threshold_configuration: prepaidBalanceThresholdInput.nullish(),
    add_billing_provider_configuration_update: billingProviderUpdate.nullish(),
    add_spend_trackers: listOf(spendTrackerInput),
    update_contract_name: z.string().nullish().meta({ description: 'Null: the contract has no name.' }),
    update_net_payment_terms_days: paymentTermsDays.nullish(),
    update_contract_end_date: hourAlignedTimestamp
      .nullish()
      .meta({ description: 'Null: the contract has no end.' }),
    allow_contract_ending_before_finalized_invoice: z
      .boolean()
      .nullish()
      .meta({ description: 'Default: true. Finalized invoices stay as they are.' }),
    update_commits: listOf(commitPatchInput),
    update_credits: listOf(creditPatchInput),
    update_recurring_commits: listOf(recurringCommitPatchInput),
    update_recurring_credits: listOf(recurringCreditPatchInput),
    update_scheduled_charges: listOf(scheduledChargePatchInput),
    update_subscriptions: listOf(subscriptionPatchInput),
    update_spend_threshold_configuration: spendThresholdPatchInput.nullish(),
    update_prepaid_balance_threshold_configuration: prepaidBalanceThresholdPatchInput.nullish(),
    archive_commits: listOf(reference),
    archive_credits: listOf(reference),
    archive_scheduled_charges: listOf(reference),
    archive_spend_trackers: listOf(z.string()).meta({ description: 'Aliases.' }),
    remove_overrides: listOf(reference, OVERRIDES_MAX),
    ...unsupportedFields(UNSUPPORTED_EDITS),
  })
  .meta({ id: 'EditContract', description: 'All changes are made or none is.' });

export const editContractBody = strictBody(editFields, IGNORED_IN_EDITS);

type EditContractBody = z.output<typeof editContractBody>;

export function editFromWire(body: EditContractBody): ContractEditInput {
  refuseUnsupported(body, UNSUPPORTED_EDITS);
  const lookup = body.add_billing_provider_configuration_update?.billing_provider_configuration;
  return {
    header: {
      name: body.update_contract_name,
      netPaymentTermsDays: body.update_net_payment_terms_days,
      endingBefore: body.update_contract_end_date,
    },
    allowEndingBeforeFinalizedInvoice: body.allow_contract_ending_before_finalized_invoice ?? true,
    billingConfiguration:
      lookup === undefined
        ? null
        : {
            id: lookup.billing_provider_configuration_id ?? null,
            billingProvider: lookup.billing_provider ?? null,
            deliveryMethod: lookup.delivery_method ?? null,
          },
    removals: removalsFromWire(body),
    updates: updatesFromWire(body),
    additions: additionsFromWire(body),
  };
}

function removalsFromWire(body: EditContractBody): Removals {
  const ids = (list: readonly { readonly id: string }[] | null | undefined) =>
    (list ?? []).map(({ id }) => id);
  return {
    archiveCommits: ids(body.archive_commits),
    archiveCredits: ids(body.archive_credits),
    archiveScheduledCharges: ids(body.archive_scheduled_charges),
    archiveSpendTrackers: body.archive_spend_trackers ?? [],
    removeOverrides: ids(body.remove_overrides),
  };
}

function updatesFromWire(body: EditContractBody): Updates {
  const { update_spend_threshold_configuration: spend } = body;
  const { update_prepaid_balance_threshold_configuration: prepaid } = body;
  return {
    updateCommits: (body.update_commits ?? []).map(commitPatchFromWire),
    updateCredits: (body.update_credits ?? []).map(creditPatchFromWire),
    updateRecurringCommits: (body.update_recurring_commits ?? []).map(recurringCommitPatchFromWire),
    updateRecurringCredits: (body.update_recurring_credits ?? []).map(recurringCreditPatchFromWire),
    updateScheduledCharges: (body.update_scheduled_charges ?? []).map(scheduledChargePatchFromWire),
    updateSubscriptions: (body.update_subscriptions ?? []).map(subscriptionPatchFromWire),
    updateSpendThreshold: spend == null ? null : spendThresholdPatchFromWire(spend),
    updatePrepaidBalanceThreshold: prepaid == null ? null : prepaidBalanceThresholdPatchFromWire(prepaid),
  };
}

function additionsFromWire(body: EditContractBody): TermsInput {
  const { add_spend_threshold_configuration: spend } = body;
  const { add_prepaid_balance_threshold_configuration: prepaid } = body;
  return {
    commits: (body.add_commits ?? []).map(commitFromWire),
    credits: (body.add_credits ?? []).map(creditFromWire),
    recurringCommits: (body.add_recurring_commits ?? []).map(recurringCommitFromWire),
    recurringCredits: (body.add_recurring_credits ?? []).map(recurringCreditFromWire),
    overrides: (body.add_overrides ?? []).map(overrideFromWire),
    scheduledCharges: (body.add_scheduled_charges ?? []).map(scheduledChargeFromWire),
    subscriptions: (body.add_subscriptions ?? []).map(subscriptionFromWire),
    spendTrackers: (body.add_spend_trackers ?? []).map(spendTrackerFromWire),
    spendThreshold: spend == null ? null : spendThresholdFromWire(spend),
    prepaidBalanceThreshold: prepaid == null ? null : prepaidBalanceThresholdFromWire(prepaid),
  };
}

export const amendContractBody = z
  .object({
    customer_id: uuid,
    contract_id: uuid,
    starting_at: hourAlignedTimestamp.meta({ description: 'None of the added terms may begin earlier.' }),
    commits: listOf(commitInput),
    credits: listOf(creditInput),
    overrides: listOf(overrideInput, OVERRIDES_MAX),
    scheduled_charges: listOf(scheduledChargeInput),
    custom_fields: customFields.nullish(),
    ...unsupportedFields(UNSUPPORTED_AMENDMENTS),
  })
  .meta({ id: 'AmendContract' });

export function amendmentFromWire(
  body: z.output<typeof amendContractBody>,
  createdBy: string,
): AmendContractInput {
  refuseUnsupported(body, UNSUPPORTED_AMENDMENTS);
  return {
    customerId: body.customer_id,
    contractId: body.contract_id,
    startingAt: body.starting_at,
    terms: {
      commits: (body.commits ?? []).map(commitFromWire),
      credits: (body.credits ?? []).map(creditFromWire),
      overrides: (body.overrides ?? []).map(overrideFromWire),
      scheduledCharges: (body.scheduled_charges ?? []).map(scheduledChargeFromWire),
    },
    customFields: body.custom_fields ?? {},
    createdBy,
  };
}
