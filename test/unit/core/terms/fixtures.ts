/** Plain terms with default values. */
import { decimal } from '../../../../src/core/decimal.ts';
import { ANY_USAGE } from '../../../../src/core/terms/applicability.ts';
import type { Commit } from '../../../../src/core/terms/commits.ts';
import type { Contract, ContractTerms, FullContract } from '../../../../src/core/terms/contract.ts';
import type { RecurringCommit } from '../../../../src/core/terms/recurring-commits.ts';
import type { ScheduledCharge } from '../../../../src/core/terms/scheduled-charges.ts';
import type { Subscription } from '../../../../src/core/terms/subscriptions.ts';

export function subscriptionWith(change: Partial<Subscription>): Subscription {
  return {
    id: 'subscription',
    contractId: 'contract',
    productId: 'seats',
    billingFrequency: 'MONTHLY',
    name: null,
    description: null,
    collectionSchedule: 'ADVANCE',
    isProrated: false,
    invoiceBehavior: 'BILL_IMMEDIATELY',
    prorationRounding: null,
    quantityManagementMode: 'QUANTITY_ONLY',
    seatGroupKey: null,
    startingAt: 0,
    endingBefore: null,
    anchorDate: null,
    invoicePlacement: 'ON_USAGE_INVOICE',
    quantityChanges: [],
    seatChanges: [],
    createdAt: 0,
    createdBy: 'tests',
    ...change,
  };
}

export function commitWith(change: Partial<Commit>): Commit {
  return {
    id: 'commit',
    customerId: 'customer',
    contractId: 'contract',
    type: 'PREPAID',
    name: null,
    description: null,
    productId: 'fee',
    priority: decimal('100'),
    rateType: 'LIST_RATE',
    rolloverFraction: null,
    accessSchedule: { creditTypeId: 'usd', segments: [] },
    invoiceSchedule: null,
    invoiceContractId: null,
    applicability: ANY_USAGE,
    applicableContractIds: [],
    hierarchyAccess: null,
    countsAsDiscounted: null,
    paymentGate: null,
    recurringCommitId: null,
    rolledOverFrom: null,
    uniquenessKey: null,
    createdAt: 0,
    createdBy: 'tests',
    archivedAt: null,
    ...change,
  };
}

/** Segments of an id, an amount, a start and an end. */
export function accessWith(...segments: [string, string, number, number][]): Commit['accessSchedule'] {
  return {
    creditTypeId: 'usd',
    segments: segments.map(([id, amount, startingAt, endingBefore]) => ({
      id,
      amount: decimal(amount),
      startingAt,
      endingBefore,
    })),
  };
}

export function recurringWith(change: Partial<RecurringCommit>): RecurringCommit {
  return {
    id: 'recurring',
    contractId: 'contract',
    kind: 'COMMIT',
    name: null,
    description: null,
    productId: 'fee',
    accessAmount: { unitPrice: decimal('1'), quantity: decimal('1'), creditTypeId: 'usd' },
    invoiceAmount: null,
    priority: decimal('100'),
    rateType: 'LIST_RATE',
    rolloverFraction: null,
    applicability: ANY_USAGE,
    hierarchyAccess: null,
    startingAt: 0,
    endingBefore: null,
    commitDurationPeriods: 1,
    recurrenceFrequency: null,
    proration: 'NONE',
    accessRounding: null,
    invoiceRounding: null,
    subscription: null,
    createdAt: 0,
    createdBy: 'tests',
    ...change,
  };
}

export function chargeWith(change: Partial<ScheduledCharge>): ScheduledCharge {
  return {
    id: 'charge',
    contractId: 'contract',
    kind: 'CHARGE',
    productId: 'fee',
    name: null,
    schedule: { creditTypeId: 'usd', doNotInvoice: false, items: [] },
    description: null,
    onUsageInvoice: false,
    createdAt: 0,
    createdBy: 'tests',
    archivedAt: null,
    ...change,
  };
}

export function contractWith(change: Partial<Contract>, terms: Partial<ContractTerms> = {}): FullContract {
  return {
    contract: {
      id: 'contract',
      customerId: 'customer',
      packageId: null,
      name: null,
      rateCardId: 'card',
      startingAt: 0,
      endingBefore: null,
      statementSchedule: { frequency: 'MONTHLY', day: 'FIRST_OF_MONTH', anchor: null },
      invoiceGenerationStartingAt: null,
      netPaymentTermsDays: null,
      spendLimit: null,
      multiplierPrioritization: 'LOWEST_MULTIPLIER',
      scheduledChargesOnUsageInvoices: false,
      billingConfigurationId: null,
      parent: null,
      invoiceConsolidationType: null,
      uniquenessKey: null,
      createdAt: 0,
      createdBy: 'tests',
      archivedAt: null,
      ...change,
    },
    terms: {
      commits: [],
      recurringCommits: [],
      overrides: [],
      scheduledCharges: [],
      professionalServices: [],
      subscriptions: [],
      spendTrackers: [],
      spendThreshold: null,
      prepaidBalanceThreshold: null,
      usageFilters: [],
      ...terms,
    },
  };
}
