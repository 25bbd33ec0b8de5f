/** The steps of a plan for products: their terms change from an instant on. */
import { formatInstant } from '../../../core/time.ts';
import { canonicalText } from './canonical.ts';
import { type FileProduct, KEY_FIELD, type Terms } from './catalogue-file.ts';
import {
  changeStart,
  fieldSteps,
  type HeldObject,
  keepKey,
  type Matched,
  type Planning,
  releaseKey,
} from './planning.ts';
import { post, Reference, type Step, step } from './step.ts';
import {
  differingTerms,
  startsOf,
  type TermChange,
  type TermHistory,
  termChanges,
  termsAt,
} from './term-changes.ts';

const PATH = '/v1/contract-pricing/products';

/** New products come before all changes, each after those that it counts. */
export function productSteps(planning: Planning, list: readonly Matched<FileProduct>[]): Step[] {
  const created = inOrder(list.filter(({ held }) => held === null).map(({ one }) => one));
  return [
    ...created.map((one) => createStep(planning, one)),
    ...created.flatMap(statedUpdates),
    ...list.flatMap(({ one, held, isRenamed }) =>
      held === null || held.isArchived ? [] : changeSteps(planning, one, held, isRenamed),
    ),
  ];
}

function inOrder(products: readonly FileProduct[]): FileProduct[] {
  const byKey = new Map(products.map((one) => [one.key, one]));
  const ordered = new Set<FileProduct>();
  const visited = new Set<string>();
  const visit = (one: FileProduct) => {
    if (visited.has(one.key)) return;
    visited.add(one.key);
    for (const key of countedBy(one)) {
      const counted = byKey.get(key);
      if (counted !== undefined) visit(counted);
    }
    ordered.add(one);
  };
  for (const one of products) visit(one);
  return [...ordered];
}

/** The keys of the products whose charges a term set is a percentage of. */
export function countedBy({ composite_products: counted }: Terms): string[] {
  return Array.isArray(counted) ? counted.map(String) : [];
}

/** The scope of composites is left out: there is only one. */
function historyOf(one: FileProduct): TermHistory {
  const { key, was, type, archived, updates, custom_fields, composite_scope, ...initial } = one;
  return { initial, updates };
}

function createStep(planning: Planning, one: FileProduct): Step {
  const { key, type, custom_fields: fields } = one;
  const { initial } = historyOf(one);
  const body = { type, ...bodyOf(initial), custom_fields: { ...fields, [KEY_FIELD]: key } };
  return step({
    ...{ action: 'create', kind: 'product', key, after: { type, ...initial } },
    calls: [...releaseKey(planning, 'product', key), post(`${PATH}/create`, body)],
    makes: new Reference('product', key),
  });
}

/** Those of a new product, as the files state them. */
function statedUpdates(one: FileProduct): Step[] {
  const history = historyOf(one);
  return one.updates.map(({ starting_at: from, ...after }, index) => {
    const known = termsAt({ ...history, updates: history.updates.slice(0, index) }, Number.POSITIVE_INFINITY);
    const before = Object.fromEntries(Object.keys(after).map((name) => [name, known[name]]));
    return updateStep(one.key, new Reference('product', one.key), { from, before, after });
  });
}

function updateStep(
  key: string,
  id: string | Reference,
  { from, before, after }: { readonly from: string; readonly before: Terms; readonly after: Terms },
): Step {
  const body = { product_id: id, starting_at: from, ...bodyOf(after) };
  return step({
    ...{ action: 'change', kind: 'product', key, from, before, after },
    calls: [post(`${PATH}/update`, body)],
  });
}

function changeSteps(planning: Planning, one: FileProduct, held: HeldObject, isRenamed: boolean): Step[] {
  const old = planning.held.products.find(({ key }) => key === held.key);
  if (old === undefined) return [];
  if (typeOf(old) !== typeOf(one)) {
    planning.problems.push(
      `product ${one.key} is of type ${old.type}, which cannot change to ${one.type}: give it another key`,
    );
    return [];
  }
  const isPriced = planning.held.rate_cards.some(({ rates }) =>
    rates.some(({ product }) => product === held.key),
  );
  const isBegun = !isPriced && isBeginOf(historyOf(old), historyOf(one));
  const changes = isBegun ? [] : changesOf(planning, old, one, isPriced);
  const isNamed = changes.some(({ after }) => Object.hasOwn(after, 'name'));
  return [
    ...(isRenamed || (isNamed && !held.hasKeyField) ? [keepKey('product', held, one.key)] : []),
    ...(isBegun ? statedUpdates(one).slice(old.updates.length) : []),
    ...changes.map(({ start, before, after }) =>
      updateStep(one.key, held.id, { from: formatInstant(start), before, after }),
    ),
    ...fieldSteps('product', held, old.custom_fields, one),
  ];
}

/** Whether only the last updates are missing, as after an interruption: then they are added as they are stated. */
function isBeginOf(held: TermHistory, wanted: TermHistory): boolean {
  return (
    differingTerms(held.initial, wanted.initial).length === 0 &&
    held.updates.length < wanted.updates.length &&
    held.updates.every((update, index) => canonicalText(update) === canonicalText(wanted.updates[index]))
  );
}

function changesOf(planning: Planning, old: FileProduct, one: FileProduct, isPriced: boolean): TermChange[] {
  const [held, wanted] = [historyOf(old), historyOf(one)];
  const starts = new Set(startsOf(held));
  const differs = (at: number) => differingTerms(termsAt(held, at), termsAt(wanted, at)).length > 0;
  const news = startsOf(wanted).filter((at) => !starts.has(at) && differs(at));
  const problems: string[] = [];
  const start = changeStart({ ...planning, problems }, `product ${one.key}`, news, !isPriced);
  const changes = termChanges(held, wanted, start);
  for (const [name, value] of changes.flatMap(({ after }) => Object.entries(after))) {
    if (value === undefined) problems.push(`product ${one.key} has ${name}, which cannot be taken away`);
  }
  if (changes.length > 0) planning.problems.push(...problems);
  return changes;
}

function typeOf({ type }: FileProduct): string {
  return type === 'PROFESSIONAL_SERVICE' ? 'PRO_SERVICE' : type;
}

/** The terms as the API has them. */
function bodyOf({ billable_metric: metric, composite_products, ...terms }: Terms): Terms {
  const counted = composite_products === undefined ? undefined : countedBy({ composite_products });
  return {
    ...terms,
    ...(typeof metric === 'string' ? { billable_metric_id: new Reference('metric', metric) } : {}),
    ...(counted === undefined
      ? {}
      : { composite_product_ids: counted.map((key) => new Reference('product', key)) }),
  };
}
