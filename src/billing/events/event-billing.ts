/**
 * The invoices for the time of an event, and the lines on them that count it (docs/explanation/events.md, "Where an
 * event is billed").
 *
 * As in event search, current metrics, products and aliases apply.
 */
import { type Decimal, ONE, parseUsageDecimal } from '../../core/decimal.ts';
import { Refusal } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import { eachInChunks } from '../../core/in-chunks.ts';
import {
  type InvoiceLine,
  type InvoiceWarning,
  isUsageLine,
  type UsageInvoiceLine,
} from '../../core/invoice.ts';
import type { Instant, Interval } from '../../core/time.ts';
import type { StoredEvent } from '../../metering/events/stored-event.ts';
import { versionAt } from '../../rating/quantities/product-spans.ts';
import { inSnapshot } from '../../store/base/database.ts';
import { listInvoiceHeadsOverlapping } from '../../store/invoices/invoice-lists.ts';
import { withLines } from '../../store/invoices/whole-invoices.ts';
import type { StoredMetric } from '../../store/metrics/billable-metrics.ts';
import { loadProducts } from '../../store/products/products.ts';
import type { BillingContext } from '../billing-context.ts';
import { computeDrafts } from '../invoices/compute/compute.ts';
import { planInvoices } from '../invoices/compute/plan-invoices.ts';
import { draftPlaces } from '../invoices/drafts/draft-places.ts';
import {
  draftWithWarnings,
  type InvoiceWithWarnings,
  issuedWithWarnings,
} from '../invoices/drafts/unbilled-usage.ts';
import { draftMoment } from '../invoices/usage/draft-moment.ts';
import { type EventView, searchEvents } from './search-events.ts';

/** Usage invoices of one customer at one instant: one for each contract in force. */
const INVOICES_MAX = 100;

type UsageLine = Extract<InvoiceLine, { readonly type: UsageInvoiceLine['type'] }>;

interface EventLine {
  readonly invoice: InvoiceWithWarnings;
  readonly line: UsageLine;
  readonly metric: StoredMetric;
  /** The event's part of the quantity; null if it is not separable, as in a maximum or a converted quantity. */
  readonly quantity: Decimal | null;
  /** Quantity times unit price; null also if the usage of the product is on several lines, as with tiers. */
  readonly amount: Decimal | null;
}

export interface EventBilling {
  readonly view: EventView;
  readonly invoices: readonly InvoiceWithWarnings[];
  readonly lines: readonly EventLine[];
  /** The warnings of these invoices about unbilled usage of the metrics of the event. */
  readonly warnings: readonly { readonly invoice: InvoiceWithWarnings; readonly warning: InvoiceWarning }[];
}

/**
 * The lines that bill the event accepted under this id. Refuses (`not_found`) an id without an event within the
 * deduplication window, and (`too_large`) more than 100 invoices for its time.
 */
export async function eventBilling(context: BillingContext, transactionId: string): Promise<EventBilling> {
  const views = (await searchEvents(context, [transactionId])).filter(({ isDuplicate }) => !isDuplicate);
  // The version that counts; that of an event that was taken back is on no line.
  const view = views.find(({ standing }) => standing.status === 'billed') ?? views.at(-1);
  if (view === undefined)
    throw new Refusal('not_found', `no event ${transactionId} within the ingest window`);
  if (view.customer === null) return { view, invoices: [], lines: [], warnings: [] };
  const invoices = await invoicesAt(context, view.customer.id, view.event.timestamp);
  const counted = await countedBy(context, view, invoices);
  const lines: CountedLine[] = [];
  for (const invoice of invoices) {
    await eachInChunks(invoice.lines, (line) => {
      lines.push(...countedLine(invoice, line, view.event, counted));
    });
  }
  const ofProduct = groupBy(lines, ({ line }) => line.productId);
  return {
    view,
    invoices,
    lines: lines.map((each) => withContribution(each, view.event, ofProduct.get(each.line.productId) ?? [])),
    warnings: invoices.flatMap((invoice) =>
      invoice.warnings.first
        .filter((warning) => isAbout(warning, view.event, counted))
        .map((warning) => ({ invoice, warning })),
    ),
  };
}

