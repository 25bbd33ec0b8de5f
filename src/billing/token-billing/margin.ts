/**
 * The amounts that customers are billed for tokens beside the providers' prices for the same tokens, by day and model
 * (docs/explanation/token-billing.md, "Margin"). Amounts come from the hours of invoices, drafts included.
 */
import { USD_CENTS } from '../../core/credit-types.ts';
import { type Decimal, ONE } from '../../core/decimal.ts';
import { assert, invalid } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';
import type { Page, PageRequest } from '../../core/paging.ts';
import { DAY_MS, floorToDay, type Instant, type Interval } from '../../core/time.ts';
import { type TokenMargin, tokenMargin } from '../../rating/rates/token-margin.ts';
import { loadCardTerms } from '../../store/invoices/invoice-terms.ts';
import {
  customersOnManagedCards,
  loadModelsOfProducts,
} from '../../store/token-billing/managed-rate-cards.ts';
import { loadTokenModels, modelKey } from '../../store/token-billing/token-prices.ts';
import type { BillingContext } from '../billing-context.ts';
import type { BreakdownPosition } from '../invoices/breakdowns/breakdown-places.ts';
import { type BreakdownItem, listBreakdowns } from '../invoices/breakdowns/breakdowns.ts';
import type { KeptDrafts } from '../invoices/breakdowns/kept-drafts.ts';

/** Hours of invoices that are read at once. */
const WINDOWS_PER_READ = 1_000;
/** How many stretches of days are read for one page at most. */
const READS_PER_PAGE = 50;

export interface MarginFilter {
  /** Starts and ends at midnight UTC. */
  readonly range: Interval;
  /** Undefined: all with a contract on a managed card. */
  readonly customerId: string | undefined;
  readonly provider: string | undefined;
  /** The id in the catalogue. */
  readonly model: string | undefined;
  /** Set where the answer has many pages, whose drafts are computed once. */
  readonly drafts?: KeptDrafts | undefined;
}

/** A page starts with this day of this customer. */
export interface MarginPosition {
  readonly customerId: string;
  readonly day: Instant;
}

export interface MarginRow extends TokenMargin {
  readonly customerId: string;
  readonly day: Instant;
  readonly provider: string;
  readonly model: string;
}

/**
 * Some days of one customer; `limit` is the most days. Days and customers without tokens are passed over, so a page has
 * a row while some follow, unless none is found in `READS_PER_PAGE`. Refuses an empty range (`invalid`).
 */
export async function listMargins(
  context: BillingContext,
  filter: MarginFilter,
  { after, limit }: PageRequest<MarginPosition>,
): Promise<Page<MarginRow, MarginPosition>> {
  const { start, end } = filter.range;
  if (start >= end) throw invalid(['endingBefore'], 'must be after starting_on');
  let page = await readMargins(context, filter, { after, limit });
  for (let reads = 1; page.rows.length === 0 && page.next !== null && reads < READS_PER_PAGE; reads += 1) {
    page = await readMargins(context, filter, { after: page.next, limit });
  }
  return page;
}

/** The next days of one customer, whether they have tokens or not. */
async function readMargins(
  context: BillingContext,
  filter: MarginFilter,
  { after, limit }: PageRequest<MarginPosition>,
): Promise<Page<MarginRow, MarginPosition>> {
  const { range } = filter;
  const from = after?.customerId ?? null;
  const [customerId, following] = await customersOnManagedCards(context.db, filter.customerId ?? null, from);
  if (customerId === undefined) return { rows: [], next: null };
  // A customer whose contracts were removed since is skipped.
  const start = Math.max(range.start, customerId === from ? (after?.day ?? range.start) : range.start);
  const end = Math.min(range.end, start + limit * DAY_MS);
  const rows = start < end ? await marginsOf(context, filter, customerId, { start, end }) : [];
  if (end < range.end) return { rows, next: { customerId, day: end } };
  return { rows, next: following === undefined ? null : { customerId: following, day: range.start } };
}

async function marginsOf(
  context: BillingContext,
  { provider, model, ...filter }: MarginFilter,
  customerId: string,
  range: Interval,
): Promise<MarginRow[]> {
  const items = await hoursOf(context, filter, customerId, range);
  const productIds = items.flatMap(({ lines }) =>
    lines.flatMap((line) => (line.type === 'usage' ? [line.productId] : [])),
  );
  const models = new Map(
    (await loadModelsOfProducts(context.db, [...new Set(productIds)]))
      .filter((one) => provider === undefined || one.provider === provider)
      .filter((one) => model === undefined || one.model === model)
      .map((one) => [one.productId, one]),
  );
  const catalogue = await loadTokenModels(context.db, [
    ...new Set([...models.values()].map((one) => one.provider)),
  ]);
  const centsFor = await unitValues(context, items);
  const billed = items.flatMap((item) =>
    item.lines.flatMap((line) => {
      const own = line.type === 'usage' ? models.get(line.productId) : undefined;
      if (own === undefined) return [];
      const at = item.window.start;
      const revenueCents = line.total.times(centsFor(item, line.creditTypeId));
      const { quantity } = line;
      return [{ day: floorToDay(at), model: own, at, kind: own.kind, quantity, revenueCents }];
    }),
  );
  const groups = groupBy(billed, (one) => `${one.day} ${modelKey(one.model)}`);
  return [...groups.values()].flatMap((parts) => {
    const [first] = parts;
    if (first === undefined) return [];
    const { day, model: own } = first;
    const prices = catalogue.get(modelKey(own))?.prices ?? [];
    return [{ customerId, day, provider: own.provider, model: own.model, ...tokenMargin(parts, prices) }];
  });
}

/** All invoices of the customer, hour by hour. Voided ones are left out. */
async function hoursOf(
  context: BillingContext,
  { drafts, range: whole }: Pick<MarginFilter, 'drafts' | 'range'>,
  customerId: string,
  range: Interval,
): Promise<BreakdownItem[]> {
  const filter = {
    ...{ customerId, range, size: 'hour' as const, withoutVoid: true },
    ...(drafts === undefined ? {} : { pages: { drafts, range: whole } }),
  };
  const items: BreakdownItem[] = [];
  let after: BreakdownPosition | null = null;
  do {
    const page: Page<BreakdownItem, BreakdownPosition> = await listBreakdowns(context, filter, {
      after,
      limit: WINDOWS_PER_READ,
      order: 'ascending',
    });
    items.push(...page.rows.filter(({ lines }) => lines.length > 0));
    after = page.next;
  } while (after !== null);
  return items;
}

/** Cents for one unit of a line, as the terms of its invoice convert it. */
async function unitValues(
  { db }: BillingContext,
  items: readonly BreakdownItem[],
): Promise<(item: BreakdownItem, creditTypeId: string) => Decimal> {
  const frozen = await loadCardTerms(
    db,
    items.flatMap((item) => item.frozen?.cardTermsId ?? []),
  );
  return (item, creditTypeId) => {
    if (creditTypeId === USD_CENTS.id) return ONE;
    const terms = item.cardTerms ?? frozen.get(item.frozen?.cardTermsId ?? '');
    const unit = terms?.conversions.find((one) => one.customCreditTypeId === creditTypeId);
    assert(unit !== undefined, 'the card of an invoice converts the units of its lines');
    return unit.fiatPerCustomCredit;
  };
}
