/**
 * Resolves terms with relative dates to the terms of a contract (docs/explanation/packages.md, "Relative dates"). Used
 * both to validate a package and to create its contracts, so that the same rules apply to both. Pure.
 */
import type { Decimal } from '../../core/decimal.ts';
import type { RelativeDate } from '../../core/relative-time.ts';
import type { CommitInput } from '../../core/terms/commits.ts';
import type { OverrideInput } from '../../core/terms/overrides.ts';
import type { RecurringCommitInput } from '../../core/terms/recurring-commits.ts';
import type { ScheduledChargeInput } from '../../core/terms/scheduled-charges.ts';
import type { AccessScheduleInput, AmountInput, InvoiceScheduleInput } from '../../core/terms/schedules.ts';
import type { SubscriptionInput } from '../../core/terms/subscriptions.ts';
import type { Instant } from '../../core/time.ts';
import type { TermsInput } from '../contracts/terms/build-terms.ts';

interface RelativeAccessScheduleInput {
  /** Null: US cents. */
  readonly creditTypeId: string | null;
  readonly segments: readonly {
    readonly amount: Decimal;
    readonly startingAtOffset: RelativeDate;
    readonly duration: RelativeDate;
  }[];
}

export interface RelativeInvoiceScheduleInput {
  /** Null: US cents. */
  readonly creditTypeId: string | null;
  readonly doNotInvoice: boolean;
  readonly items: readonly (AmountInput & { readonly dateOffset: RelativeDate })[];
}

/** `startingAtOffset` counts from the contract's start, `duration` from there; without it: no separate end. */
interface RelativeRange {
  readonly startingAtOffset: RelativeDate;
  readonly duration: RelativeDate | null;
}

export type RelativeCommit = Omit<
  CommitInput,
  'accessSchedule' | 'invoiceSchedule' | 'hierarchyAccess' | 'countsAsDiscounted' | 'paymentGate'
> & {
  readonly accessSchedule: RelativeAccessScheduleInput;
  readonly invoiceSchedule: RelativeInvoiceScheduleInput | null;
};

export type RelativeRecurringCommit = Omit<
  RecurringCommitInput,
  'startingAt' | 'endingBefore' | 'hierarchyAccess'
> &
  RelativeRange;

export type RelativeOverride = Omit<
  OverrideInput,
  'startingAt' | 'endingBefore' | 'productId' | 'applicableProductTags'
> &
  RelativeRange;

type RelativeScheduledCharge = Omit<ScheduledChargeInput, 'schedule'> & {
  readonly schedule: RelativeInvoiceScheduleInput;
};

export type RelativeSubscription = Omit<
  SubscriptionInput,
  'startingAt' | 'endingBefore' | 'anchorDate' | 'seatConfig'
> & {
  readonly seatConfig: {
    readonly seatGroupKey: string;
    readonly initialUnassignedSeats: number | null;
  } | null;
  /** Null: the contract's start. */
  readonly startingAtOffset: RelativeDate | null;
  readonly duration: RelativeDate | null;
};

export interface RelativeTerms
  extends Pick<TermsInput, 'spendTrackers' | 'spendThreshold' | 'prepaidBalanceThreshold'> {
  readonly commits: readonly RelativeCommit[];
  readonly credits: readonly RelativeCommit[];
  readonly recurringCommits: readonly RelativeRecurringCommit[];
  readonly recurringCredits: readonly RelativeRecurringCommit[];
  readonly overrides: readonly RelativeOverride[];
  readonly scheduledCharges: readonly RelativeScheduledCharge[];
  readonly subscriptions: readonly RelativeSubscription[];
}

/** Like `addRelative` of core/relative-time.ts. */
export type AddRelative = (from: Instant, date: RelativeDate) => Instant;

