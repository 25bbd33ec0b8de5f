/** How contracts look in answers: v1 with its initial and current states, v2 flat. */
import { z } from 'zod';
import type { ContractView } from '../../../billing/contracts/reads/contract-views.ts';
import { customFieldsOf } from '../../../core/custom-fields.ts';
import type { Contract, FullContract, Transition } from '../../../core/terms/contract.ts';
import { MULTIPLIER_PRIORITIZATIONS } from '../../../core/terms/overrides.ts';
import { formatInstant } from '../../../core/time.ts';
import { statementAnchor } from '../../../rating/periods/statement-anchor.ts';
import { customFields, timestamp, uuid } from '../../wire/fields.ts';
import {
  type CommitContext,
  commitOutput,
  commitOutputV2,
  commitToWire,
  commitToWireV2,
  creditOutput,
  creditOutputV2,
  creditToWire,
  creditToWireV2,
} from '../../wire/terms/commit-output.ts';
import { isCommit } from '../../wire/terms/commit-schemas.ts';
import {
  overrideOutput,
  overrideOutputV2,
  overrideToWire,
  overrideToWireV2,
} from '../../wire/terms/override-schemas.ts';
import {
  recurringCommitOutput,
  recurringCommitToWire,
  recurringCreditOutput,
} from '../../wire/terms/recurring-commit-schemas.ts';
import { scheduledChargeOutput, scheduledChargeToWire } from '../../wire/terms/scheduled-charge-schemas.ts';
import { subscriptionOutput, subscriptionToWire } from '../../wire/terms/subscription-schemas.ts';
import { given } from '../../wire/terms/term-fields.ts';
import {
  prepaidBalanceThresholdOutput,
  prepaidBalanceThresholdToWire,
  spendThresholdOutput,
  spendThresholdToWire,
  spendTrackerOutput,
  spendTrackerToWire,
} from '../../wire/terms/threshold-schemas.ts';
import {
  billingConfiguration,
  billingConfigurationToWire,
} from '../billing-providers/configuration-schemas.ts';
import { amendmentOutput, amendmentToWire } from './amendment-output.ts';
import { hierarchyOutput, hierarchyToWire } from './hierarchy-output.ts';
import { STATEMENT_FREQUENCIES } from './input.ts';
import {
  usageFilterOutput,
  usageFilterOutputV2,
  usageFiltersToWireV2,
  usageFilterToWire,
} from './usage-filter-output.ts';

/** What a reader asked to see besides the terms. */
export interface OutputOptions {
  readonly includeBalance: boolean;
  readonly includeLedgers: boolean;
}

const scheduledChargesOnUsageInvoices = z.literal('ALL').optional();

const transition = z
  .object({ type: z.literal('RENEWAL'), from_contract_id: uuid, to_contract_id: uuid })
  .meta({ id: 'ContractTransition' });

/** What both versions show of a state of a contract. */
const headerShape = {
  name: z.string().optional(),
  rate_card_id: uuid.optional(),
  starting_at: timestamp,
  ending_before: timestamp.optional(),
  net_payment_terms_days: z.int().optional(),
  usage_statement_schedule: z.object({
    frequency: z.enum(STATEMENT_FREQUENCIES),
    billing_anchor_date: timestamp.meta({ description: 'A boundary of the billing periods.' }),
  }),
  scheduled_charges_on_usage_invoices: scheduledChargesOnUsageInvoices,
  created_at: timestamp,
  created_by: z.string(),
};

const settingsShape = {
  spend_threshold_configuration: spendThresholdOutput.optional(),
  prepaid_balance_threshold_configuration: prepaidBalanceThresholdOutput.optional(),
  spend_trackers: z.array(spendTrackerOutput).optional(),
};

const sharedTermsShape = {
  recurring_commits: z.array(recurringCommitOutput).optional(),
  recurring_credits: z.array(recurringCreditOutput).optional(),
  scheduled_charges: z.array(scheduledChargeOutput),
  transitions: z.array(transition),
};

const contractState = z
  .object({
    ...headerShape,
    ...settingsShape,
    ...sharedTermsShape,
    commits: z.array(commitOutput),
    credits: z.array(creditOutput),
    overrides: z.array(overrideOutput),
    usage_filter: usageFilterOutput.optional(),
    hierarchy_configuration: hierarchyOutput.optional(),
  })
  .meta({ id: 'ContractWithoutAmendments' });

