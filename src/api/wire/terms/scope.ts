/** The usage that a balance may pay for, and the contracts that may draw on it. */
import { z } from 'zod';
import { RATE_TARGETS } from '../../../core/terms/applicability.ts';
import { PRORATION_ROUNDING_METHODS } from '../../../core/terms/recurring-commits.ts';
import { wireName } from '../../base/names.ts';
import { called, described, kind, list, optional, optionalMany } from '../description.ts';
import { exact, id, oneOf, text, whole } from '../kinds.ts';
import { record, within } from '../record.ts';

export const tags = list(text, { max: 100 });

export const groupValues = optionalMany(
  kind(z.record(z.string().min(1), z.string()), z.record(z.string(), z.string())),
  {},
);

export const productTagsOfSpecifier = described(
  'The product must carry all of them.',
  optionalMany(tags, []),
);

export const exclude = described(
  'Products that carry all tags of one of these lists are excluded.',
  optionalMany(
    list(record({ productTags: list(text, { min: 1, max: 100 }) }, { id: 'ExcludeSpecifier' }), { max: 100 }),
    [],
  ),
);

const usageSpecifier = record(
  {
    productId: optional(id),
    productTags: productTagsOfSpecifier,
    pricingGroupValues: groupValues,
    presentationGroupValues: groupValues,
    exclude,
  },
  { id: 'CommitSpecifier' },
);

export const applicability = {
  productIds: called(
    wireName('productIds', 'applicability'),
    described(
      'Covered products. Without ids, tags and specifiers, all products are covered.',
      optionalMany(list(id, { max: 1_000 }), []),
    ),
  ),
  productTags: called(
    wireName('productTags', 'applicability'),
    described('Products that carry one of these tags are covered.', optionalMany(tags, [])),
  ),
  specifiers: described(
    'Usage that meets any of them is covered. Not with ids or tags.',
    optionalMany(list(usageSpecifier, { max: 100 }), []),
  ),
};

export const hierarchyAccess = within(
  'child_access',
  record({
    type: oneOf(['ALL', 'NONE', 'CONTRACT_IDS']),
    contractIds: described('With type CONTRACT_IDS.', optionalMany(list(id, { max: 100 }), [])),
  }),
  { id: 'CommitHierarchyConfiguration' },
);

export const rounding = record(
  {
    roundingMethod: oneOf(PRORATION_ROUNDING_METHODS),
    decimalPlaces: described(
      'Decimals of the stored amount; -2 rounds cents to whole dollars.',
      whole(-5, 5),
    ),
  },
  { id: 'ProrationRoundingConfig' },
);

export const priority = described('Lower is used first. Default: 100.', exact({ min: '0' }));

export const fraction = exact({ min: '0', max: '1' });

export const rateTarget = oneOf(RATE_TARGETS);
