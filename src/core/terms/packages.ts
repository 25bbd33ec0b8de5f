/**
 * Packages: templates of contract terms, with dates relative to the start of the contract created from them. Each
 * template is a contract's term without the fields that the contract adds.
 */
import { z } from 'zod';
import { CONTRACT_BILLING_PROVIDERS, DELIVERY_METHODS } from '../billing-providers.ts';
import { relativeDate } from '../relative-time.ts';
import type { Instant } from '../time.ts';
import { commit, plainCommit } from './commits.ts';
import { spendLimit, statementSchedule } from './contract.ts';
import { MULTIPLIER_PRIORITIZATIONS, override } from './overrides.ts';
import { recurringCommit } from './recurring-commits.ts';
import { subscription } from './subscriptions.ts';
import { prepaidBalanceThreshold, spendThreshold, spendTracker } from './thresholds.ts';
import { exactText, listOf, objectOf } from './values.ts';

const relativeAccessSchedule = objectOf({
  creditTypeId: z.string(),
  segments: listOf(
    objectOf({ id: z.string(), amount: exactText, startingAtOffset: relativeDate, duration: relativeDate }),
  ),
});

/** The amount of an item is its unit price × quantity. */
const relativeInvoiceSchedule = objectOf({
  creditTypeId: z.string(),
  doNotInvoice: z.boolean(),
  items: listOf(
    objectOf({ id: z.string(), dateOffset: relativeDate, unitPrice: exactText, quantity: exactText }),
  ),
});
export type RelativeInvoiceSchedule = z.output<typeof relativeInvoiceSchedule>;

/** Without a duration a term lasts until the contract ends. */
const range = { startingAtOffset: relativeDate, duration: relativeDate.nullable() };

/** Also the template of a credit. */
const commitTemplate = commit
  .unwrap()
  .pick({ id: true, type: true, priority: true, applicability: true })
  .extend({
    ...plainCommit,
    accessSchedule: relativeAccessSchedule,
    invoiceSchedule: relativeInvoiceSchedule.nullable(),
  })
  .readonly();
export type CommitTemplate = z.output<typeof commitTemplate>;

/** `subscription.subscriptionId` is the id of a template of the same package. */
const recurringCommitTemplate = recurringCommit
  .unwrap()
  .omit({
    contractId: true,
    hierarchyAccess: true,
    startingAt: true,
    endingBefore: true,
    createdAt: true,
    createdBy: true,
  })
  .extend(range)
  .readonly();
export type RecurringCommitTemplate = z.output<typeof recurringCommitTemplate>;

/** The ids of commits in its specifiers refer to templates of the same package. */
const overrideTemplate = override
  .unwrap()
  .omit({
    contractId: true,
    startingAt: true,
    endingBefore: true,
    productId: true,
    applicableProductTags: true,
    createdAt: true,
  })
  .extend(range)
  .readonly();
export type OverrideTemplate = z.output<typeof overrideTemplate>;

const scheduledChargeTemplate = objectOf({
  id: z.string(),
  productId: z.string(),
  name: z.string().nullable(),
  schedule: relativeInvoiceSchedule,
});

const subscriptionTemplate = subscription
  .unwrap()
  .omit({
    contractId: true,
    seatGroupKey: true,
    startingAt: true,
    endingBefore: true,
    anchorDate: true,
    quantityChanges: true,
    seatChanges: true,
    createdAt: true,
    createdBy: true,
  })
  .extend({
    /** With QUANTITY_ONLY. */
    initialQuantity: exactText.nullable(),
    /** With SEAT_BASED. */
    seatConfig: objectOf({
      seatGroupKey: z.string(),
      initialUnassignedSeats: z.int().nullable(),
    }).nullable(),
    /** Null: the contract's start. */
    startingAtOffset: relativeDate.nullable(),
    duration: relativeDate.nullable(),
  })
  .readonly();

/** The parts of a package that become terms or settings of the contract. */
export const termTemplates = objectOf({
  commits: listOf(commitTemplate),
  credits: listOf(commitTemplate),
  recurringCommits: listOf(recurringCommitTemplate),
  recurringCredits: listOf(recurringCommitTemplate),
  overrides: listOf(overrideTemplate),
  scheduledCharges: listOf(scheduledChargeTemplate),
  subscriptions: listOf(subscriptionTemplate),
  spendTrackers: listOf(spendTracker),
  spendThreshold: spendThreshold.nullable(),
  prepaidBalanceThreshold: prepaidBalanceThreshold.nullable(),
});
export type TermTemplates = z.output<typeof termTemplates>;

/** The members of the contract's header that the package sets. */
export const headerTemplate = objectOf({
  /** Null: contracts are named like the package. */
  contractName: z.string().nullable(),
  netPaymentTermsDays: z.int().nullable(),
  spendLimit: spendLimit.nullable().default(null),
  /** At most one of the two. */
  rateCardId: z.string().nullable(),
  /** Resolved as of the contract's start. */
  rateCardAlias: z.string().nullable(),
  /** Null: contracts have no end. */
  duration: relativeDate.nullable(),
  multiplierPrioritization: z.enum(MULTIPLIER_PRIORITIZATIONS),
  scheduledChargesOnUsageInvoices: z.boolean(),
  statementSchedule: objectOf({
    frequency: statementSchedule.unwrap().shape.frequency,
    day: z.enum(['FIRST_OF_MONTH', 'CONTRACT_START']),
    /** Null: usage invoices start with the contract. */
    invoiceGenerationStartingAtOffset: relativeDate.nullable(),
  }),
  /** The customer's configuration through which its contracts are billed; null: none. */
  billing: objectOf({
    provider: z.enum(CONTRACT_BILLING_PROVIDERS),
    deliveryMethod: z.enum(DELIVERY_METHODS),
  }).nullable(),
});
export type HeaderTemplate = z.output<typeof headerTemplate>;

/** Never changes after creation, except that it can be archived. */
export interface Package {
  readonly id: string;
  readonly name: string;
  readonly uniquenessKey: string | null;
  readonly header: HeaderTemplate;
  readonly terms: TermTemplates;
  readonly createdAt: Instant;
  readonly createdBy: string;
  readonly archivedAt: Instant | null;
}
