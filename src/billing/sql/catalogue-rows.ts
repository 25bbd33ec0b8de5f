/** The rows of the views of the catalogue, which belong to no customer (docs/reference/sql.md). */
import type { RateEntry, Tier } from '../../core/catalogue.ts';
import { decimal } from '../../core/decimal.ts';
import type { ViewRow } from '../../metering/sql/generate/view-sql.ts';
import { VIEW_NAMES, type ViewName, viewColumns, viewDescription } from '../../metering/sql/values/views.ts';
import { versionAt } from '../../rating/quantities/product-spans.ts';
import { type EffectiveRate, effectiveRates } from '../../rating/rates/rate-schedule.ts';
import { loadProducts } from '../../store/products/products.ts';
import { listRatesOfCards } from '../../store/rate-cards/rates.ts';
import {
  type FieldPlace,
  type PricePlace,
  reportCustomFields,
  reportProductIds,
  reportRateCards,
  reportTokenPrices,
} from '../../store/sql/report-catalogue.ts';
import { exact, type RowsPart, time, type ViewSnapshot } from './cells.ts';

type CatalogueView = Extract<
  ViewName,
  'products' | 'rate_cards' | 'rates' | 'custom_fields' | 'provider_prices' | 'tables' | 'columns'
>;

interface CataloguePart {
  /** `next` of the part before; null: the first part. */
  readonly after: string | null;
  readonly limit: number;
}

const READERS: Readonly<
  Record<CatalogueView, (context: ViewSnapshot, part: CataloguePart) => Promise<RowsPart>>
> = {
  products: productRows,
  rate_cards: rateCardRows,
  rates: rateRows,
  custom_fields: customFieldRows,
  provider_prices: priceRows,
  tables: async () => ({ rows: VIEW_NAMES.map((name) => [name, viewDescription(name)]), next: null }),
  columns: async () => ({ rows: VIEW_NAMES.flatMap(columnRows), next: null }),
};

export function catalogueRows(
  context: ViewSnapshot,
  view: CatalogueView,
  part: CataloguePart,
): Promise<RowsPart> {
  return READERS[view](context, part);
}

function columnRows(view: ViewName): ViewRow[] {
  return viewColumns(view).map(({ name, type, description }, position) => [
    ...[view, String(position), name, type, description],
  ]);
}

/** Where the next part begins: after the last of the read ones, if there may be more. */
function nextOf<Read>(
  read: readonly Read[],
  { limit }: CataloguePart,
  place: (last: Read) => string,
): string | null {
  const last = read.at(-1);
  return last === undefined || read.length < limit ? null : place(last);
}

async function productRows({ db, now }: ViewSnapshot, part: CataloguePart): Promise<RowsPart> {
  const ids = await reportProductIds(db, part);
  const products = await loadProducts(db, ids);
  const rows = [...products.values()].map((product) => {
    const { name, billableMetricId, tags } = versionAt(product, now);
    const own = [product.id, name, product.type, billableMetricId, JSON.stringify(tags)];
    return [...own, time(product.createdAt), time(product.archivedAt)];
  });
  return { rows, next: nextOf(ids, part, (id) => id) };
}

async function rateCardRows({ db }: ViewSnapshot, part: CataloguePart): Promise<RowsPart> {
  const read = await reportRateCards(db, part);
  const rows = read.map(({ id, name, description, fiatCreditTypeId, createdAt, archivedAt }) => [
    ...[id, name, description, fiatCreditTypeId, time(createdAt), time(archivedAt)],
  ]);
  return { rows, next: nextOf(read, part, ({ id }) => id) };
}

/** As the schedule of a card in the API: the segments of an identity do not overlap. */
async function rateRows({ db }: ViewSnapshot, part: CataloguePart): Promise<RowsPart> {
  const read = await listRatesOfCards(db, Number(part.after ?? '0'), part.limit);
  const rows = read.flatMap(({ entries }) => effectiveRates(entries).map(rateRow));
  return { rows, next: nextOf(read, part, ({ identity }) => String(identity.sequence)) };
}

function rateRow({ entry, interval }: EffectiveRate): ViewRow {
  const { rate } = entry;
  return [
    ...[entry.id, entry.rateCardId, entry.productId, rate.rateType],
    'price' in rate ? exact(rate.price) : null,
    'tiers' in rate ? tiersText(rate.tiers) : null,
    ...[JSON.stringify(entry.pricingGroupValues), entry.billingFrequency, String(entry.entitled)],
    unitOf(entry),
    ...[time(interval.start), time(interval.end)],
  ];
}

/** A percentage has no unit. */
function unitOf({ rate, creditTypeId }: RateEntry): string | null {
  return rate.rateType === 'PERCENTAGE' || rate.rateType === 'TIERED_PERCENTAGE' ? null : creditTypeId;
}

function tiersText(tiers: readonly Tier[]): string {
  return JSON.stringify(
    tiers.map(({ size, price }) =>
      size === null ? { price: exact(price) } : { size: exact(size), price: exact(price) },
    ),
  );
}

async function customFieldRows({ db }: ViewSnapshot, { after, limit }: CataloguePart): Promise<RowsPart> {
  const place: FieldPlace | null = after === null ? null : JSON.parse(after);
  const read = await reportCustomFields(db, { after: place, limit });
  const rows = read.map(({ entity, entityId, key, value }) => [entity, entityId, key, value]);
  const next = nextOf(read, { after, limit }, ({ keyId, entityId }) => JSON.stringify({ keyId, entityId }));
  return { rows, next };
}

const CENTS_PER_DOLLAR = decimal('100');

async function priceRows({ db }: ViewSnapshot, { after, limit }: CataloguePart): Promise<RowsPart> {
  const place: PricePlace | null = after === null ? null : JSON.parse(after);
  const read = await reportTokenPrices(db, { after: place, limit });
  const rows = read.map(({ provider, model, kind, validFrom, usdPerToken }) => [
    ...[provider, model, kind, exact(usdPerToken.times(CENTS_PER_DOLLAR)), time(validFrom)],
  ]);
  const next = nextOf(read, { after, limit }, ({ provider, model, kind, validFrom }) =>
    JSON.stringify({ provider, model, kind, validFrom }),
  );
  return { rows, next };
}
