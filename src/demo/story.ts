/**
 * The steps of the demo, for simulated and for real traffic: set up, send, read back, show, prove. Each step has
 * its own module.
 */
import { randomBytes } from 'node:crypto';
import { formatCount, formatSeconds } from '../app/commands/terminal/number-format.ts';
import { createProgress } from '../app/commands/terminal/progress.ts';
import type { Terminal } from '../app/commands/terminal/terminal.ts';
import { DAY_MS, floorToDay, type Instant, type Interval } from '../core/time.ts';
import { showAgents } from './agents.ts';
import * as billing from './billing-api.ts';
import { eventBatches } from './event-batches.ts';
import { type CustomerFigures, daysOf, readFigures, readHourlyFigures, type Subject } from './figures.ts';
import type { HttpApi } from './http-api.ts';
import { showMonthEnd } from './month-end.ts';
import { showNegotiated } from './negotiated.ts';
import { customerSections, deliverySection, hourlySection } from './proof.ts';
import { at, provision } from './provisioning.ts';
import {
  comparisons,
  dailyBreakdownLines,
  formatPeriod,
  invoiceLines,
  printProof,
  usageChartLines,
} from './report.ts';
import type { DemoEvent, Scenario } from './scenario.ts';
import { showSeats } from './seat-customer.ts';
import { type SendReport, sendBatches } from './sender.ts';
import { showSpendAlert } from './spend-alert.ts';
import type { StripeStandIn } from './stripe/stand-in.ts';
import { createTally, type Tally } from './tally.ts';
import { showTokenMargin, type TokenRequest } from './token-margin.ts';

export interface Story {
  readonly scenario: Scenario;
  readonly runId: string;
  /** The billing period that covers all events. */
  readonly period: Interval;
  readonly events: Iterable<DemoEvent> | AsyncIterable<DemoEvent>;
  readonly eventCount: number;
  /** The days shown in the chart. Up to two days are drawn by hour. */
  readonly chartPeriod: Interval;
  /** The name of the demo's own sums: "sent by the demo". */
  readonly ownBooks: string;
  /** A customer that gets its alias only after its events are stored; null for none. */
  readonly lateAlias: number | null;
  /** The service's time; null without the customers with negotiated terms and with seats. */
  readonly negotiatedAt: Instant | null;
  /** The same requests by token of AI models; null if the events are not such requests. */
  readonly tokenRequests: AsyncIterable<TokenRequest> | null;
}

/**
 * Connections of the producer. Each waits until its events are on disk, and waiting events are written together: with
 * few connections the disk's latency sets the pace, not the service.
 */
const CONNECTIONS = 32;
const HOURLY_CHART_DAYS_MAX = 2;

/** Distinguishes the names, aliases and transaction ids of several runs against one server. */
export function newRunId(): string {
  return randomBytes(4).toString('hex');
}

/**
 * Runs the demo and returns whether all sums agree. `isReached`: the server can send messages to this machine.
 * `stripe`: the target of its invoices; null: none.
 */
export async function tellStory(
  api: HttpApi,
  terminal: Terminal,
  story: Story,
  { isReached, stripe }: { readonly isReached: boolean; readonly stripe: StripeStandIn | null },
): Promise<boolean> {
  const { scenario, period } = story;
  terminal.heading('Setting up');
  const provisioned = await provision(api, { ...story, stripe });
  for (const line of setUpLines(story)) terminal.line(`  ${line}`);

  terminal.heading('Sending usage');
  const tally = createTally(scenario.products);
  const report = await send(api, terminal, story, tally);
  const subject: Subject = { api, scenario, provisioned, period };
  await bindLateAlias(terminal, story, subject);

  terminal.heading('Reading usage, invoices and breakdowns');
  const reading = createProgress(terminal, { unit: 'customers', total: scenario.customers.length });
  const figures = await readFigures(subject, () => reading.advance(1));
  reading.finish();
  const featured = indexOfLargestInvoice(figures);
  const { name } = at(scenario.customers, featured);
  const readingHours = createProgress(terminal, {
    unit: `days of ${name}, hour by hour`,
    total: daysOf(period).length,
  });
  const hourly = await readHourlyFigures(subject, featured, () => readingHours.advance(1));
  readingHours.finish();

  showUsage(terminal, story, figures, hourly.usageByHour);
  showInvoice(terminal, subject, figures, featured);
  let areAgentsStopped = true;
  if (story.negotiatedAt !== null) {
    const told = { runId: story.runId, now: story.negotiatedAt };
    await showNegotiated(api, terminal, { ...subject, ...told });
    await showSeats(api, terminal, { period, ...told });
    areAgentsStopped = await showAgents(api, terminal, { period, runId: story.runId });
  }

  if (isReached) {
    const customerId = at(provisioned.customers, featured).id;
    const spent = at(figures, featured).invoice.total;
    await showSpendAlert(api, terminal, { customerId, customerName: name, spent });
  }

  terminal.heading('Proof: the same number everywhere, to the last digit');
  const sections = [
    deliverySection(report),
    ...customerSections(subject, tally, figures, story.ownBooks),
    hourlySection(subject, tally, featured, hourly),
  ];
  const isProved = printProof(terminal, sections);
  const hasMargin = await showMargin(api, terminal, story);
  const isDelivered = stripe === null || (await showMonthEnd(subject, terminal, stripe));
  const isStill = await showAfterwards(terminal, subject, figures);
  const agrees = isProved && areAgentsStopped && hasMargin && isDelivered && isStill;
  const compared = `${comparisons(sections)} comparisons by customer and price group`;
  terminal.line();
  terminal.line(agrees ? terminal.green(`All sums agree (${compared}).`) : terminal.red('Sums disagree.'));
  return agrees;
}