/** The terms of a contract that starts at `contractStart`. `add` may refuse dates that are too far away. */
export function resolveTerms(terms: RelativeTerms, contractStart: Instant, add: AddRelative): TermsInput {
  const dates = { contractStart, add };
  const { spendTrackers, spendThreshold, prepaidBalanceThreshold } = terms;
  return {
    commits: terms.commits.map((one) => resolveCommit(one, dates)),
    credits: terms.credits.map((one) => resolveCommit(one, dates)),
    recurringCommits: terms.recurringCommits.map((one) => resolveRecurringCommit(one, dates)),
    recurringCredits: terms.recurringCredits.map((one) => resolveRecurringCommit(one, dates)),
    overrides: terms.overrides.map((one) => resolveOverride(one, dates)),
    scheduledCharges: terms.scheduledCharges.map((one) => ({
      ...one,
      schedule: resolveInvoiceSchedule(one.schedule, dates),
    })),
    // Packages have neither.
    discounts: [],
    professionalServices: [],
    subscriptions: terms.subscriptions.map((one) => resolveSubscription(one, dates)),
    spendTrackers,
    spendThreshold,
    prepaidBalanceThreshold,
  };
}

interface Dates {
  readonly contractStart: Instant;
  readonly add: AddRelative;
}

function resolveCommit(commit: RelativeCommit, dates: Dates): CommitInput {
  const { accessSchedule, invoiceSchedule } = commit;
  return {
    ...commit,
    accessSchedule: resolveAccessSchedule(accessSchedule, dates),
    invoiceSchedule: invoiceSchedule === null ? null : resolveInvoiceSchedule(invoiceSchedule, dates),
    hierarchyAccess: null,
    countsAsDiscounted: null,
    paymentGate: null,
  };
}

function resolveAccessSchedule(
  { creditTypeId, segments }: RelativeAccessScheduleInput,
  { contractStart, add }: Dates,
): AccessScheduleInput {
  return {
    creditTypeId,
    segments: segments.map(({ amount, startingAtOffset, duration }) => {
      const startingAt = add(contractStart, startingAtOffset);
      return { amount, startingAt, endingBefore: add(startingAt, duration) };
    }),
  };
}

function resolveInvoiceSchedule(
  { creditTypeId, doNotInvoice, items }: RelativeInvoiceScheduleInput,
  { contractStart, add }: Dates,
): InvoiceScheduleInput {
  return {
    creditTypeId,
    doNotInvoice,
    items: items.map(({ dateOffset, ...amount }) => ({
      ...amount,
      timestamp: add(contractStart, dateOffset),
    })),
    recurring: null,
  };
}

function resolveRecurringCommit(term: RelativeRecurringCommit, dates: Dates): RecurringCommitInput {
  const { startingAtOffset, duration, ...rest } = term;
  return { ...rest, ...resolveRange({ startingAtOffset, duration }, dates), hierarchyAccess: null };
}

function resolveOverride(override: RelativeOverride, dates: Dates): OverrideInput {
  const { startingAtOffset, duration, ...rest } = override;
  const range = resolveRange({ startingAtOffset, duration }, dates);
  return { ...rest, ...range, productId: null, applicableProductTags: [] };
}

function resolveSubscription(subscription: RelativeSubscription, dates: Dates): SubscriptionInput {
  const { startingAtOffset, duration, seatConfig, ...rest } = subscription;
  const { add, contractStart } = dates;
  const startingAt = startingAtOffset === null ? null : add(contractStart, startingAtOffset);
  return {
    ...rest,
    startingAt,
    endingBefore: duration === null ? null : add(startingAt ?? contractStart, duration),
    anchorDate: null,
    seatConfig: seatConfig === null ? null : { ...seatConfig, initialSeatIds: [] },
  };
}

function resolveRange(
  { startingAtOffset, duration }: RelativeRange,
  { contractStart, add }: Dates,
): { readonly startingAt: Instant; readonly endingBefore: Instant | null } {
  const startingAt = add(contractStart, startingAtOffset);
  return { startingAt, endingBefore: duration === null ? null : add(startingAt, duration) };
}
