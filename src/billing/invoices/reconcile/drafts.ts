/** Reconciles drafts of usage invoices: hours, days and the whole period are computed one by one and compared. */
import { resultInChunks } from '../../../core/in-chunks.ts';
import type { Invoice } from '../../../core/invoice.ts';
import { formatInstant, HOUR_MS, type Instant } from '../../../core/time.ts';
import { invoiceTotal, lineWindows } from '../../../rating/invoices/breakdown.ts';
import { createBooks } from '../../balances/books.ts';
import type { BillingContext } from '../../billing-context.ts';
import { finalizationAt, type InvoiceTarget, usageInvoiceId } from '../../invoice-queue/usage-periods.ts';
import { inDrawdownOrder, type PlannedInvoices } from '../compute/plan-invoices.ts';
import { type RatedTarget, rateTarget } from '../rate-target/rate-target.ts';
import { UnratableError } from '../rate-target/unratable.ts';
import { cardOf, type InvoiceContext } from '../terms/invoice-context.ts';
import { readUsageAnswers, type UsageAnswers } from '../usage/usage-answers.ts';
import { checkDeductions } from './deductions.ts';
import { type Difference, differencesOf } from './difference.ts';
import type { Findings } from './issued.ts';
import { matchLines } from './recomputation.ts';
import { checkDays, checkHours, checkTotals } from './sums.ts';
import { checkUsage } from './usage-check.ts';

/** A due invoice is issued within seconds. Later than this, its job fails or does not run. */
const OVERDUE_MS = HOUR_MS;

export interface DraftFindings extends Findings {
  readonly id: string;
  readonly lineCount: number;
}

/**
 * The planned drafts, at `now`, in the order in which they draw on balances. The three computations of a draft have the
 * same usage and separate balances, so that each of them is offered the same amounts.
 */
export async function* reconcileDrafts(
  billing: BillingContext,
  plan: PlannedInvoices,
  now: Instant,
): AsyncGenerator<DraftFindings, void, undefined> {
  const { context } = plan;
  const planned = inDrawdownOrder(plan);
  if (planned.length === 0) return;
  const usage = await readUsageAnswers(
    billing.usageSource,
    planned.map(({ target }) => target),
    context,
  );
  const books = {
    whole: createBooks(context.balances),
    hour: createBooks(context.balances),
    day: createBooks(context.balances),
  };
  for (const { target, isWanted } of planned) {
    const rate: Rate = (size) =>
      rateTarget(billing, {
        ...{ target, context, usage, windows: { size, within: null } },
        book: books[size ?? 'whole'](target.contract.customerId),
      });
    if (isWanted) yield await reconcileDraft(billing, target, context, usage, rate, now);
    else await rateAll(rate);
  }
}

type Rate = (size: 'hour' | 'day' | null) => ReturnType<typeof rateTarget>;

/** As a whole, by hour and by day: each draws on its own balances. Null, with the reason, if it cannot be rated. */
async function rateAll(rate: Rate) {
  try {
    return { whole: await rate(null), hourly: await rate('hour'), daily: await rate('day') };
  } catch (error) {
    if (!(error instanceof UnratableError)) throw error;
    return error;
  }
}

async function reconcileDraft(
  billing: BillingContext,
  target: InvoiceTarget,
  context: InvoiceContext,
  usage: UsageAnswers,
  rate: Rate,
  now: Instant,
): Promise<DraftFindings> {
  const { contract, period } = target;
  const id = usageInvoiceId(contract.id, period.start);
  const empty = { id, contractId: contract.id, lines: [] };
  const overdue = checkIssue(empty, finalizationAt(period, billing.gracePeriodHours), now);
  const unchecked = ({ message }: Error) => ({
    ...{ id, differences: overdue, late: [], unchecked: message, lineCount: 0 },
  });
  const rated = await rateAll(rate);
  if (rated instanceof UnratableError) return unchecked(rated);
  const { whole, hourly, daily } = rated;
  const [problem] = whole.problems;
  if (problem !== undefined) return unchecked(problem);
  const { fiatCreditTypeId: creditTypeId } = cardOf(context, contract).terms;
  const { lines } = whole;
  const invoice = { ...empty, creditTypeId, period, lines, total: invoiceTotal(lines, creditTypeId) };
  const differences = [
    ...overdue,
    ...checkTotals(invoice),
    ...checkDeductions(
      invoice,
      whole.deductions.map(({ bucket, amount }) => ({ ...bucket, amount })),
    ),
    ...(await checkWindows(invoice, hourly, daily)),
    ...(await checkUsage(billing.usageSource, invoice, target, context, usage)),
  ];
  return { id, differences, late: [], unchecked: null, lineCount: lines.length };
}

type Summed = Pick<Invoice, 'id' | 'contractId' | 'creditTypeId' | 'total' | 'lines' | 'period'>;

/** The windows of usage that is too large for memory are computed when it is issued, and must add up then. */
async function checkWindows(invoice: Summed, hourly: RatedTarget, daily: RatedTarget): Promise<Difference[]> {
  if (hourly.hours !== null) return [];
  const hours = lineWindows(hourly.lines);
  const range = { first: 0, end: invoice.lines.length };
  return [
    ...(await resultInChunks(matchLines(invoice, hourly.lines, new Set()))).differences,
    ...(await resultInChunks(matchLines(invoice, daily.lines, new Set()))).differences,
    ...checkHours(invoice, hours, range),
    ...checkDays(invoice, hours, lineWindows(daily.lines)),
  ];
}

/** An invoice that should be issued by now. */
export function checkIssue(
  invoice: Pick<Invoice, 'id' | 'contractId' | 'lines'>,
  dueAt: Instant,
  now: Instant,
): Difference[] {
  if (dueAt + OVERDUE_MS > now) return [];
  const message = `it is due to be issued since ${formatInstant(dueAt)}`;
  return [differencesOf(invoice)('not_issued', message)];
}
