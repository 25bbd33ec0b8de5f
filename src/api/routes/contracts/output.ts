/** Contracts in answers: v1 with initial and current state, v2 flat. */
import { z } from 'zod';
import type { ContractView } from '../../../billing/contract-views/contract-views.ts';
import { customFieldsOf } from '../../../core/custom-fields.ts';
import type { FullContract } from '../../../core/terms/contract.ts';
import { formatInstant } from '../../../core/time.ts';
import { statementAnchor } from '../../../rating/periods/statement-anchor.ts';
import { byHand, called, kind, list, noted, optional } from '../../wire/description.ts';
import { timestamp } from '../../wire/fields.ts';
import { anyText, customFields, id, instant, oneOf } from '../../wire/kinds.ts';
import { beside, record } from '../../wire/record.ts';
import { contractTerms, contractTermsV2, termsView } from '../../wire/terms/contract-terms.ts';
import {
  billingConfiguration,
  billingConfigurationToWire,
} from '../billing-providers/configuration-schemas.ts';
import { amendment, amendmentView } from './amendment-output.ts';
import { hierarchyOutput, hierarchyToWire } from './hierarchy-output.ts';
import { multiplierPrioritization, onUsageInvoices, STATEMENT_FREQUENCIES, spendLimit } from './input.ts';
import { usageFilter, usageFiltersView, usageFiltersViewV2, usageFilterV2 } from './usage-filter-output.ts';

/** Optional parts that the request asked for. */
export interface OutputOptions {
  readonly includeBalance: boolean;
  readonly includeLedgers: boolean;
}

const transition = record(
  {
    type: kind(z.literal('RENEWAL'), z.literal('RENEWAL')),
    fromContractId: id,
    toContractId: id,
  },
  { id: { answered: 'ContractTransition' } },
);

/** Members that v1 and v2 share. */
const header = {
  name: optional(anyText),
  rateCardId: optional(id),
  startingAt: instant,
  endingBefore: optional(instant),
  netPaymentTermsDays: optional(kind(z.int(), z.int())),
  spendLimit: optional(spendLimit),
  statementSchedule: record(
    {
      frequency: oneOf(STATEMENT_FREQUENCIES),
      anchor: noted('A boundary of the billing periods.', instant),
    },
    { place: 'statementSchedule' },
  ),
  scheduledChargesOnUsageInvoices: onUsageInvoices,
  createdAt: instant,
  createdBy: anyText,
  transitions: list(transition),
  hierarchy: optional(byHand(hierarchyOutput)),
};

const identity = {
  id,
  customerId: id,
  packageId: optional(id),
  uniquenessKey: optional(anyText),
  archivedAt: optional(instant),
  customFields,
  billingConfiguration: called(
    'customer_billing_provider_configuration',
    optional(byHand(billingConfiguration)),
  ),
};

const { subscriptions, ...termsOfState } = contractTerms;
const { spendTrackers, spendThreshold, prepaidBalanceThreshold } = contractTerms;

const state = record(
  { ...header, terms: beside(termsOfState), usageFilter: optional(usageFilter) },
  { id: { answered: 'ContractWithoutAmendments' } },
);

export const contract = record(
  {
    ...identity,
    initial: state,
    current: state,
    amendments: list(amendment),
    scheduledChargesOnUsageInvoices: onUsageInvoices,
    terms: beside({ subscriptions, spendTrackers, spendThreshold, prepaidBalanceThreshold }),
  },
  { id: { answered: 'Contract' } },
);

const configurationEntry = z.object({
  billing_provider_configuration: billingConfiguration.nullable(),
  effective_at: timestamp,
  effective_until: timestamp.optional(),
});

const configurationSchedule = called(
  'billing_provider_configuration_schedule',
  byHand(
    z.array(configurationEntry).meta({ description: 'The active configuration; empty if there is none.' }),
  ),
);

const flat = { ...identity, ...header, usageFilter: list(usageFilterV2), multiplierPrioritization };

export const contractV2 = record(
  { ...flat, configurationSchedule, terms: beside(contractTermsV2) },
  { id: { answered: 'ContractV2' } },
);

/** The contract in the answer to its creation: flat as in v2, with the terms of v1. */
export const createdContract = record(
  { ...flat, terms: beside(contractTerms) },
  { id: { answered: 'CreatedContract' } },
);

export function contractToWire(view: ContractView, options: OutputOptions) {
  const current = stateView(view.current, view, options);
  const amendments = view.amendments.map((edit) => amendmentView(edit, view));
  return contract.write(
    { ...current, initial: stateView(view.initial, view, options), current, amendments },
    view.names,
  );
}

export function contractToWireV2(view: ContractView, options: OutputOptions) {
  const configurationSchedule = configurationScheduleOf(view);
  return contractV2.write({ ...flatView(view, options), configurationSchedule }, view.names);
}

export function createdContractToWire(view: ContractView) {
  const options = { includeBalance: false, includeLedgers: false };
  return createdContract.write(flatView(view, options), view.names);
}

function configurationScheduleOf({
  billingConfiguration: one,
  configuredFrom,
}: ContractView): z.input<typeof configurationEntry>[] {
  if (one === null) return [];
  const effective_at = formatInstant(configuredFrom);
  return [{ billing_provider_configuration: billingConfigurationToWire(one), effective_at }];
}

function flatView(view: ContractView, options: OutputOptions) {
  const { contract: header, terms } = view.current;
  return {
    ...stateView(view.current, view, options),
    usageFilter: usageFiltersViewV2(terms.usageFilters, header.endingBefore),
  };
}

/** A state of the contract with all data that answers show. */
function stateView(state: FullContract, view: ContractView, options: OutputOptions) {
  const { contract, terms } = state;
  return {
    ...contract,
    statementSchedule: { frequency: contract.statementSchedule.frequency, anchor: statementAnchor(contract) },
    terms: termsView(terms, { ...view, ...options, contract }),
    transitions: view.transitions.map((one) => ({ ...one, type: 'RENEWAL' as const })),
    usageFilter: usageFiltersView(terms.usageFilters, view.now),
    hierarchy: hierarchyToWire(state, view),
    customFields: customFieldsOf(view.names.customFields, contract.id),
    billingConfiguration: view.billingConfiguration && billingConfigurationToWire(view.billingConfiguration),
  };
}
