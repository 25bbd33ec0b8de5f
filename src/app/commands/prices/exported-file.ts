/**
 * The file of a catalogue (docs/how-to/prices-as-code.md): every object has a key, and refers to others by theirs. It
 * has no ids, so the same file describes the same prices in any installation. Pure.
 */
import { stringify } from 'yaml';
import { JsonNumber } from '../../../api/base/json.ts';
import { type Catalogue, catalogueForm, holdsKeys } from './catalogue-file.ts';
import { type CatalogueKeys, keysOfCatalogue } from './keys.ts';
import type { LiveCard, LiveCatalogue, LiveProduct, LiveRate, ProductTerms } from './live-catalogue.ts';

/** Objects are sorted by key, rates by product, values and time, so that equal catalogues give equal files. */
export function exportedFile(live: LiveCatalogue): string {
  return stringify(plain(fileOf(live)), { lineWidth: 0, aliasDuplicateObjects: false });
}

/** The catalogue in the form in which files are compared. */
export function catalogueOf(live: LiveCatalogue): Catalogue {
  return catalogueForm.parse(fileOf(live));
}

function fileOf(live: LiveCatalogue) {
  const keys = keysOfCatalogue(live);
  const used = archivedInUse(live);
  const isShown = ({ id, archived_at: archived }: Archivable) => archived == null || used.has(id);
  return {
    pricing_units: byText(
      live.units.filter(({ is_currency: isCurrency }) => !isCurrency),
      ({ name }) => name,
    ).map(({ name }) => ({ name })),
    custom_field_keys: byText(
      live.fieldKeys.filter((declared) => !holdsKeys(declared)),
      ({ entity, key }) => `${entity} ${key}`,
    ),
    metrics: byText(
      live.metrics.filter(isShown).map(({ id, custom_fields, archived_at, ...terms }) => ({
        key: keyIn(keys.metrics, id),
        ...archivedMark(archived_at),
        ...terms,
        ...fieldsOf(custom_fields),
      })),
      ({ key }) => key,
    ),
    products: byText(
      live.products.filter(isShown).map(({ id, type, initial, updates, custom_fields, archived_at }) => ({
        key: keyIn(keys.products, id),
        ...archivedMark(archived_at),
        type,
        ...stated(termsOf(initial, keys)),
        ...(updates.length === 0 ? {} : { updates: updates.map((update) => termsOf(update, keys)) }),
        ...fieldsOf(custom_fields),
      })),
      ({ key }) => key,
    ),
    rate_cards: byText(
      live.cards.map((card) => cardOf(card, keyIn(keys.cards, card.id), keys)),
      ({ key }) => key,
    ),
  };
}

type Archivable = Pick<LiveProduct, 'id' | 'archived_at'>;

function archivedMark(archivedAt: string | null | undefined) {
  return archivedAt == null ? {} : { archived: true };
}

/** Archived metrics and products that others still need: those of rates, and all that products name. */
function archivedInUse({ products, cards }: LiveCatalogue): ReadonlySet<string> {
  const used = new Set<string>();
  const named = new Map(products.map((one) => [one.id, namedBy(one)]));
  const waiting = [
    ...products.filter(({ archived_at: archived }) => archived == null).flatMap(namedBy),
    ...cards.flatMap(({ rates }) => rates.map(({ product_id: id }) => id)),
  ];
  // Each object is added once, so the loop ends.
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (used.has(id)) continue;
    used.add(id);
    waiting.push(...(named.get(id) ?? []));
  }
  return used;
}

function namedBy({ initial, updates }: LiveProduct): string[] {
  return [initial, ...updates].flatMap(
    ({ billable_metric_id: metric, composite_product_ids: counted = [] }) =>
      metric === undefined ? counted : [metric, ...counted],
  );
}

/** An id without an object in the answers has no key, and is shown as it is. */
function keyIn(keys: ReadonlyMap<string, string>, id: string): string {
  return keys.get(id) ?? id;
}

function termsOf(
  { billable_metric_id: metric, composite_product_ids: counted, ...terms }: ProductTerms,
  { metrics, products }: CatalogueKeys,
) {
  return {
    ...terms,
    ...(metric === undefined ? {} : { billable_metric: keyIn(metrics, metric) }),
    ...(counted === undefined ? {} : { composite_products: counted.map((id) => keyIn(products, id)) }),
  };
}

/** Without what is not set, which an update may also say: there it takes a term away. */
function stated<Terms extends object>(terms: Terms) {
  const isSet = (value: unknown) => value !== null && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => isSet(value)));
}

function cardOf(card: LiveCard, key: string, { products }: CatalogueKeys) {
  const { name, description, fiat_credit_type: currency, custom_fields } = card;
  const { credit_type_conversions: conversions = [], aliases = [] } = card;
  return {
    ...{ key, name },
    ...(description === undefined ? {} : { description }),
    currency: currency.name,
    ...(conversions.length === 0
      ? {}
      : {
          conversions: conversions.map(({ custom_credit_type: unit, fiat_per_custom_credit }) => ({
            unit: unit.name,
            fiat_per_custom_credit,
          })),
        }),
    ...(aliases.length === 0 ? {} : { aliases }),
    ...fieldsOf(custom_fields),
    rates: byText(
      card.rates.map((rate) => rateOf(rate, keyIn(products, rate.product_id), currency.name)),
      ({ product, pricing_group_values: values, billing_frequency: frequency, starting_at: start }) =>
        JSON.stringify([product, Object.entries(values ?? {}).sort(), frequency ?? '', start]),
    ),
  };
}

function rateOf(from: LiveRate, product: string, currency: string) {
  const { pricing_group_values, billing_frequency, starting_at, ending_before, entitled, commit_rate } = from;
  const { credit_type: unit, ...price } = from.rate;
  return {
    product,
    ...(pricing_group_values === undefined ? {} : { pricing_group_values }),
    ...(billing_frequency === undefined ? {} : { billing_frequency }),
    starting_at,
    ...(ending_before === undefined ? {} : { ending_before }),
    ...(entitled ? {} : { entitled }),
    ...price,
    ...(unit === undefined || unit.name === currency ? {} : { unit: unit.name }),
    ...(commit_rate === undefined ? {} : { commit_rate }),
  };
}

function fieldsOf(fields: Readonly<Record<string, string>>) {
  const { key: _, ...others } = fields;
  return Object.keys(others).length === 0 ? {} : { custom_fields: others };
}

function byText<Item>(items: readonly Item[], textOf: (item: Item) => string): Item[] {
  const texts = new Map(items.map((item) => [item, textOf(item)]));
  return items.toSorted((a, b) => ((texts.get(a) ?? '') < (texts.get(b) ?? '') ? -1 : 1));
}

/** Numbers with more digits than a double keeps become text, which loses none. */
function plain(value: unknown): unknown {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [[name, plain(member)]])),
  );
}
