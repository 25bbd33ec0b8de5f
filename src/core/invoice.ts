/** An invoice as computed by billing, stored when issued, and shown by the API. */
import type { BillingFrequency, ProductType } from './catalogue.ts';
import type { Decimal } from './decimal.ts';
import type { CommitType } from './terms/commits.ts';
import type { Instant, Interval } from './time.ts';

export type InvoiceStatus = 'DRAFT' | 'FINALIZED' | 'VOID';
/**
 * USAGE: one per contract and billing period. SCHEDULED: one per contract, date and currency. USAGE_CONSOLIDATED: usage
 * invoices of a parent and its children as one (core/consolidated-invoice.ts).
 */
export type InvoiceType = 'USAGE' | 'SCHEDULED' | 'USAGE_CONSOLIDATED';

/** An invoice with its customer and its contract. */
export interface InvoiceOwner {
  readonly invoiceId: string;
  readonly customerId: string;
  readonly contractId: string;
}

/** The tier that prices a line. `startingAt` is its lower bound; `size` is null in the last tier. */
export interface LineTier {
  readonly level: number;
  readonly startingAt: Decimal;
  readonly size: Decimal | null;
}

/** The balance that pays for a part of an invoice: a segment of the access schedule of a commit or credit. */
export interface LinePayer {
  readonly commitId: string;
  readonly segmentId: string;
  readonly commitType: CommitType;
}

interface LineAmounts {
  readonly name: string;
  readonly creditTypeId: string;
  readonly interval: Interval;
  readonly quantity: Decimal;
  readonly unitPrice: Decimal;
  /** Exact: never rounded. */
  readonly total: Decimal;
  /** On a consolidated invoice: the invoice that the line belongs to. */
  readonly origin?: InvoiceOwner;
}

/** A charge for a USAGE or COMPOSITE product. The quantity of a composite is the amount it is a percentage of. */
export interface UsageInvoiceLine extends LineAmounts {
  /**
   * `minimum`: the amount that the minimum charge of a composite adds to its percentages. `applied`: deducts the line
   * before it, which its payer pays for; it has no quantity and no price, so both are 0.
   */
  readonly type: 'usage' | 'minimum' | 'applied';
  readonly productId: string;
  readonly productType: ProductType;
  readonly productTags: readonly string[];
  readonly pricingGroupValues: Readonly<Record<string, string>>;
  readonly presentationGroupValues: Readonly<Record<string, string>>;
  readonly tier: LineTier | null;
  /** Null: the customer pays. */
  readonly payer: LinePayer | null;
}

/** The conversion of all lines in one custom pricing unit into the currency of the invoice. */
export interface ConversionLine extends LineAmounts {
  /** `applied_conversion`: deducts the line before it, which its payer pays for. */
  readonly type: 'cpu_conversion' | 'applied_conversion';
  /** The custom unit; `quantity` is counted in it, `unitPrice` and `total` in the currency. */
  readonly convertedCreditTypeId: string;
  /** Null: the customer pays. */
  readonly payer: LinePayer | null;
}

/**
 * The purpose of a line of a schedule. `scheduled`: a scheduled charge. `true_up`: the shortfall of a postpaid commit.
 */
export const SCHEDULED_LINE_TYPES = [
  'scheduled',
  'discount',
  'professional_service',
  'commit_purchase',
  'true_up',
] as const;

/** An amount that is due on a date. The amounts of a discount are negative. */
export interface ScheduledInvoiceLine extends LineAmounts {
  readonly type: (typeof SCHEDULED_LINE_TYPES)[number];
  readonly productId: string;
  readonly productType: ProductType;
  readonly productTags: readonly string[];
  /** The id of the schedule's item; it is on one invoice at most. `interval` is empty, at the date of the item. */
  readonly scheduleItemId: string;
  /** The scheduled charge, the discount, the professional service, or the commit. */
  readonly sourceId: string;
  /** Free text from the client, which is not printed. */
  readonly metadata: string | null;
}

