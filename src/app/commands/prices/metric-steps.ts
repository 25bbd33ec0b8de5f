/** The steps of a plan for metrics. Only their names can change, so another definition is another metric. */
import { canonicalText } from './canonical.ts';
import { type FileMetric, KEY_FIELD, type Terms } from './catalogue-file.ts';
import {
  archiveStep,
  fieldSteps,
  type HeldObject,
  keepKey,
  type Matched,
  type Planning,
  releaseKey,
} from './planning.ts';
import { post, Reference, type Step, step } from './step.ts';

const PATH = '/v1/billable-metrics';

export function metricSteps(planning: Planning, list: readonly Matched<FileMetric>[]): Step[] {
  const before = new Map(planning.held.metrics.map((one) => [one.key, one]));
  return list.flatMap(({ one, held, isRenamed }) => {
    if (held === null) return [createStep(planning, one)];
    if (held.isArchived) return [];
    const old = before.get(held.key);
    if (old === undefined) return [];
    if (isReplaced(old, one)) return [archiveStep('metric', held.key, held.id), createStep(planning, one)];
    const renamed = isRenamed || (old.name !== one.name && !held.hasKeyField);
    return [
      ...(renamed ? [keepKey('metric', held, one.key)] : []),
      ...(old.name === one.name ? [] : [nameStep(held, one)]),
      ...fieldSteps('metric', held, old.custom_fields, one),
    ];
  });
}

/** The keys of metrics that become others, while products still have the old ones. */
export function replacedMetrics(planning: Planning, list: readonly Matched<FileMetric>[]): string[] {
  const before = new Map(planning.held.metrics.map((one) => [one.key, one]));
  return list.flatMap(({ one, held }) => {
    if (held === null) return planning.objects.metric.has(one.key) ? [one.key] : [];
    const old = before.get(held.key);
    return old !== undefined && !held.isArchived && isReplaced(old, one) ? [held.key] : [];
  });
}

function isReplaced(old: FileMetric, one: FileMetric): boolean {
  return canonicalText(definitionOf(old)) !== canonicalText(definitionOf(one));
}

function definitionOf({ key, was, name, archived, custom_fields, ...definition }: FileMetric): Terms {
  return definition;
}

function createStep(planning: Planning, one: FileMetric): Step {
  const { key, name, custom_fields: fields } = one;
  const terms = { name, ...definitionOf(one) };
  const body = { ...terms, custom_fields: { ...fields, [KEY_FIELD]: key } };
  return step({
    ...{ action: 'create', kind: 'metric', key, after: terms },
    calls: [...releaseKey(planning, 'metric', key), post(`${PATH}/create`, body)],
    makes: new Reference('metric', key),
  });
}

function nameStep({ id, name: before }: HeldObject, { key, name }: FileMetric): Step {
  return step({
    ...{ action: 'change', kind: 'metric', key },
    ...{ before: { name: before }, after: { name } },
    calls: [{ method: 'PUT', path: `${PATH}/${id}`, body: { name } }],
  });
}