export const contractOutput = z
  .object({
    id: uuid,
    customer_id: uuid,
    package_id: uuid.optional(),
    uniqueness_key: z.string().optional(),
    archived_at: timestamp.optional(),
    initial: contractState,
    current: contractState,
    amendments: z.array(amendmentOutput),
    custom_fields: customFields,
    customer_billing_provider_configuration: billingConfiguration.optional(),
    scheduled_charges_on_usage_invoices: scheduledChargesOnUsageInvoices,
    subscriptions: z.array(subscriptionOutput).optional(),
    ...settingsShape,
  })
  .meta({ id: 'Contract' });

const contractV2Shape = {
  id: uuid,
  customer_id: uuid,
  package_id: uuid.optional(),
  uniqueness_key: z.string().optional(),
  archived_at: timestamp.optional(),
  ...headerShape,
  ...settingsShape,
  ...sharedTermsShape,
  usage_filter: z.array(usageFilterOutputV2),
  multiplier_override_prioritization: z.enum(MULTIPLIER_PRIORITIZATIONS),
  custom_fields: customFields,
  customer_billing_provider_configuration: billingConfiguration.optional(),
  subscriptions: z.array(subscriptionOutput).optional(),
  hierarchy_configuration: hierarchyOutput.optional(),
};

export const contractOutputV2 = z
  .object({
    ...contractV2Shape,
    commits: z.array(commitOutputV2),
    credits: z.array(creditOutputV2),
    overrides: z.array(overrideOutputV2),
  })
  .meta({ id: 'ContractV2' });

/** The contract in the answer to its creation: flat as in v2, with the terms of v1. */
export const createdContractOutput = z
  .object({
    ...contractV2Shape,
    commits: z.array(commitOutput),
    credits: z.array(creditOutput),
    overrides: z.array(overrideOutput),
  })
  .meta({ id: 'CreatedContract' });

export function contractToWire(view: ContractView, options: OutputOptions): z.input<typeof contractOutput> {
  const { contract, terms } = view.current;
  return {
    ...identityToWire(contract),
    initial: stateToWire(view.initial, view, options),
    current: stateToWire(view.current, view, options),
    amendments: view.amendments.map((edit) => amendmentToWire(edit, view.names)),
    custom_fields: customFieldsOf(view.names.customFields, contract.id),
    ...billingConfigurationOf(view),
    ...given('scheduled_charges_on_usage_invoices', onUsageInvoices(contract)),
    ...given('subscriptions', subscriptionsToWire(view)),
    ...settingsToWire(terms),
  };
}

export function contractToWireV2(
  view: ContractView,
  options: OutputOptions,
): z.input<typeof contractOutputV2> {
  const { terms } = view.current;
  const context = commitContext(view.current, view, options);
  return {
    ...flatToWire(view),
    commits: terms.commits.filter(isCommit).map((commit) => commitToWireV2(commit, context)),
    credits: terms.commits.filter((one) => !isCommit(one)).map((credit) => creditToWireV2(credit, context)),
    overrides: terms.overrides.map((override) => overrideToWireV2(override, view.names)),
  };
}

export function createdContractToWire(view: ContractView): z.input<typeof createdContractOutput> {
  const options = { includeBalance: false, includeLedgers: false };
  const { commits, credits, overrides } = v1TermsToWire(view.current, view, options);
  return { ...flatToWire(view), commits, credits, overrides };
}

function flatToWire(view: ContractView): z.input<z.ZodObject<typeof contractV2Shape>> {
  const { contract, terms } = view.current;
  return {
    ...identityToWire(contract),
    ...headerToWire(contract),
    ...settingsToWire(terms),
    ...sharedTermsToWire(view.current, view),
    usage_filter: usageFiltersToWireV2(terms.usageFilters, contract.endingBefore),
    multiplier_override_prioritization: contract.multiplierPrioritization,
    custom_fields: customFieldsOf(view.names.customFields, contract.id),
    ...billingConfigurationOf(view),
    ...given('subscriptions', subscriptionsToWire(view)),
    ...given('hierarchy_configuration', hierarchyToWire(view.current, view)),
  };
}