/** The charge of a subscription for a billing period, or for an increase in it. */
export interface SubscriptionInvoiceLine extends LineAmounts {
  /** `applied_subscription`: deducts the line before it, which its payer pays for. */
  readonly type: 'subscription' | 'applied_subscription';
  readonly productId: string;
  readonly productType: ProductType;
  readonly productTags: readonly string[];
  /** The id of the charge; it is on one invoice at most. `interval` is the charged time. */
  readonly scheduleItemId: string;
  /** The subscription. */
  readonly sourceId: string;
  /** Whether the unit price is prorated. */
  readonly isProrated: boolean;
  readonly billingFrequency: BillingFrequency;
  /** The start of the billing period, whose price applies. */
  readonly pricedAt: Instant;
  /** The number of units below those of its charge, where its tiers begin. Null: an earlier version issued it. */
  readonly unitsBelow: Decimal | null;
  readonly tier: LineTier | null;
  /** Null: the customer pays. */
  readonly payer: LinePayer | null;
}

export type InvoiceLine = UsageInvoiceLine | ScheduledInvoiceLine | SubscriptionInvoiceLine | ConversionLine;

/** Whether it is a line of a schedule. */
export function isScheduledLine<Line extends InvoiceLine>(
  line: Line,
): line is Extract<Line, { readonly type: ScheduledInvoiceLine['type'] }> {
  return SCHEDULED_LINE_TYPES.some((type) => type === line.type);
}

/** Whether it is a line of a usage or composite product, including applied lines. */
export function isUsageLine<Line extends InvoiceLine>(
  line: Line,
): line is Extract<Line, { readonly type: UsageInvoiceLine['type'] }> {
  return line.type === 'usage' || line.type === 'minimum' || line.type === 'applied';
}

export function isConversionLine<Line extends InvoiceLine>(
  line: Line,
): line is Extract<Line, { readonly type: ConversionLine['type'] }> {
  return line.type === 'cpu_conversion' || line.type === 'applied_conversion';
}

export function isSubscriptionLine<Line extends InvoiceLine>(
  line: Line,
): line is Extract<Line, { readonly type: SubscriptionInvoiceLine['type'] }> {
  return line.type === 'subscription' || line.type === 'applied_subscription';
}

/** Whether it deducts the amount that its payer pays. */
export function isAppliedLine({ type }: Pick<InvoiceLine, 'type'>): boolean {
  return type === 'applied' || type === 'applied_conversion' || type === 'applied_subscription';
}

/**
 * Whether totals include the line. Usage that a POSTPAID commit covers is due in its own period, so its applied line is
 * shown and not counted.
 */
export function countsInTotal(line: SummedLine): boolean {
  return !(isAppliedLine(line) && line.payer?.commitType === 'POSTPAID');
}

/** The fields of a line that totals depend on. */
export type SummedLine = Pick<InvoiceLine, 'type' | 'creditTypeId' | 'total'> & {
  readonly payer?: LinePayer | null;
};

/** Usage without a rate: it has no line and is reported as a warning. */
export interface UnpricedUsage {
  readonly kind: 'unpriced_usage';
  readonly productId: string;
  readonly productName: string;
  readonly billableMetricId: string;
  readonly pricingGroupValues: Readonly<Record<string, string>>;
  readonly presentationGroupValues: Readonly<Record<string, string>>;
  readonly interval: Interval;
  readonly quantity: Decimal;
}

/** A billing period of a subscription without a rate: nothing is charged for it. */
export interface UnpricedSubscription {
  readonly kind: 'unpriced_subscription';
  readonly subscriptionId: string;
  readonly productId: string;
  readonly productName: string;
  /** The billing period of the subscription. */
  readonly interval: Interval;
  /** The highest quantity of the period. */
  readonly quantity: Decimal;
}

/** Events over which a metric cannot be evaluated. The metric is counted without them. */
export interface UncountedEvents {
  readonly kind: 'uncounted_events';
  readonly billableMetricId: string;
  readonly metricName: string;
  /** The interval of the events' timestamps. */
  readonly interval: Interval;
  readonly eventCount: number;
  /** The first events, in the order of their timestamps. */
  readonly transactionIds: readonly string[];
}

