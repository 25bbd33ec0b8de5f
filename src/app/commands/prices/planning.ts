/** The input that the parts of a plan share: both catalogues, the dates, and the objects that keys stand for. */
import { floorToMonth, formatInstant, type Instant } from '../../../core/time.ts';
import { type Catalogue, KEY_FIELD, KEYED, type KeyedKind } from './catalogue-file.ts';
import { type CatalogueKeys, keysOfCatalogue, slugOf } from './keys.ts';
import type { LiveCatalogue } from './live-catalogue.ts';
import { type Call, post, Reference, type Step, step } from './step.ts';

export interface PlanOptions {
  /** The clock of the service. */
  readonly now: Instant;
  /** When changes without a date begin. */
  readonly effectiveAt: Instant;
  /** Whether changes may begin before the month of `now`. */
  readonly allowHistory: boolean;
  /** Whether what the files do not have is archived. */
  readonly prune: boolean;
}

export interface Planning extends PlanOptions {
  readonly wanted: Catalogue;
  /** The catalogue of the service as files have it. */
  readonly held: Catalogue;
  readonly objects: Readonly<Record<KeyedKind, HeldObjects>>;
  readonly unitIds: ReadonlyMap<string, string>;
  /** Reasons why the plan cannot be carried out; empty if it can. */
  readonly problems: string[];
}

/** An object of the service. */
export interface HeldObject {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly isArchived: boolean;
  /** Whether its custom field holds the key; otherwise its name does. */
  readonly hasKeyField: boolean;
}
type HeldObjects = ReadonlyMap<string, HeldObject>;

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly archived_at?: string | null | undefined;
  readonly custom_fields: Readonly<Record<string, string>>;
}

export function heldObjects(live: LiveCatalogue): Planning['objects'] {
  const keys = keysOfCatalogue(live);
  const products = live.products.map((one) => ({ ...one, name: one.current.name }));
  return {
    metric: indexed(live.metrics, keys.metrics),
    product: indexed(products, keys.products),
    'rate card': indexed(live.cards, keys.cards),
  };
}

function indexed(listed: readonly Listed[], keys: CatalogueKeys['cards']): HeldObjects {
  return new Map(
    listed.map(({ id, name, archived_at: archived, custom_fields: fields }) => {
      const key = keys.get(id) ?? id;
      const hasKeyField = fields[KEY_FIELD] === key;
      return [key, { id, key, name, isArchived: archived != null, hasKeyField }];
    }),
  );
}

/** An object of the files, and the one of the service that it is. */
export interface Matched<One> {
  readonly one: One;
  /** Null: it does not exist yet. */
  readonly held: HeldObject | null;
  /** Its key changes. */
  readonly isRenamed: boolean;
}

interface FileObject {
  readonly key: string;
  readonly was?: string | undefined;
  readonly archived?: unknown;
}

/** An archived object only matches one that is archived in the files, too: nobody can take it out again. */
export function matched<One extends FileObject>(
  { objects }: Planning,
  kind: KeyedKind,
  list: readonly One[],
): Matched<One>[] {
  return list.map((one) => {
    const named = objects[kind].get(one.key);
    const usable = named !== undefined && (!named.isArchived || one.archived === true);
    if (usable) return { one, held: named, isRenamed: false };
    const before = one.was === undefined ? undefined : objects[kind].get(one.was);
    const isRenamed = before !== undefined && !before.isArchived;
    return { one, held: isRenamed ? before : null, isRenamed };
  });
}

/** Keeps the key of an object in its custom field, where it had it by its name. */
export function keepKey(kind: KeyedKind, { id, key: before }: HeldObject, key: string): Step {
  return step({
    ...{ action: 'change', kind, key },
    ...{ before: before === key ? null : { key: before }, after: { key } },
    calls: [setFields(kind, id, { [KEY_FIELD]: key })],
  });
}

/** An archived object that holds the key gives it to the new one. */
export function releaseKey({ objects }: Planning, kind: KeyedKind, key: string): Call[] {
  const holder = objects[kind].get(key);
  if (holder === undefined || !holder.hasKeyField) return [];
  return [
    post('/v1/customFields/deleteValues', { entity: KEYED[kind], entity_id: holder.id, keys: [KEY_FIELD] }),
  ];
}

