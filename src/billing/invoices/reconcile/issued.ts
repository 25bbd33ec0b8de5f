/** Reconciles one issued invoice: its sums, its frozen hours, its scheduled amounts, and its events. */

import { type Decimal, sum, ZERO } from '../../../core/decimal.ts';
import { Refusal } from '../../../core/errors.ts';
import { groupBy } from '../../../core/group-by.ts';
import { afterOtherWork, resultInChunks } from '../../../core/in-chunks.ts';
import {
  isAppliedLine,
  isScheduledLine,
  isSubscriptionLine,
  type LineWindow,
  type SubscriptionInvoiceLine,
} from '../../../core/invoice.ts';
import { HOUR_MS, SECOND_MS } from '../../../core/time.ts';
import { type LineRange, readFrozenLines } from '../../../metering/frozen-lines/frozen-lines.ts';
import { bookOfOffered } from '../../../rating/balances/offered-balances.ts';
import { isPaidByBalance } from '../../../rating/explain/explain-share.ts';
import { breakdownWindows } from '../../../rating/invoices/breakdown.ts';
import type { LateUsage } from '../../../rating/invoices/late-usage.ts';
import type { RatedLine } from '../../../rating/lines/types.ts';
import { loadCommits } from '../../../store/balances/commits.ts';
import type { Database } from '../../../store/base/database.ts';
import { customerRefs } from '../../../store/customers/customers.ts';
import { loadInvoiceDeductions } from '../../../store/invoices/balance-deductions.ts';
import { loadInvoiceWarnings } from '../../../store/invoices/invoice-warnings.ts';
import type { IssuedInvoice } from '../../../store/invoices/invoices.ts';
import { loadDividedCommits } from '../../balances/seat-shares.ts';
import type { BillingContext } from '../../billing-context.ts';
import { findLateUsage } from '../drafts/late-usage.ts';
import { rateTarget } from '../rate-target/rate-target.ts';
import { UnratableError } from '../rate-target/unratable.ts';
import { NOTHING_JOINED } from '../scheduled/joined-lines.ts';
import { frozenInput } from '../terms/frozen-input.ts';
import { type InvoiceContext, termsOf, type UsageTarget } from '../terms/invoice-context.ts';
import { NO_EVENT, readUsageAnswers } from '../usage/usage-answers.ts';
import { checkDeductions } from './deductions.ts';
import type { Difference } from './difference.ts';
import { matchLines } from './recomputation.ts';
import { checkScheduledAmounts, checkTrueUps } from './scheduled.ts';
import { checkDays, checkHours, checkSameHours, checkTotals } from './sums.ts';
import { checkUsage } from './usage-check.ts';

export interface Findings {
  readonly differences: readonly Difference[];
  /** Usage that arrived too late for the invoice. */
  readonly late: readonly LateUsage[];
  /** Why a part could not be checked; null if everything was. */
  readonly unchecked: string | null;
}

/** A voided invoice keeps its lines and hours, but may differ from its events. */
export async function reconcileIssued(billing: BillingContext, invoice: IssuedInvoice): Promise<Findings> {
  const { frozen, status } = invoice;
  const deductions = await deductionsBySegment(billing.db, invoice.id);
  // Each check of an invoice with very many lines takes some milliseconds.
  await afterOtherWork();
  const totals = [...checkTotals(invoice), ...checkDeductions(invoice, deductions)];
  await afterOtherWork();
  if (status === 'VOID') {
    return {
      differences: [...totals, ...(await checkFrozenHours(billing, invoice, null))],
      late: [],
      unchecked: null,
    };
  }
  const scheduled = [
    ...(await checkScheduledAmounts(billing.db, invoice)),
    ...(await checkTrueUps(billing.db, invoice)),
  ];
  if (frozen === null) return { differences: [...totals, ...scheduled], late: [], unchecked: null };
  const recomputed = await recompute(billing, invoice);
  const hours = await checkFrozenHours(billing, invoice, recomputed.hours);
  const late = recomputed.isLatest ? [] : await findLateUsage(billing, invoice);
  return {
    differences: [...totals, ...scheduled, ...recomputed.differences, ...hours],
    late: late ?? [],
    unchecked: recomputed.unchecked ?? (late === null ? 'the present usage cannot be computed' : null),
  };
}