/** A product with more lines than an invoice can list. None of its lines is on the invoice. */
interface UnlistedLines {
  readonly kind: 'too_many_lines';
  readonly productId: string;
  readonly productName: string;
  readonly interval: Interval;
  readonly lineCount: number;
  readonly lineCountMax: number;
}

/** Kinds of terms that some version did not bill. All are billed now; old invoices keep their warnings. */
export const UNRATED_TERM_KINDS = [
  'prepaid_commit',
  'postpaid_commit',
  'credit',
  'recurring_commit',
  'recurring_credit',
  'subscription',
  'spend_threshold',
  'prepaid_balance_threshold',
  'consolidation',
] as const;
export type UnratedTermKind = (typeof UNRATED_TERM_KINDS)[number];

/** Terms of one kind that the contract had in the period, and that an earlier version did not bill. */
export interface UnratedTerms {
  readonly kind: 'unrated_terms';
  readonly termKind: UnratedTermKind;
  /** The first ones; for a threshold, the id of the contract. */
  readonly termIds: readonly string[];
  readonly termCount: number;
  readonly interval: Interval;
}

/** A metric that exceeds a limit of time or memory. Products that need it have no lines. Only on drafts. */
interface UnevaluatedMetric {
  readonly kind: 'metric_not_evaluated';
  readonly billableMetricId: string;
  readonly metricName: string;
  readonly interval: Interval;
  readonly reason: string;
}

/** The invoice as a whole could not be computed, so its lines and totals are missing. Only on drafts. */
interface NotComputed {
  readonly kind: 'not_computed';
  readonly interval: Interval;
}

/** The metric of a product has no group key with the key of the usage filter: events without it are not counted. */
export interface UnseenUsage {
  readonly kind: 'usage_filter_without_group_key';
  readonly productId: string;
  readonly productName: string;
  readonly billableMetricId: string;
  /** The interval in which both are in force. */
  readonly interval: Interval;
}

/** Usage or terms that an invoice leaves out unintentionally. */
export type IssuedWarning =
  | UnpricedUsage
  | UnpricedSubscription
  | UnseenUsage
  | UncountedEvents
  | UnlistedLines
  | UnratedTerms;
export type InvoiceWarning = IssuedWarning | UnevaluatedMetric | NotComputed;

/**
 * Maximum lines of one invoice, unless configured (INVOICE_LINES_MAX). Each takes about a kilobyte of memory, and as
 * much in an answer.
 */
export const INVOICE_LINES_MAX_DEFAULT = 200_000;

/** The time that a usage invoice bills. */
export interface BilledPeriod extends Interval {
  /**
   * The start of the billing period, where counters start. It lies before `start` if an earlier part of the period
   * is on another invoice or on none. Usage before `start` moves the counters and is not billed.
   */
  readonly countedFrom: Instant;
}

export interface Invoice {
  readonly id: string;
  readonly customerId: string;
  readonly contractId: string;
  readonly type: InvoiceType;
  readonly status: InvoiceStatus;
  /** Empty for a SCHEDULED invoice, at its date. */
  readonly period: BilledPeriod;
  /** When it was finalized; for a draft, when it is expected to be. */
  readonly issuedAt: Instant;
  readonly creditTypeId: string;
  readonly total: Decimal;
  readonly netPaymentTermsDays: number | null;
  /** Whether it was computed from quantities given by the client, and not from events. */
  readonly isHistorical: boolean;
  /** The voided invoice that this one was computed again for; null for drafts and most others. */
  readonly regeneratedFromInvoiceId: string | null;
  /**
   * The constituents of a consolidated invoice, which repeats their lines: the parent's first, the children's by the
   * start of contracts.
   */
  readonly constituents?: readonly InvoiceOwner[];
  readonly lines: readonly InvoiceLine[];
}

/** One line in one window of the breakdown. */
export interface LineWindow {
  /** Position of the line on the invoice. */
  readonly position: number;
  readonly window: Interval;
  readonly quantity: Decimal;
  readonly total: Decimal;
}
