/**
 * Commits and credits: amounts that usage draws down. A credit is a commit of type CREDIT: it has no
 * invoice schedule, and everything else in common.
 */
import { z } from 'zod';
import type { Decimal } from '../decimal.ts';
import { type Applicability, applicability, type HierarchyAccess, hierarchyAccess } from './applicability.ts';
import { type PaymentGate, paymentGate } from './payment-gate.ts';
import {
  type AccessScheduleInput,
  accessSchedule,
  type InvoiceScheduleInput,
  invoiceSchedule,
} from './schedules.ts';
import { exactText, instantValue, listOf, objectOf } from './values.ts';

export const COMMIT_TYPES = ['PREPAID', 'POSTPAID', 'CREDIT'] as const;
export type CommitType = (typeof COMMIT_TYPES)[number];

/** The place in the burn-down order of whatever was given none; lower is used first. */
export const DEFAULT_PRIORITY = '100';

export const commit = objectOf({
  id: z.string(),
  customerId: z.string(),
  /** Null: of the customer, for all its contracts or those in `applicableContractIds`. */
  contractId: z.string().nullable(),
  type: z.enum(COMMIT_TYPES),
  name: z.string().nullable(),
  description: z.string().nullable(),
  /** A FIXED product: names the commit on invoices and says nothing about what it covers. */
  productId: z.string(),
  priority: exactText,
  rateType: z.enum(['LIST_RATE', 'COMMIT_RATE']),
  /** The share of a segment's amount that may roll over, 0 to 1. */
  rolloverFraction: exactText.nullable(),
  accessSchedule,
  /** Null for credits and for commits that cost nothing. */
  invoiceSchedule: invoiceSchedule.nullable(),
  /** Where a commit of the customer is invoiced. */
  invoiceContractId: z.string().nullable(),
  applicability,
  /** Commits of the customer only; empty: all contracts. */
  applicableContractIds: listOf(z.string()),
  hierarchyAccess: hierarchyAccess.nullable(),
  /** Whether spend trackers count the purchase as discounted; null: not said. */
  countsAsDiscounted: z.boolean().nullable(),
  /** Null: no gate. */
  paymentGate: paymentGate.nullable(),
  /** The recurring term that made it. */
  recurringCommitId: z.string().nullable(),
  rolledOverFrom: objectOf({ commitId: z.string(), contractId: z.string() }).nullable(),
  uniquenessKey: z.string().nullable(),
  createdAt: instantValue,
  /** Null: made by the service itself. */
  createdBy: z.string().nullable(),
  archivedAt: instantValue.nullable(),
});
export type Commit = z.output<typeof commit>;

/** A commit or credit as a client describes it. Null: not given. */
export interface CommitInput {
  readonly type: CommitType;
  readonly name: string | null;
  readonly description: string | null;
  readonly productId: string;
  readonly priority: Decimal | null;
  readonly rateType: Commit['rateType'] | null;
  readonly rolloverFraction: Decimal | null;
  readonly accessSchedule: AccessScheduleInput | null;
  readonly invoiceSchedule: InvoiceScheduleInput | null;
  readonly applicability: Applicability;
  readonly hierarchyAccess: HierarchyAccess | null;
  readonly countsAsDiscounted: boolean | null;
  /** Only with an edit of a contract that exists. */
  readonly paymentGate: PaymentGate | null;
  readonly customFields: Readonly<Record<string, string>>;
  /** By which overrides of the same request name it. */
  readonly temporaryId: string | null;
}
