/**
 * Limits for the overrides of a contract. Within these limits a contract with all of them is read and rated in
 * milliseconds (`npm run bench -- overrides`). Contracts that exceed them remain readable; they accept no new ones.
 */
import { type FieldPath, invalid } from '../../../core/errors.ts';
import type { Override } from '../../../core/terms/overrides.ts';

const OVERRIDES_PER_CONTRACT_MAX = 10_000;
/** Maximum specifiers of all overrides of a contract. */
const SPECIFIERS_PER_CONTRACT_MAX = 10_000;
/** Maximum tiers of all TIERED overrides of a contract: a price is cut at the tiers of all that apply to it. */
const OVERRIDE_TIERS_PER_CONTRACT_MAX = 1_000;

/**
 * Refuses (`invalid`) the first added override that exceeds a limit of the contract. `list`: the path of the overrides.
 */
export function checkOverrideLimits(
  existing: readonly Override[],
  added: readonly Override[],
  list: FieldPath,
): void {
  const limits = [
    { max: OVERRIDES_PER_CONTRACT_MAX, what: 'overrides', member: [], count: () => 1 },
    {
      max: SPECIFIERS_PER_CONTRACT_MAX,
      what: 'specifiers of overrides',
      member: ['specifiers'],
      count: ({ specifiers }: Override) => specifiers.length,
    },
    {
      max: OVERRIDE_TIERS_PER_CONTRACT_MAX,
      what: 'tiers of overrides',
      member: ['tiers'],
      count: ({ tiers }: Override) => tiers.length,
    },
  ];
  for (const { max, what, member, count } of limits) {
    let total = existing.reduce((sum, one) => sum + count(one), 0);
    for (const [index, one] of added.entries()) {
      total += count(one);
      if (count(one) === 0 || total <= max) continue;
      throw invalid(
        [...list, index, ...member],
        `a contract has at most ${max.toLocaleString('en')} ${what}`,
      );
    }
  }
}
