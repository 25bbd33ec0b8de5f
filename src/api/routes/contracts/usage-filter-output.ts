/** Usage filters of contracts in answers: the first and the present one in v1, all of them in v2. */
import { z } from 'zod';
import type { UsageFilter } from '../../../core/terms/contract.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import { timestamp } from '../../wire/fields.ts';
import { given } from '../../wire/terms/term-fields.ts';

const filterOutput = z.object({
  group_key: z.string(),
  group_values: z.array(z.string()),
  starting_at: timestamp,
});

export const usageFilterOutput = z.object({
  initial: filterOutput,
  current: filterOutput.nullable(),
  updates: z.array(filterOutput),
});

export const usageFilterOutputV2 = filterOutput
  .extend({ ending_before: timestamp.optional() })
  .meta({ id: 'UsageFilterV2' });

function filterToWire(filter: UsageFilter): z.input<typeof filterOutput> {
  return {
    group_key: filter.groupKey,
    group_values: [...filter.groupValues],
    starting_at: formatInstant(filter.startingAt),
  };
}

export function usageFilterToWire(filters: readonly UsageFilter[], now: Instant) {
  const [initial, ...updates] = filters;
  if (initial === undefined) return null;
  const current = filters.findLast((filter) => filter.startingAt <= now);
  return {
    initial: filterToWire(initial),
    current: current === undefined ? null : filterToWire(current),
    updates: updates.map(filterToWire),
  };
}

/** A filter holds until the next one starts, the last one until the contract ends. */
export function usageFiltersToWireV2(
  filters: readonly UsageFilter[],
  contractEnd: Instant | null,
): z.input<typeof usageFilterOutputV2>[] {
  return filters.map((filter, index) => {
    const end = filters[index + 1]?.startingAt ?? contractEnd;
    return { ...filterToWire(filter), ...given('ending_before', end === null ? null : formatInstant(end)) };
  });
}