/** The finalized usage invoices and the drafts of the customer whose period contains the instant. */
async function invoicesAt(
  context: BillingContext,
  customerId: string,
  at: Instant,
): Promise<InvoiceWithWarnings[]> {
  const { issued, planned } = await inSnapshot(context.db, async (db) => {
    const filter = { customerId, type: 'USAGE', status: 'FINALIZED' } as const;
    const page = { limit: INVOICES_MAX + 1, order: 'ascending' } as const;
    const heads = await listInvoiceHeadsOverlapping(db, filter, { start: at, end: at + 1 }, page);
    const places = await draftPlaces({ ...context, db }, { customerId, type: 'USAGE' });
    const targets = places.flatMap((place) =>
      place.kind === 'usage' && isWithin(at, place.target.period) ? [place.target] : [],
    );
    if (heads.length + targets.length > INVOICES_MAX) {
      throw new Refusal(
        'too_large',
        `the customer has more than ${INVOICES_MAX} invoices of the time of the event`,
      );
    }
    return {
      issued: await issuedWithWarnings(db, await withLines(db, heads)),
      planned: await planInvoices(db, targets, context.clock.now(), { usageIn: context }),
    };
  });
  const countedUpTo = await draftMoment(context.eventFacts, planned);
  return [...issued, ...(await computeDrafts(context, planned, countedUpTo)).map(draftWithWarnings)];
}

/** How the event counts, by product. */
type Counted = ReadonlyMap<string, { readonly metric: StoredMetric; readonly isConverted: boolean }>;

/** The products on these invoices, or in their warnings, whose metric at the time of the event counts it. */
async function countedBy(
  { db }: Pick<BillingContext, 'db'>,
  { event, matched }: EventView,
  invoices: readonly InvoiceWithWarnings[],
): Promise<Counted> {
  const ids = invoices.flatMap(({ lines, warnings }) => [
    ...lines.flatMap((line) => (isUsageLine(line) ? [line.productId] : [])),
    ...warnings.first.flatMap((warning) => productOf(warning) ?? []),
  ]);
  const metrics = new Map(matched.map((metric) => [metric.id, metric]));
  const products = await loadProducts(db, [...new Set(ids)]);
  return new Map(
    [...products.values()].flatMap((product) => {
      const { billableMetricId, quantityConversion, quantityRounding } = versionAt(product, event.timestamp);
      const metric = metrics.get(billableMetricId ?? '');
      const isConverted = quantityConversion !== null || quantityRounding !== null;
      return metric === undefined ? [] : [[product.id, { metric, isConverted }] as const];
    }),
  );
}

type CountedLine = Omit<EventLine, 'quantity' | 'amount'> & { readonly isConverted: boolean };

function countedLine(
  invoice: InvoiceWithWarnings,
  line: InvoiceLine,
  event: StoredEvent,
  counted: Counted,
): CountedLine[] {
  if (!isUsageLine(line) || line.type !== 'usage' || !isWithin(event.timestamp, line.interval)) return [];
  const known = counted.get(line.productId);
  return known === undefined || !hasValues(event, line) ? [] : [{ invoice, line, ...known }];
}

/** `others`: the lines of its product, including itself. */
function withContribution(
  { isConverted, ...counted }: CountedLine,
  event: StoredEvent,
  others: readonly CountedLine[],
): EventLine {
  const quantity = isConverted ? null : contribution(counted.metric, event);
  const amount = quantity === null || others.length > 1 ? null : quantity.times(counted.line.unitPrice);
  return { ...counted, quantity, amount };
}

/** The event's part of a count or a sum; null for everything else. */
function contribution(metric: StoredMetric, { properties }: StoredEvent): Decimal | null {
  if (metric.kind !== 'streaming') return null;
  if (metric.aggregation === 'COUNT') return ONE;
  return metric.aggregation === 'SUM'
    ? parseUsageDecimal(properties.get(metric.aggregationKey ?? '') ?? '')
    : null;
}

function isWithin(at: Instant, { start, end }: Interval): boolean {
  return start <= at && at < end;
}

/** Groups of a query are columns of it, which an event need not have. */
function hasValues(
  { properties }: StoredEvent,
  grouped: Pick<UsageInvoiceLine, 'pricingGroupValues' | 'presentationGroupValues'>,
): boolean {
  return Object.entries({ ...grouped.pricingGroupValues, ...grouped.presentationGroupValues }).every(
    ([key, value]) => (properties.get(key) ?? value) === value,
  );
}

function productOf(warning: InvoiceWarning): string | null {
  return 'productId' in warning ? warning.productId : null;
}

function isAbout(warning: InvoiceWarning, event: StoredEvent, counted: Counted): boolean {
  if (warning.kind === 'uncounted_events' && warning.transactionIds.includes(event.transactionId))
    return true;
  const productId = productOf(warning);
  if (productId === null || !counted.has(productId)) return false;
  return !('pricingGroupValues' in warning) || hasValues(event, warning);
}