/** Deductions from shares of seats, with the segment of the schedule as lines name it. */
async function deductionsBySegment(db: Database, invoiceId: string) {
  const deductions = groupBy(await loadInvoiceDeductions(db, invoiceId), ({ commitId }) => commitId);
  const commits = await loadCommits(db, { ids: [...deductions.keys()], includeArchived: true });
  const divided = await loadDividedCommits(db, commits);
  return commits.flatMap((commit) => {
    const own = deductions.get(commit.id) ?? [];
    return divided(commit)?.bySegment(own) ?? own;
  });
}

interface Recomputed {
  readonly differences: readonly Difference[];
  /** The hours by the positions of the issued lines; null where they are not known. */
  readonly hours: readonly LineWindow[] | null;
  readonly unchecked: string | null;
  /** True if the customer has no later event in the period, and no other aliases: then nothing is late. */
  readonly isLatest: boolean;
}

const NOT_RECOMPUTED = { differences: [], hours: null, isLatest: false };

async function recompute(billing: BillingContext, invoice: IssuedInvoice): Promise<Recomputed> {
  const input = await frozenInput(billing.db, invoice);
  if (input === null) return { ...NOT_RECOMPUTED, unchecked: null };
  const { target, balances } = input;
  const countedUpTo = input.countedUpTo ?? (hasUsage(invoice) ? null : NO_EVENT);
  if (countedUpTo === null) {
    const unchecked = 'it was issued by a version that did not keep which events it counts';
    return { ...NOT_RECOMPUTED, unchecked };
  }
  if (balances.length === 0 && invoice.lines.some(isPaidByBalance)) {
    const unchecked = 'it was issued by a version that did not keep the balances that it found';
    return { ...NOT_RECOMPUTED, unchecked };
  }
  const charges = invoice.lines.filter(isSubscriptionLine);
  const context = withIssuedCharges(input.context, target, charges);
  try {
    const usage = await readUsageAnswers(billing.usageSource, [target], context, countedUpTo);
    const windows = { size: 'hour', within: null } as const;
    const book = bookOfOffered(balances, takenBy(charges));
    const now = await rateTarget(billing, { target, context, usage, windows, book });
    const [problem] = now.problems;
    if (problem !== undefined) return { ...NOT_RECOMPUTED, unchecked: problem.message };
    const leftOut = new Set([
      ...now.unlisted.map(({ productId }) => productId),
      ...(await unlistedProducts(billing.db, invoice)),
    ]);
    const { differences, issuedPositions } = await resultInChunks(matchLines(invoice, now.lines, leftOut));
    const isWhole = now.hours === null && leftOut.size === 0 && differences.length === 0;
    const ofUsage = await checkUsage(billing.usageSource, invoice, target, context, usage);
    await afterOtherWork();
    return {
      differences: [...differences, ...ofUsage],
      // With other lines, or with lines that are not in memory, hours have no counterpart.
      hours: isWhole ? [...scheduledHours(invoice), ...hoursAt(now.lines, issuedPositions)] : null,
      unchecked: null,
      isLatest: await isLatest(billing, target, termsOf(context, target.contract).customerRefs, countedUpTo),
    };
  } catch (error) {
    if (error instanceof UnratableError) return { ...NOT_RECOMPUTED, unchecked: error.message };
    if (error instanceof Refusal && ['too_large', 'invalid'].includes(error.kind))
      return { ...NOT_RECOMPUTED, unchecked: error.message };
    throw error;
  }
}

/** Charges of subscriptions are not computed from usage. Conversions count them. */
function withIssuedCharges(
  context: InvoiceContext,
  { contract }: UsageTarget,
  issuedCharges: readonly SubscriptionInvoiceLine[],
): InvoiceContext {
  const joined = context.joined.get(contract.id) ?? NOTHING_JOINED;
  return { ...context, joined: new Map([[contract.id, { ...joined, issuedCharges }]]) };
}

