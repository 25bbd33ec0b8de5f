/** Terms that create a commit or a credit in every period. */
import { z } from 'zod';
import type { Instant } from '../time.ts';
import { applicability, hierarchyAccess } from './applicability.ts';
import { exactText, instantValue, type MayBeGiven, objectOf } from './values.ts';

export const RECURRENCE_FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'] as const;

export const COMMIT_PRORATIONS = ['NONE', 'FIRST', 'LAST', 'FIRST_AND_LAST'] as const;
export const PRORATION_ROUNDING_METHODS = ['HALF_UP', 'FLOOR', 'CEILING'] as const;

/** Applied to prorated amounts in their stored unit; negative places round to powers of ten. */
export const prorationRounding = objectOf({
  roundingMethod: z.enum(PRORATION_ROUNDING_METHODS),
  /** -5 to 5. */
  decimalPlaces: z.int(),
});

export const recurringCommit = objectOf({
  id: z.string(),
  contractId: z.string(),
  /** The kind of term it creates. */
  kind: z.enum(['COMMIT', 'CREDIT']),
  name: z.string().nullable(),
  description: z.string().nullable(),
  productId: z.string(),
  accessAmount: objectOf({
    unitPrice: exactText,
    /** Null exactly when `subscription` is set: the quantity is the subscription's. */
    quantity: exactText.nullable(),
    creditTypeId: z.string(),
  }),
  /** Null: nothing is invoiced. Always null for credits. */
  invoiceAmount: objectOf({ unitPrice: exactText, quantity: exactText, creditTypeId: z.string() }).nullable(),
  priority: exactText,
  rateType: z.enum(['LIST_RATE', 'COMMIT_RATE']),
  rolloverFraction: exactText.nullable(),
  applicability,
  hierarchyAccess: hierarchyAccess.nullable(),
  startingAt: instantValue,
  /** No commits are created from here on; null: until the contract ends. Equal to the start: never in force. */
  endingBefore: instantValue.nullable(),
  /** The number of periods for which each created commit can be used. */
  commitDurationPeriods: z.int(),
  /** Null: the periods of the usage invoices. */
  recurrenceFrequency: z.enum(RECURRENCE_FREQUENCIES).nullable(),
  proration: z.enum(COMMIT_PRORATIONS),
  accessRounding: prorationRounding.nullable(),
  invoiceRounding: prorationRounding.nullable(),
  subscription: objectOf({
    subscriptionId: z.string(),
    allocation: z.enum(['POOLED', 'INDIVIDUAL']),
    prorateSeatIncreases: z.boolean(),
  }).nullable(),
  createdAt: instantValue,
  createdBy: z.string(),
});
export type RecurringCommit = z.output<typeof recurringCommit>;

/** A recurring term as a client describes it. Null: omitted. */
export type RecurringCommitInput = Omit<
  RecurringCommit,
  'id' | 'contractId' | 'rateType' | 'proration' | 'createdAt' | 'createdBy'
> &
  MayBeGiven<RecurringCommit, 'rateType' | 'proration'> & {
    /** Temporary id, for overrides of the same request that reference it. */
    readonly temporaryId: string | null;
  };

/** The amount that a unit of a recurring term granted before the term was changed. */
export interface FormerUnitPrice {
  readonly unitPrice: RecurringCommit['accessAmount']['unitPrice'];
  /** When it was changed. */
  readonly until: Instant;
}
