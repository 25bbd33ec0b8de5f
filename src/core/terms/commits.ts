/**
 * Commits and credits: amounts that usage draws down. A credit is a commit of type CREDIT: it has no
 * invoice schedule, and everything else in common.
 */
import { z } from 'zod';
import { applicability, hierarchyAccess, RATE_TARGETS } from './applicability.ts';
import { paymentGate } from './payment-gate.ts';
import {
  type AccessScheduleInput,
  accessSchedule,
  type InvoiceScheduleInput,
  invoiceSchedule,
} from './schedules.ts';
import { exactText, instantValue, listOf, type MayBeGiven, objectOf } from './values.ts';

export const COMMIT_TYPES = ['PREPAID', 'POSTPAID', 'CREDIT'] as const;
export type CommitType = (typeof COMMIT_TYPES)[number];

/** The default priority; balances with a lower one are drawn down first. */
export const DEFAULT_PRIORITY = '100';

/** The plain fields of commits and credits, shared by stored terms, requests, packages and patches. */
export const plainCommit = {
  name: z.string().nullable(),
  description: z.string().nullable(),
  /** A FIXED product: names the commit on invoices; does not decide which usage it applies to. */
  productId: z.string(),
  rateType: z.enum(RATE_TARGETS),
  /** The share of a segment's amount that may roll over, 0 to 1. */
  rolloverFraction: exactText.nullable(),
};

export const commit = objectOf({
  id: z.string(),
  customerId: z.string(),
  /** Null: belongs to the customer and applies to all its contracts or those in `applicableContractIds`. */
  contractId: z.string().nullable(),
  type: z.enum(COMMIT_TYPES),
  ...plainCommit,
  priority: exactText,
  accessSchedule,
  /** Null for credits and for free commits. */
  invoiceSchedule: invoiceSchedule.nullable(),
  /** Where a commit of the customer is invoiced. */
  invoiceContractId: z.string().nullable(),
  applicability,
  /** Commits of the customer only; empty: all contracts. */
  applicableContractIds: listOf(z.string()),
  hierarchyAccess: hierarchyAccess.nullable(),
  /** Whether spend trackers count the purchase as discounted; null: unspecified. */
  countsAsDiscounted: z.boolean().nullable(),
  /** Null: no gate. */
  paymentGate: paymentGate.nullable(),
  /** The recurring term that created it. */
  recurringCommitId: z.string().nullable(),
  rolledOverFrom: objectOf({ commitId: z.string(), contractId: z.string() }).nullable(),
  uniquenessKey: z.string().nullable(),
  createdAt: instantValue,
  /** Null: created by the service itself. */
  createdBy: z.string().nullable(),
  archivedAt: instantValue.nullable(),
});
export type Commit = z.output<typeof commit>;

/** A commit or credit as a client describes it. Null: omitted. */
export type CommitInput = Omit<
  Commit,
  | 'id'
  | 'customerId'
  | 'contractId'
  | 'accessSchedule'
  | 'invoiceSchedule'
  | 'invoiceContractId'
  | 'applicableContractIds'
  | 'recurringCommitId'
  | 'rolledOverFrom'
  | 'uniquenessKey'
  | 'createdAt'
  | 'createdBy'
  | 'archivedAt'
  | 'priority'
  | 'rateType'
> &
  MayBeGiven<Commit, 'priority' | 'rateType'> & {
    readonly accessSchedule: AccessScheduleInput | null;
    readonly invoiceSchedule: InvoiceScheduleInput | null;
    readonly customFields: Readonly<Record<string, string>>;
    /** Temporary id, for overrides of the same request that reference it. */
    readonly temporaryId: string | null;
  };