function stateToWire(
  state: FullContract,
  view: ContractView,
  options: OutputOptions,
): z.input<typeof contractState> {
  return {
    ...headerToWire(state.contract),
    ...settingsToWire(state.terms),
    ...sharedTermsToWire(state, view),
    ...v1TermsToWire(state, view, options),
    ...given('usage_filter', usageFilterToWire(state.terms.usageFilters, view.now)),
    ...given('hierarchy_configuration', hierarchyToWire(state, view)),
  };
}

function v1TermsToWire(state: FullContract, view: ContractView, options: OutputOptions) {
  const { commits, overrides } = state.terms;
  const context = commitContext(state, view, options);
  return {
    commits: commits.filter(isCommit).map((commit) => commitToWire(commit, context)),
    credits: commits.filter((one) => !isCommit(one)).map((credit) => creditToWire(credit, context)),
    overrides: overrides.map((override) => overrideToWire(override, view.names)),
  };
}

function commitContext({ terms }: FullContract, view: ContractView, options: OutputOptions): CommitContext {
  return {
    ...options,
    names: view.names,
    recurringCommits: new Map(terms.recurringCommits.map((one) => [one.id, one])),
    balances: view.balances,
    costBases: view.costBases,
  };
}

function identityToWire(contract: Contract) {
  return {
    id: contract.id,
    customer_id: contract.customerId,
    ...given('package_id', contract.packageId),
    ...given('uniqueness_key', contract.uniquenessKey),
    ...given('archived_at', contract.archivedAt === null ? null : formatInstant(contract.archivedAt)),
  };
}

function headerToWire(contract: Contract) {
  return {
    ...given('name', contract.name),
    ...given('rate_card_id', contract.rateCardId),
    starting_at: formatInstant(contract.startingAt),
    ...given('ending_before', contract.endingBefore === null ? null : formatInstant(contract.endingBefore)),
    ...given('net_payment_terms_days', contract.netPaymentTermsDays),
    usage_statement_schedule: {
      frequency: contract.statementSchedule.frequency,
      billing_anchor_date: formatInstant(statementAnchor(contract)),
    },
    ...given('scheduled_charges_on_usage_invoices', onUsageInvoices(contract)),
    created_at: formatInstant(contract.createdAt),
    created_by: contract.createdBy,
  };
}

function onUsageInvoices(contract: Contract): 'ALL' | null {
  return contract.scheduledChargesOnUsageInvoices ? 'ALL' : null;
}

function settingsToWire({ spendThreshold, prepaidBalanceThreshold, spendTrackers }: FullContract['terms']) {
  return {
    ...given(
      'spend_threshold_configuration',
      spendThreshold === null ? null : spendThresholdToWire(spendThreshold),
    ),
    ...given(
      'prepaid_balance_threshold_configuration',
      prepaidBalanceThreshold === null ? null : prepaidBalanceThresholdToWire(prepaidBalanceThreshold),
    ),
    ...given('spend_trackers', spendTrackers.map(spendTrackerToWire)),
  };
}

function sharedTermsToWire({ terms }: FullContract, { names, transitions }: ContractView) {
  const recurring = (kind: 'COMMIT' | 'CREDIT') =>
    terms.recurringCommits
      .filter((term) => term.kind === kind)
      .map((term) => recurringCommitToWire(term, names));
  return {
    ...given('recurring_commits', recurring('COMMIT')),
    ...given('recurring_credits', recurring('CREDIT')),
    scheduled_charges: terms.scheduledCharges.map((charge) => scheduledChargeToWire(charge, names)),
    transitions: transitions.map(transitionToWire),
  };
}

function transitionToWire(from: Transition): z.input<typeof transition> {
  return { type: 'RENEWAL', from_contract_id: from.fromContractId, to_contract_id: from.toContractId };
}

function subscriptionsToWire({ current, names, now, fiatCreditTypeId }: ContractView) {
  const context = { contract: current.contract, names, now, fiatCreditTypeId };
  return current.terms.subscriptions.map((subscription) => subscriptionToWire(subscription, context));
}

function billingConfigurationOf({ billingConfiguration: configuration }: ContractView) {
  return given(
    'customer_billing_provider_configuration',
    configuration === null ? null : billingConfigurationToWire(configuration),
  );
}
