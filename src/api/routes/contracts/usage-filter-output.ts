/** Usage filters in answers: the initial and the current one in v1, all of them in v2. */
import type { UsageFilter } from '../../../core/terms/contract.ts';
import type { Instant } from '../../../core/time.ts';
import { list, nullable, optional } from '../../wire/description.ts';
import { anyText, instant } from '../../wire/kinds.ts';
import { record } from '../../wire/record.ts';

const fields = { groupKey: anyText, groupValues: list(anyText), startingAt: instant };

const filter = record(fields);

export const usageFilter = record({ initial: filter, current: nullable(filter), updates: list(filter) });

export const usageFilterV2 = record(
  { ...fields, endingBefore: optional(instant) },
  { id: { answered: 'UsageFilterV2' } },
);

export function usageFiltersView(filters: readonly UsageFilter[], now: Instant) {
  const [initial, ...updates] = filters;
  if (initial === undefined) return null;
  return { initial, current: filters.findLast(({ startingAt }) => startingAt <= now) ?? null, updates };
}

/** A filter applies until the next one starts, the last one until the contract ends. */
export function usageFiltersViewV2(filters: readonly UsageFilter[], contractEnd: Instant | null) {
  return filters.map((one, index) => ({
    ...one,
    endingBefore: filters[index + 1]?.startingAt ?? contractEnd,
  }));
}
