/** An override of everything, without an end, that changes nothing, with the fields that a test is about. */
import type { Override } from '../../../../src/core/terms/overrides.ts';

export function overrideOf(fields: Partial<Override>): Override {
  return {
    id: 'override-1',
    contractId: 'contract-1',
    startingAt: 0,
    endingBefore: null,
    entitled: null,
    type: null,
    multiplier: null,
    priority: null,
    overwriteRate: null,
    tiers: [],
    productId: null,
    applicableProductTags: [],
    specifiers: [],
    isCommitSpecific: false,
    target: 'LIST_RATE',
    createdAt: 0,
    ...fields,
  };
}
