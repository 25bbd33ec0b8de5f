/**
 * The plan that makes the catalogue of a service that of the files: steps in an order in which each can be done. Pure.
 * A plan that was done is empty the next time, and one that was interrupted is the rest of it.
 */

import { cardSteps } from './card-steps.ts';
import {
  type Catalogue,
  holdsKeys,
  KEY_FIELD,
  KEYED,
  KEYED_KINDS,
  type KeyedKind,
} from './catalogue-file.ts';
import { catalogueOf } from './exported-file.ts';
import type { LiveCatalogue } from './live-catalogue.ts';
import { metricSteps, replacedMetrics } from './metric-steps.ts';
import {
  archiveSteps,
  heldObjects,
  matched,
  type Planning,
  type PlanOptions,
  unnamedObjects,
} from './planning.ts';
import { countedBy, productSteps } from './product-steps.ts';
import { refuse } from './read-files.ts';
import { type Plan, post, Reference, type Step, step } from './step.ts';

/** Throws a `CommandFailure` that lists what cannot be done. */
export function planSteps(live: LiveCatalogue, wanted: Catalogue, options: PlanOptions): Plan {
  const planning = planningOf(live, wanted, options);
  const metrics = matched(planning, 'metric', wanted.metrics);
  const products = matched(planning, 'product', wanted.products);
  const cards = matched(planning, 'rate card', wanted.rate_cards);
  const replaced = {
    metrics: new Set(replacedMetrics(planning, metrics)),
    products: new Set(
      products.flatMap(({ one, held }) =>
        held === null && planning.objects.product.has(one.key) ? one.key : [],
      ),
    ),
  };
  const compared = { ...planning, held: withArchived(planning.held, replaced) };
  const changes = [
    ...metricSteps(compared, metrics),
    ...productSteps(compared, products),
    ...cardSteps(compared, cards),
    ...archiveSteps(compared, 'rate card', cards),
    ...archiveSteps(compared, 'product', products),
    ...archiveSteps(compared, 'metric', metrics),
  ];
  const steps = [...unitSteps(planning), ...fieldKeySteps(planning, live, changes), ...changes];
  checkReferences(planning);
  refuse(planning.problems);
  const unnamed = [
    ...unnamedObjects(planning, 'metric', metrics).map(({ key }) => new Reference('metric', key)),
    ...unnamedObjects(planning, 'product', products).map(({ key }) => new Reference('product', key)),
    ...unnamedObjects(planning, 'rate card', cards).map(({ key }) => new Reference('rate card', key)),
  ];
  const renamed = [...named('metric', metrics), ...named('product', products), ...named('rate card', cards)];
  return { steps, ids: idsOf(planning, renamed), unnamed };
}

function planningOf(live: LiveCatalogue, wanted: Catalogue, options: PlanOptions): Planning {
  const stated = wanted.custom_field_keys.filter((declared) => !holdsKeys(declared));
  return {
    ...options,
    wanted: { ...wanted, custom_field_keys: stated },
    held: catalogueOf(live),
    objects: heldObjects(live),
    unitIds: new Map(live.units.map(({ id, name }) => [name, id])),
    problems: [],
  };
}

function named(
  kind: KeyedKind,
  list: ReturnType<typeof matched>,
): { readonly reference: Reference; readonly id: string }[] {
  return list.flatMap(({ one, held }) =>
    held === null ? [] : [{ reference: new Reference(kind, one.key), id: held.id }],
  );
}

function idsOf({ objects, unitIds }: Planning, renamed: ReturnType<typeof named>): Plan['ids'] {
  const ids = new Map<string, string>();
  for (const [name, id] of unitIds) ids.set(String(new Reference('pricing unit', name)), id);
  for (const kind of KEYED_KINDS) {
    for (const { key, id } of objects[kind].values()) ids.set(String(new Reference(kind, key)), id);
  }
  for (const { reference, id } of renamed) ids.set(String(reference), id);
  return ids;
}

interface Replaced {
  readonly metrics: ReadonlySet<string>;
  readonly products: ReadonlySet<string>;
}

