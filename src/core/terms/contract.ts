/** A contract: its header, and all its terms together. */
import { z } from 'zod';
import { commit } from './commits.ts';
import { MULTIPLIER_PRIORITIZATIONS, override } from './overrides.ts';
import { professionalService } from './professional-services.ts';
import { recurringCommit } from './recurring-commits.ts';
import { scheduledCharge } from './scheduled-charges.ts';
import { subscription } from './subscriptions.ts';
import { prepaidBalanceThreshold, spendThreshold, spendTracker } from './thresholds.ts';
import { exactText, instantValue, listOf, objectOf } from './values.ts';

export const statementSchedule = objectOf({
  frequency: z.enum(['WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL']),
  day: z.enum(['FIRST_OF_MONTH', 'CONTRACT_START', 'CUSTOM_DATE']),
  /** Set for CUSTOM_DATE only. */
  anchor: instantValue.nullable(),
});

/** The place of a contract under a parent. */
const parentLink = objectOf({
  contractId: z.string(),
  customerId: z.string(),
  /** The payer of the child; null: unspecified, SELF. */
  payer: z.enum(['SELF', 'PARENT']).nullable(),
  /** Null: unspecified, SEPARATE. */
  usageStatementBehavior: z.enum(['CONSOLIDATE', 'SEPARATE']).nullable(),
});
type ParentLink = z.output<typeof parentLink>;

/**
 * The amount of usage beyond balances that a billing period may charge before holds are refused
 * (docs/explanation/holds.md).
 */
export const spendLimit = objectOf({
  amount: exactText,
  /** Always the currency of the rate card. Null, in packages and edits only: omitted. */
  creditTypeId: z.string().nullable(),
});
export type SpendLimit = z.output<typeof spendLimit>;

const contract = objectOf({
  id: z.string(),
  customerId: z.string(),
  /** The package that it was created from. */
  packageId: z.string().nullable(),
  name: z.string().nullable(),
  /** Null: the contract has no usage lines. */
  rateCardId: z.string().nullable(),
  startingAt: instantValue,
  /** Exclusive; null while the contract has no end. */
  endingBefore: instantValue.nullable(),
  statementSchedule,
  /** Usage is invoiced from here on; null: from the contract's start. */
  invoiceGenerationStartingAt: instantValue.nullable(),
  netPaymentTermsDays: z.int().nullable(),
  /** Null: usage is billed afterwards, without a limit. */
  spendLimit: spendLimit.nullable().default(null),
  multiplierPrioritization: z.enum(MULTIPLIER_PRIORITIZATIONS),
  /** Charges and purchases dated at the end of a usage invoice's period go onto that invoice. */
  scheduledChargesOnUsageInvoices: z.boolean(),
  billingConfigurationId: z.string().nullable(),
  parent: parentLink.nullable(),
  /** How a parent handles its children's statements; null: unspecified. */
  invoiceConsolidationType: z.enum(['CONCATENATE', 'NONE']).nullable(),
  uniquenessKey: z.string().nullable(),
  createdAt: instantValue,
  createdBy: z.string(),
  archivedAt: instantValue.nullable(),
});
export type Contract = z.output<typeof contract>;

/** The usage that belongs to the contract from `startingAt` until the next filter starts. */
export const usageFilter = objectOf({
  groupKey: z.string(),
  groupValues: listOf(z.string()),
  startingAt: instantValue,
});
export type UsageFilter = z.output<typeof usageFilter>;

/** The renewal of one contract by another. */
const transition = objectOf({
  fromContractId: z.string(),
  toContractId: z.string(),
  /** Whether unused balances move to the new contract. */
  rollsOver: z.boolean(),
  /** Whether true-ups of the old contract dated after the transition are billed. */
  trueup: z.enum(['REMOVE', 'AS_IS']),
});
export type Transition = z.output<typeof transition>;

/** Each list in the order in which its members were added; archived commits and charges included. */
const contractTerms = objectOf({
  /** Commits and credits, including those created by recurring terms and rollovers. */
  commits: listOf(commit),
  recurringCommits: listOf(recurringCommit),
  overrides: listOf(override),
  /** Discounts too. */
  scheduledCharges: listOf(scheduledCharge),
  professionalServices: listOf(professionalService).default([]),
  subscriptions: listOf(subscription),
  spendTrackers: listOf(spendTracker),
  spendThreshold: spendThreshold.nullable(),
  prepaidBalanceThreshold: prepaidBalanceThreshold.nullable(),
  /** By `startingAt`; the last one that has started is in force. */
  usageFilters: listOf(usageFilter),
});
export type ContractTerms = z.output<typeof contractTerms>;

export const fullContract = objectOf({ contract, terms: contractTerms });
export type FullContract = z.output<typeof fullContract>;

export interface HierarchyInput {
  readonly parent: { readonly contractId: string; readonly customerId: string } | null;
  readonly payer: ParentLink['payer'];
  readonly usageStatementBehavior: ParentLink['usageStatementBehavior'];
  readonly invoiceConsolidationType: Contract['invoiceConsolidationType'];
}

export interface TransitionInput {
  readonly fromContractId: string;
  readonly rollsOver: boolean;
  readonly trueup: Transition['trueup'];
}
