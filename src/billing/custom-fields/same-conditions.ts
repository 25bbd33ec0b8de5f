/** Filters by custom fields over several kinds of balances. Pure. */
import { type FieldPath, invalid } from '../../core/errors.ts';
import { groupBy } from '../../core/group-by.ts';

interface FieldFilter {
  readonly entity: string;
  readonly key: string;
  readonly value: string | null;
}

/**
 * Refuses (`invalid`, naming `field`) filters that differ between kinds of balances: a balance has one kind only, so
 * filters of several kinds are one condition, which all of them repeat. Filters of contracts apply to another object.
 */
export function checkSameConditions(filters: readonly FieldFilter[], field: FieldPath): void {
  const ofBalances = filters.filter(({ entity }) => entity !== 'Contract');
  const conditions = [...groupBy(ofBalances, ({ entity }) => entity).values()].map((own) =>
    JSON.stringify([...new Set(own.map(({ key, value }) => JSON.stringify([key, value])))].sort()),
  );
  if (new Set(conditions).size > 1)
    throw invalid(field, 'must have the same keys and values for each entity');
}