/** The amounts that they took are not available to composites and conversions, which draw after them. */
function takenBy(charges: readonly SubscriptionInvoiceLine[]): (segmentId: string) => Decimal {
  const applied = groupBy(charges.filter(isAppliedLine), ({ payer }) => payer?.segmentId);
  return (segmentId) => ZERO.minus(sum((applied.get(segmentId) ?? []).map(({ total }) => total)));
}

async function isLatest(
  { db, usageSource }: BillingContext,
  { contract: { customerId }, period }: UsageTarget,
  refs: readonly string[],
  countedUpTo: string,
): Promise<boolean> {
  const present = (await customerRefs(db, [customerId])).get(customerId) ?? [];
  if (!present.every((ref) => refs.includes(ref))) return false;
  const counted = { start: period.countedFrom, end: period.end };
  return BigInt(await usageSource.lastIngested(refs, counted)) <= BigInt(countedUpTo);
}

/**
 * Without any event, no usage product has a quantity. Invoices of earlier versions do not record the events that they
 * count.
 */
function hasUsage({ lines }: IssuedInvoice): boolean {
  return lines.some(
    (line) => line.type === 'usage' && line.productType === 'USAGE' && !line.quantity.eq('0'),
  );
}

async function unlistedProducts(db: Database, { id }: IssuedInvoice): Promise<string[]> {
  const warnings = (await loadInvoiceWarnings(db, [id], null)).get(id) ?? [];
  return warnings.flatMap((warning) => (warning.kind === 'too_many_lines' ? [warning.productId] : []));
}

function hoursAt(lines: readonly RatedLine[], positions: ReadonlyMap<number, number>): LineWindow[] {
  return lines.flatMap(({ windows }, index) => {
    const position = positions.get(index);
    return position === undefined ? [] : windows.map((window) => ({ position, ...window }));
  });
}

/** Scheduled amounts and charges of subscriptions lie in the last hour of a usage invoice. */
function scheduledHours(invoice: IssuedInvoice): LineWindow[] {
  const { end } = invoice.period;
  const start = end - HOUR_MS;
  return invoice.lines.flatMap((line, position) =>
    isScheduledLine(line) || isSubscriptionLine(line)
      ? [{ position, window: { start, end }, quantity: line.quantity, total: line.total }]
      : [],
  );
}

/** Lines whose hours are in memory together: at most a million hours. */
const LINES_PER_READ = 1_000;
/** Times and positions that the store can hold. */
const ALWAYS = { start: 0, end: (2 ** 32 - 1) * SECOND_MS };
const POSITION_MAX = 2 ** 32 - 1;

/** `recomputed`: the hours that the events give; null to check only that the hours add up. */
async function checkFrozenHours(
  { clickhouse }: BillingContext,
  invoice: IssuedInvoice,
  recomputed: readonly LineWindow[] | null,
): Promise<Difference[]> {
  const { frozen, lines, period } = invoice;
  if (frozen === null) return [];
  const found: Difference[] = [];
  for (let first = 0; first === 0 || first < lines.length; first += LINES_PER_READ) {
    const isLast = first + LINES_PER_READ >= lines.length;
    // The last part has the hours that belong to no line of the invoice.
    const range: LineRange = { first, end: isLast ? POSITION_MAX : first + LINES_PER_READ };
    const read = await readFrozenLines(clickhouse, [frozen.breakdownId], ALWAYS, range);
    const hours = read.get(frozen.breakdownId) ?? [];
    const problems = checkHours(invoice, hours, range);
    found.push(...problems);
    if (problems.length > 0) continue;
    const days = breakdownWindows(lines, hours, 'day', period).flatMap((day) =>
      day.lines.map(({ position, quantity, total }) => ({ position, window: day.window, quantity, total })),
    );
    found.push(...checkDays(invoice, hours, days));
    if (recomputed === null) continue;
    const own = recomputed.filter(({ position }) => position >= range.first && position < range.end);
    found.push(...checkSameHours(invoice, own, hours));
  }
  return found;
}