/** Whether the service still returns every invoice as it was shown: nothing that the demo did since may change one. */
async function showAfterwards(
  terminal: Terminal,
  { api, provisioned, period }: Subject,
  figures: readonly CustomerFigures[],
): Promise<boolean> {
  let changed = 0;
  for (const [index, { id, contractId }] of provisioned.customers.entries()) {
    const { total } = await billing.invoiceOfPeriod(api, id, contractId, period.start);
    if (!total.eq(at(figures, index).invoice.total)) changed += 1;
  }
  const invoices = formatCount(figures.length);
  terminal.line();
  terminal.line(
    changed === 0
      ? terminal.green(`  ✓ read again at the end, the totals of all ${invoices} invoices are the same`)
      : terminal.red(`  ✗ read again at the end, ${changed} of ${invoices} invoices have another total`),
  );
  return changed === 0;
}

/** Whether the margin per model agrees; true if there is none to show. */
async function showMargin(api: HttpApi, terminal: Terminal, story: Story): Promise<boolean> {
  const { tokenRequests: requests, scenario, period, runId } = story;
  if (requests === null) return true;
  const { name } = at(scenario.customers, 0);
  return await showTokenMargin(api, terminal, { name, period, runId, requests });
}

function setUpLines({ scenario, period, runId }: Story): string[] {
  const prices = scenario.products.reduce((count, product) => count + product.prices.length, 0);
  const customers = scenario.customers.length;
  const products = scenario.products.map((product) => `${product.name} (${product.aggregation})`).join(', ');
  return [
    `run ${runId}, billing period ${formatPeriod(period)}`,
    `${scenario.products.length} metrics and products: ${products}`,
    `1 rate card with ${prices} prices, ${customers === 1 ? '1 customer with a contract' : `${customers} customers with a contract each`}`,
  ];
}

async function send(api: HttpApi, terminal: Terminal, story: Story, tally: Tally): Promise<SendReport> {
  const progress = createProgress(terminal, { unit: 'events', total: story.eventCount });
  const batches = eventBatches(story.scenario, story.events, tally, story.runId);
  const report = await sendBatches(api, batches, CONNECTIONS, progress);
  const seconds = progress.finish();
  terminal.line(
    `  100 events a request over ${CONNECTIONS} connections, each answered when durable: ${formatSeconds(seconds)}`,
  );
  terminal.line(
    `  ${formatCount(report.repeatedEvents)} events sent a second time on purpose: ${formatCount(report.duplicates)} recognised as duplicates`,
  );
  if (report.retries > 0)
    terminal.line(`  ${formatCount(report.retries)} requests sent again after a busy answer`);
  return report;
}

async function bindLateAlias(terminal: Terminal, story: Story, { api, provisioned }: Subject): Promise<void> {
  if (story.lateAlias === null) return;
  const { name, alias } = at(story.scenario.customers, story.lateAlias);
  await billing.setIngestAliases(api, at(provisioned.customers, story.lateAlias).id, [alias]);
  terminal.line(`  ${name} got its ingest alias only now: the events already in count for it all the same`);
}

function indexOfLargestInvoice(figures: readonly CustomerFigures[]): number {
  return figures.reduce(
    (largest, each, index) => (each.invoice.total.gt(at(figures, largest).invoice.total) ? index : largest),
    0,
  );
}

function showUsage(
  terminal: Terminal,
  story: Story,
  figures: readonly CustomerFigures[],
  usageByHour: readonly CustomerFigures['usageByDay'][number][],
): void {
  const { chartPeriod, scenario } = story;
  const product = at(scenario.products, chartProduct(scenario));
  const byHour =
    chartPeriod.end - chartPeriod.start <= HOURLY_CHART_DAYS_MAX * DAY_MS && figures.length === 1;
  const rows = byHour
    ? at(usageByHour, chartProduct(scenario))
    : figures.flatMap((each) => at(each.usageByDay, chartProduct(scenario)));
  terminal.heading(
    `Usage: ${product.unit} by ${byHour ? 'hour' : 'day'}, ${formatPeriod(chartPeriod)} (UTC)`,
  );
  for (const line of usageChartLines(rows, chartPeriod, byHour ? 'HOUR' : 'DAY')) terminal.line(line);
}

/** The first product measured as a sum: it shows the shape of the traffic best. */
function chartProduct(scenario: Scenario): number {
  return Math.max(
    0,
    scenario.products.findIndex((product) => product.aggregation === 'SUM'),
  );
}

function showInvoice(
  terminal: Terminal,
  subject: Subject,
  figures: readonly CustomerFigures[],
  featured: number,
): void {
  const shown = at(figures, featured);
  const { name } = at(subject.scenario.customers, featured);
  terminal.heading(`Invoice: ${name}, ${formatPeriod(subject.period)}, ${shown.invoice.status}`);
  for (const line of invoiceLines(shown.invoice, subject.scenario.products)) terminal.line(line);
  terminal.heading(`Daily breakdown: ${name}`);
  for (const line of dailyBreakdownLines(shown, subject)) terminal.line(line);
}

/** Whole days that hold everything from `first` to `last`. */
export function daysAround(first: Instant, last: Instant): Interval {
  return { start: floorToDay(first), end: floorToDay(last) + DAY_MS };
}