function setFields(kind: KeyedKind, id: string, fields: Readonly<Record<string, string>>): Call {
  const object = { entity: KEYED[kind], entity_id: id };
  return post('/v1/customFields/setValues', { ...object, custom_fields: fields });
}

interface WithFields {
  readonly key: string;
  readonly custom_fields: Readonly<Record<string, string>>;
}

/** The step that makes the custom fields of an object those of the files. */
export function fieldSteps(
  kind: KeyedKind,
  { id }: HeldObject,
  before: Readonly<Record<string, string>>,
  { key, custom_fields: after }: WithFields,
): Step[] {
  const set = Object.entries(after).filter(([name, value]) => before[name] !== value);
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  if (set.length === 0 && removed.length === 0) return [];
  const calls = [
    ...(set.length === 0 ? [] : [setFields(kind, id, Object.fromEntries(set))]),
    ...(removed.length === 0
      ? []
      : [post('/v1/customFields/deleteValues', { entity: KEYED[kind], entity_id: id, keys: removed })]),
  ];
  const shown = { before: { custom_fields: before }, after: { custom_fields: after } };
  return [step({ action: 'change', kind, key, ...shown, calls })];
}

/** The objects of the service that no file has, without archived ones. */
export function unnamedObjects<One extends FileObject>(
  planning: Planning,
  kind: KeyedKind,
  list: readonly Matched<One>[],
): HeldObject[] {
  const named = new Set(list.flatMap(({ held }) => held ?? []));
  const keys = new Set(list.map(({ one }) => one.key));
  return [...planning.objects[kind].values()].filter(
    (held) => !held.isArchived && !named.has(held) && !keys.has(held.key),
  );
}

const ARCHIVE: Readonly<Record<KeyedKind, { readonly path: string; readonly id: string }>> = {
  metric: { path: '/v1/billable-metrics/archive', id: 'id' },
  product: { path: '/v1/contract-pricing/products/archive', id: 'product_id' },
  'rate card': { path: '/v1/contract-pricing/rate-cards/archive', id: 'id' },
};

/** Archives an object of the service, or one that is created before. */
export function archiveStep(kind: KeyedKind, key: string, id: string | Reference): Step {
  const { path, id: member } = ARCHIVE[kind];
  return step({ action: 'archive', kind, key, calls: [post(path, { [member]: id })] });
}

/**
 * Objects that are archived at the end: those that the files have as archived and, with `prune`, those that they do not
 * have. Others with the same name keep their keys, which their names would no longer tell apart.
 */
export function archiveSteps<One extends FileObject>(
  planning: Planning,
  kind: KeyedKind,
  list: readonly Matched<One>[],
): Step[] {
  const unnamed = planning.prune ? unnamedObjects(planning, kind, list) : [];
  const stated = list.filter(({ one, held }) => one.archived === true && held?.isArchived !== true);
  const names = new Set(
    [...unnamed, ...stated.flatMap(({ held }) => held ?? [])].map(({ name }) => slugOf(name)),
  );
  const kept = list.filter(
    ({ held, one, isRenamed }) =>
      held !== null &&
      !held.hasKeyField &&
      !isRenamed &&
      one.archived !== true &&
      names.has(slugOf(held.name)),
  );
  return [
    ...kept.flatMap(({ held, one }) => (held === null ? [] : [keepKey(kind, held, one.key)])),
    ...stated.map(({ one, held }) => archiveStep(kind, one.key, held?.id ?? new Reference(kind, one.key))),
    ...unnamed.map(({ key, id }) => archiveStep(kind, key, id)),
  ];
}

/** The first instant that no invoice has passed for certain: the begin of the month of the service. */
function historyEnd({ now }: PlanOptions): Instant {
  return floorToMonth(now);
}

/**
 * When a change takes effect: when changes without a date do, or earlier at a start that the files state and the
 * service does not have. Adds a problem if such a start lies in history.
 */
export function changeStart(
  planning: Planning,
  what: string,
  news: readonly Instant[],
  isFree = false,
): Instant {
  const { allowHistory, effectiveAt, problems } = planning;
  const first = Math.min(effectiveAt, ...news);
  if (first < historyEnd(planning) && !allowHistory && !isFree) {
    problems.push(
      `${what} would change from ${formatInstant(first)} on, before this month: state a later date, or give --allow-history`,
    );
  }
  return first;
}