/** The catalogue with another name for objects whose key goes to a new one, so that references to them are changes. */
function withArchived(held: Catalogue, { metrics, products }: Replaced): Catalogue {
  const renamed = (keys: ReadonlySet<string>, key: string) => (keys.has(key) ? `${key} (archived)` : key);
  const terms = <Terms extends Readonly<Record<string, unknown>>>(one: Terms): Terms => ({
    ...one,
    ...(typeof one.billable_metric === 'string'
      ? { billable_metric: renamed(metrics, one.billable_metric) }
      : {}),
    ...(one.composite_products === undefined
      ? {}
      : { composite_products: countedBy(one).map((key) => renamed(products, key)) }),
  });
  return {
    ...held,
    products: held.products.map((one) => ({ ...terms(one), updates: one.updates.map(terms) })),
    rate_cards: held.rate_cards.map((card) => ({
      ...card,
      rates: card.rates.map((rate) => ({ ...rate, product: renamed(products, rate.product) })),
    })),
  };
}

function unitSteps({ wanted, unitIds }: Planning): Step[] {
  return wanted.pricing_units
    .filter(({ name }) => !unitIds.has(name))
    .map(({ name }) =>
      step({
        ...{ action: 'create', kind: 'pricing unit', key: name },
        calls: [post('/v1/credit-types/create', { name })],
        makes: new Reference('pricing unit', name),
      }),
    );
}

/** Declares the keys of the files, and the custom fields that hold keys of objects where a step sets them. */
function fieldKeySteps(planning: Planning, live: LiveCatalogue, steps: readonly Step[]): Step[] {
  const declared = new Map(live.fieldKeys.map((one) => [`${one.entity} ${one.key}`, one]));
  const needed = KEYED_KINDS.filter((kind) => steps.some((one) => one.kind === kind && setsKey(one))).map(
    (kind) => ({ entity: KEYED[kind], key: KEY_FIELD, enforce_uniqueness: true }),
  );
  const wanted = planning.wanted.custom_field_keys;
  for (const { entity, key, enforce_uniqueness: isUnique } of wanted) {
    const held = declared.get(`${entity} ${key}`);
    if (held === undefined || held.enforce_uniqueness === isUnique) continue;
    planning.problems.push(
      `custom field ${key} of ${entity} has enforce_uniqueness ${held.enforce_uniqueness}, which cannot change`,
    );
  }
  return [...needed, ...wanted]
    .filter(({ entity, key }) => !declared.has(`${entity} ${key}`))
    .map((one) =>
      step({
        ...{ action: 'create', kind: 'custom field key', key: `${one.key} of ${one.entity}`, after: one },
        calls: [post('/v1/customFields/addKey', { ...one })],
      }),
    );
}

function setsKey({ action, after }: Step): boolean {
  return action === 'create' || (after !== null && Object.hasOwn(after, KEY_FIELD));
}

/** All that the files name is in the files or in the service. */
function checkReferences({ wanted, objects, unitIds, problems }: Planning): void {
  const units = new Set([...unitIds.keys(), ...wanted.pricing_units.map(({ name }) => name)]);
  const metrics = new Set([...objects.metric.keys(), ...wanted.metrics.map(({ key }) => key)]);
  const products = new Set([...objects.product.keys(), ...wanted.products.map(({ key }) => key)]);
  const need = (known: ReadonlySet<string>, kind: string, key: unknown, where: string) => {
    if (typeof key !== 'string' || known.has(key)) return;
    problems.push(`${where} names ${kind} ${key}, which neither the files nor the service have`);
  };
  for (const one of wanted.products) {
    for (const terms of [one, ...one.updates]) {
      need(metrics, 'metric', terms.billable_metric, `product ${one.key}`);
      for (const key of countedBy(terms)) need(products, 'product', key, `product ${one.key}`);
    }
  }
  for (const { key, currency, conversions, rates } of wanted.rate_cards) {
    const where = `rate card ${key}`;
    need(units, 'pricing unit', currency, where);
    for (const { unit } of conversions) need(units, 'pricing unit', unit, where);
    const names = new Set(rates.map(({ product }) => product));
    for (const product of names) need(products, 'product', product, where);
    for (const unit of new Set(rates.map((rate) => rate.unit))) need(units, 'pricing unit', unit, where);
  }
}
