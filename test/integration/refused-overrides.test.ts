/** Overrides that are not sound: 400, the exact path of the field, and nothing is stored. */
import { describe } from 'vitest';
import { refusalBench } from '../support/refused-terms.ts';
import { type Body, START, termFixtures } from '../support/term-fixtures.ts';

const { ids, refuses } = refusalBench();
const { commit, multiplier, overwrite } = termFixtures(ids);

const EXPLICIT = { multiplier_override_prioritization: 'EXPLICIT' };

describe('overrides are refused with', () => {
  const specifiers = (...override_specifiers: Body[]) => ({ override_specifiers });
  const priced = (change: Body = {}) => multiplier({ priority: 1, ...change });
  refuses([
    [
      'nothing to override',
      () => ({ overrides: [{ starting_at: START, product_id: ids.tokens }] }),
      /^overrides\[0\]\.type: is required without entitled$/,
    ],
    [
      'an end at its start',
      () => ({ overrides: [multiplier({ ending_before: START })] }),
      /^overrides\[0\]\.ending_before: must be after starting_at$/,
    ],
    [
      'a MULTIPLIER without one',
      () => ({ overrides: [multiplier({ multiplier: undefined })] }),
      /^overrides\[0\]\.multiplier: is required for MULTIPLIER overrides$/,
    ],
    [
      'a multiplier of an OVERWRITE',
      () => ({ overrides: [overwrite({ multiplier: 1 })] }),
      /^overrides\[0\]\.multiplier: is for MULTIPLIER overrides, not for OVERWRITE$/,
    ],
    [
      'a negative multiplier',
      () => ({ overrides: [multiplier({ multiplier: -0.1 })] }),
      /^overrides\[0\]\.multiplier: must be at least 0$/,
    ],
    [
      'a product without a rate on the card',
      () => ({ overrides: [multiplier({ product_id: ids.unpriced })] }),
      /^overrides\[0\]\.product_id: No such product in rate card$/,
    ],
    [
      'a specified product without a rate on the card',
      () => ({ overrides: [multiplier(specifiers({ product_id: ids.unpriced }))] }),
      /^overrides\[0\]\.override_specifiers\[0\]\.product_id: No such product in rate card$/,
    ],
    [
      'a product beside specifiers',
      () => ({
        overrides: [multiplier({ product_id: ids.tokens, ...specifiers({ product_id: ids.tokens }) })],
      }),
      /^overrides\[0\]\.override_specifiers: cannot be combined with product_id$/,
    ],
    [
      'tags beside specifiers',
      () => ({
        overrides: [multiplier({ applicable_product_tags: ['a'], ...specifiers({ product_tags: ['a'] }) })],
      }),
      /^overrides\[0\]\.override_specifiers: cannot be combined with applicable_product_tags$/,
    ],
    [
      'an OVERWRITE of tags',
      () => ({ overrides: [overwrite({ product_id: undefined, applicable_product_tags: ['a'] })] }),
      /^overrides\[0\]\.applicable_product_tags: OVERWRITE must name its products by id$/,
    ],
    [
      'an OVERWRITE of everything',
      () => ({ overrides: [overwrite({ product_id: undefined })] }),
      /^overrides\[0\]\.product_id: OVERWRITE must name its products by id$/,
    ],
    [
      'an OVERWRITE of specified tags',
      () => ({
        overrides: [
          overwrite({
            product_id: undefined,
            ...specifiers({ product_id: ids.tokens, product_tags: ['a'] }),
          }),
        ],
      }),
      /^overrides\[0\]\.override_specifiers\[0\]\.product_tags: cannot be the target of an OVERWRITE$/,
    ],
    [
      'an OVERWRITE of presentation values',
      () => ({
        overrides: [
          overwrite({
            product_id: undefined,
            ...specifiers({ product_id: ids.tokens, presentation_group_values: { region: 'eu' } }),
          }),
        ],
      }),
      /^overrides\[0\]\.override_specifiers\[0\]\.presentation_group_values: cannot be the target/,
    ],
    [
      'an OVERWRITE without the pricing values of its product',
      () => ({ overrides: [overwrite({ product_id: ids.models })] }),
      /^overrides\[0\]\.product_id: OVERWRITE of a product with a pricing_group_key needs/,
    ],
    [
      'an OVERWRITE without all the pricing values of its product',
      () => ({
        overrides: [overwrite({ product_id: undefined, ...specifiers({ product_id: ids.models }) })],
      }),
      /^overrides\[0\]\.override_specifiers\[0\]\.pricing_group_values: must give a value for each of model/,
    ],
    [
      'a rate that does not suit the product',
      () => ({ overrides: [overwrite({ product_id: ids.support })] }),
      /^overrides\[0\]\.overwrite_rate\.rate_type: must be PERCENTAGE or TIERED_PERCENTAGE for COMPOSITE/,
    ],
    [
      'a FLAT rate without a price',
      () => ({ overrides: [overwrite({ overwrite_rate: { rate_type: 'FLAT' } })] }),
      /^overrides\[0\]\.overwrite_rate\.price: is required for FLAT rates$/,
    ],
    [
      'a CUSTOM rate',
      () => ({ overrides: [overwrite({ overwrite_rate: { rate_type: 'CUSTOM' } })] }),
      /^overrides\[0\]\.overwrite_rate\.rate_type: CUSTOM rates are not supported$/,
    ],
    [
      'a TIERED override without explicit priorities',
      () => ({
        overrides: [{ starting_at: START, type: 'TIERED', priority: 1, tiers: [{ multiplier: 1 }] }],
      }),
      /^overrides\[0\]\.type: TIERED needs multiplier_override_prioritization EXPLICIT$/,
    ],
    [
      'tiers of which one in the middle has no size',
      () => ({
        ...EXPLICIT,
        overrides: [
          { starting_at: START, type: 'TIERED', priority: 1, tiers: [{ multiplier: 1 }, { multiplier: 2 }] },
        ],
      }),
      /^overrides\[0\]\.tiers\[0\]\.size: is needed in every tier but the last$/,
    ],
    [
      'no tiers',
      () => ({ ...EXPLICIT, overrides: [{ starting_at: START, type: 'TIERED', priority: 1, tiers: [] }] }),
      /^overrides\[0\]\.tiers: at least one tier is needed$/,
    ],
    [
      'no priority where they are explicit',
      () => ({ ...EXPLICIT, overrides: [priced(), multiplier()] }),
      /^overrides\[1\]\.priority: is required with multiplier_override_prioritization EXPLICIT$/,
    ],
    [
      'a priority of 0',
      () => ({ ...EXPLICIT, overrides: [priced({ priority: 0 })] }),
      /^overrides\[0\]\.priority: must be greater than 0$/,
    ],
    [
      'a subscription product without its frequency',
      () => ({ overrides: [multiplier(specifiers({ product_id: ids.seats }))] }),
      /^overrides\[0\]\.override_specifiers\[0\]\.billing_frequency: is required for SUBSCRIPTION products$/,
    ],
    [
      'a subscription product as a simple target',
      () => ({ overrides: [multiplier({ product_id: ids.seats })] }),
      /^overrides\[0\]\.product_id: a SUBSCRIPTION product needs override_specifiers/,
    ],
    [
      'a frequency that the card has no rate for',
      () => ({
        overrides: [multiplier(specifiers({ product_id: ids.seats, billing_frequency: 'ANNUAL' }))],
      }),
      /^overrides\[0\]\.override_specifiers\[0\]\.billing_frequency: the rate card has no ANNUAL rate/,
    ],
    [
      'a frequency without a product',
      () => ({ overrides: [multiplier(specifiers({ billing_frequency: 'MONTHLY' }))] }),
      /^overrides\[0\]\.override_specifiers\[0\]\.product_id: is required with billing_frequency$/,
    ],
    [
      'a target without being commit-specific',
      () => ({ overrides: [multiplier({ target: 'COMMIT_RATE' })] }),
      /^overrides\[0\]\.target: is for commit-specific overrides only$/,
    ],
    [
      'ids of commits without being commit-specific',
      () => ({
        commits: [commit({ temporary_id: 'c' })],
        overrides: [multiplier(specifiers({ product_id: ids.tokens, commit_ids: ['c'] }))],
      }),
      /^overrides\[0\]\.override_specifiers\[0\]\.commit_ids: is for commit-specific overrides only$/,
    ],
    [
      'ids of commits alone',
      () => ({
        commits: [commit({ temporary_id: 'c' })],
        overrides: [multiplier({ is_commit_specific: true, ...specifiers({ commit_ids: ['c'] }) })],
      }),
      /^overrides\[0\]\.override_specifiers\[0\]\.commit_ids: needs a product, tags or group values/,
    ],
    [
      'the id of no commit',
      () => ({
        overrides: [
          multiplier({
            is_commit_specific: true,
            ...specifiers({ product_id: ids.tokens, commit_ids: ['c'] }),
          }),
        ],
      }),
      /^overrides\[0\]\.override_specifiers\[0\]\.commit_ids\[0\]: "c" is neither the id nor a temporary_id/,
    ],
  ]);
});
