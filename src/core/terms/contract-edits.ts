/** Changes of contracts as stored in the edit history. */
import { z } from 'zod';
import type { Instant } from '../time.ts';
import { commit } from './commits.ts';
import { type ContractTerms, spendLimit, usageFilter } from './contract.ts';
import { override } from './overrides.ts';
import {
  commitPatch,
  prepaidBalanceThresholdPatch,
  recurringCommitPatch,
  scheduledChargePatch,
  spendThresholdPatch,
  subscriptionPatch,
} from './patches.ts';
import { professionalService } from './professional-services.ts';
import { recurringCommit } from './recurring-commits.ts';
import { scheduledCharge } from './scheduled-charges.ts';
import { subscription } from './subscriptions.ts';
import { prepaidBalanceThreshold, spendThreshold, spendTracker } from './thresholds.ts';
import { instantValue, listOf, objectOf } from './values.ts';

const ids = listOf(z.string());

/** Absent: not changed. Null: removed. */
const headerShape = {
  name: z.string().nullable().optional(),
  netPaymentTermsDays: z.int().nullable().optional(),
  endingBefore: instantValue.nullable().optional(),
  spendLimit: spendLimit.nullable().optional(),
};

const removalsShape = {
  archiveCommits: ids,
  archiveCredits: ids,
  archiveScheduledCharges: ids,
  /** Aliases. */
  archiveSpendTrackers: ids,
  removeOverrides: ids,
};

const updatesShape = {
  updateCommits: listOf(commitPatch),
  updateCredits: listOf(commitPatch),
  updateRecurringCommits: listOf(recurringCommitPatch),
  updateRecurringCredits: listOf(recurringCommitPatch),
  updateScheduledCharges: listOf(scheduledChargePatch),
  updateSubscriptions: listOf(subscriptionPatch),
  updateSpendThreshold: spendThresholdPatch.nullable(),
  updatePrepaidBalanceThreshold: prepaidBalanceThresholdPatch.nullable(),
};

const additionsShape = {
  /** Credits too. */
  addCommits: listOf(commit),
  /** Recurring commits and recurring credits. */
  addRecurringCommits: listOf(recurringCommit),
  addOverrides: listOf(override),
  /** Discounts too. */
  addScheduledCharges: listOf(scheduledCharge),
  addProfessionalServices: listOf(professionalService).default([]),
  addSubscriptions: listOf(subscription),
  addSpendTrackers: listOf(spendTracker),
  addUsageFilters: listOf(usageFilter),
  addSpendThreshold: spendThreshold.nullable(),
  addPrepaidBalanceThreshold: prepaidBalanceThreshold.nullable(),
  /** The billing configuration that was added to a contract without one. */
  addBillingConfigurationId: z.string().nullable(),
};

export type HeaderChanges = Readonly<z.output<z.ZodObject<typeof headerShape>>>;
export type Removals = Readonly<z.output<z.ZodObject<typeof removalsShape>>>;
export type Updates = Readonly<z.output<z.ZodObject<typeof updatesShape>>>;

/** Added terms as they were added; other changes as requested. */
export const contractChanges = objectOf({
  ...headerShape,
  ...removalsShape,
  ...updatesShape,
  ...additionsShape,
  /** The requested invoice of professional services. */
  scheduleProfessionalServicesInvoice: z.string().nullable().default(null),
  /** The billing configuration that was removed because it was archived. */
  removeBillingConfigurationId: z.string().nullable(),
  /** Set if the contract was archived. */
  archivedAt: instantValue.nullable(),
});
export type ContractChanges = z.output<typeof contractChanges>;

export const NO_REMOVALS: Removals = {
  archiveCommits: [],
  archiveCredits: [],
  archiveScheduledCharges: [],
  archiveSpendTrackers: [],
  removeOverrides: [],
};

export const NO_UPDATES: Updates = {
  updateCommits: [],
  updateCredits: [],
  updateRecurringCommits: [],
  updateRecurringCredits: [],
  updateScheduledCharges: [],
  updateSubscriptions: [],
  updateSpendThreshold: null,
  updatePrepaidBalanceThreshold: null,
};

export const NO_CHANGES: ContractChanges = {
  ...NO_REMOVALS,
  ...NO_UPDATES,
  addCommits: [],
  addRecurringCommits: [],
  addOverrides: [],
  addScheduledCharges: [],
  addProfessionalServices: [],
  addSubscriptions: [],
  addSpendTrackers: [],
  addUsageFilters: [],
  addSpendThreshold: null,
  addPrepaidBalanceThreshold: null,
  addBillingConfigurationId: null,
  scheduleProfessionalServicesInvoice: null,
  removeBillingConfigurationId: null,
  archivedAt: null,
};

export interface ContractEdit {
  readonly id: string;
  readonly contractId: string;
  readonly timestamp: Instant;
  readonly uniquenessKey: string | null;
  /** Set for amendments: the earliest start of their terms. */
  readonly amendmentStartingAt: Instant | null;
  readonly createdBy: string;
  readonly changes: ContractChanges;
}

/** The terms that a change added, in the shape of a contract's terms. */
export function addedTerms(changes: ContractChanges): ContractTerms {
  return {
    commits: changes.addCommits,
    recurringCommits: changes.addRecurringCommits,
    overrides: changes.addOverrides,
    scheduledCharges: changes.addScheduledCharges,
    professionalServices: changes.addProfessionalServices,
    subscriptions: changes.addSubscriptions,
    spendTrackers: changes.addSpendTrackers,
    spendThreshold: changes.addSpendThreshold,
    prepaidBalanceThreshold: changes.addPrepaidBalanceThreshold,
    usageFilters: changes.addUsageFilters,
  };
}
