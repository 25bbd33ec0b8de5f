/** Overrides on the wire, also as templates. Edits add and remove them but cannot change them. */
import { z } from 'zod';
import type { TermNames } from '../../../billing/contracts/term-names.ts';
import { BILLING_FREQUENCIES, TIERS_MODES } from '../../../core/catalogue.ts';
import {
  describedRate,
  NO_RATE,
  OVERRIDE_TYPES,
  type Override,
  type OverwriteRateInput,
} from '../../../core/terms/overrides.ts';
import type { OverrideTemplate } from '../../../core/terms/packages.ts';
import {
  answered,
  called,
  defaulted,
  described,
  kind,
  list,
  named,
  optional,
  optionalMany,
  sent,
} from '../description.ts';
import { enumIn, uuid } from '../fields.ts';
import { end, exact, hour, id, instant, oneOf, pricingUnit, product, truth } from '../kinds.ts';
import { record, reshaped, within } from '../record.ts';
import { range } from './relative-dates.ts';
import { exclude, groupValues, productTagsOfSpecifier, rateTarget, tags } from './scope.ts';

const TIERS_MAX = 1_000;
const SPECIFIERS_MAX = 1_000;

/** Ids in requests may be temporary ids. */
const balanceIds = optionalMany(list(kind(z.string().min(1), uuid), { max: 1_000 }), []);

const specifierFields = {
  productId: optional(id),
  productTags: productTagsOfSpecifier,
  pricingGroupValues: groupValues,
  presentationGroupValues: groupValues,
  billingFrequency: optional(oneOf(BILLING_FREQUENCIES)),
  commitIds: described('Ids or temporary ids of commits.', balanceIds),
  recurringCommitIds: balanceIds,
  anyCommitOrCreditIds: balanceIds,
  exclude,
};

const specifier = record(specifierFields, { id: 'OverrideSpecifier' });

const STORED_RATE_TYPES = ['FLAT', 'PERCENTAGE', 'SUBSCRIPTION', 'TIERED', 'TIERED_PERCENTAGE'] as const;

const tiersMode = described(
  'graduated (default), or volume: the tier that the whole quantity of the billing period reaches sets the price ' +
    'of all units.',
  optional(kind(z.enum(TIERS_MODES), z.enum(TIERS_MODES))),
);

const rateFields = {
  rateType: kind<OverwriteRateInput['rateType']>(
    enumIn([...STORED_RATE_TYPES, 'CUSTOM']),
    z.enum(STORED_RATE_TYPES),
  ),
  price: optional(exact()),
  tiers: optional(list(record({ size: optional(exact()), price: exact() }), { max: TIERS_MAX })),
  tiersMode,
  creditTypeId: named(
    pricingUnit,
    described('Default: the unit of the rate on the card.', optional(pricingUnit)),
  ),
  quantity: optional(exact({ min: '0' })),
  isProrated: optional(truth),
};

const overwriteRate = reshaped(
  record(
    {
      ...rateFields,
      minimum: called('minimum_config', optional(within('minimum', exact({ min: '0' })))),
    },
    { id: 'OverwriteRate' },
  ),
  (sent) => sent,
  describedRate,
);

const tiers = list(record({ size: optional(exact()), multiplier: exact({ min: '0' }) }), { max: TIERS_MAX });

/** The fields that all forms share: all but dates and targets. */
const plain = {
  id: answered(id),
  entitled: optional(truth),
  type: optional(oneOf(OVERRIDE_TYPES)),
  multiplier: optional(exact({ min: '0' })),
  priority: optional(exact()),
  overwriteRate: optional(overwriteRate),
  tiers: sent(optional(tiers)),
  overrideTiers: answered(optionalMany(tiers, [])),
  tiersMode,
  isCommitSpecific: defaulted(truth, false),
  target: described('With is_commit_specific only. Default: LIST_RATE.', optional(rateTarget)),
};

const ofContract = {
  ...plain,
  createdAt: answered(instant),
  startingAt: hour,
  endingBefore: optional(end),
  productId: named(product, optional(product)),
  applicableProductTags: optionalMany(tags, []),
  specifiers: called(
    'override_specifiers',
    described(
      'Usage that matches any of them is covered.',
      optionalMany(list(specifier, { max: SPECIFIERS_MAX }), []),
    ),
  ),
};

/** v1 repeats the rate of an OVERWRITE in fields that older clients read. */
const repeatedRate = {
  rateType: answered(optional(rateFields.rateType)),
  price: answered(rateFields.price),
  rateTiers: answered(called('tiers', rateFields.tiers)),
  creditTypeId: answered(rateFields.creditTypeId),
  quantity: answered(rateFields.quantity),
  isProrated: answered(rateFields.isProrated),
};

export const override = {
  ...reshaped(
    record({ ...ofContract, ...repeatedRate }, { id: 'Override' }),
    (sent) => sent,
    (from: Override) => ({ ...rateView(from), ...overrideView(from) }),
  ),
  shownNames,
};

export const overrideV2 = {
  shownNames,
  ...reshaped(record(ofContract, { id: { answered: 'OverrideV2' } }), (sent) => sent, overrideView),
  input: override.input,
};

/** The names of its product and of its pricing unit. */
function shownNames({ productId, overwriteRate: stored }: Override, names: TermNames): string {
  const unit = stored?.creditTypeId ?? null;
  if (productId === null && unit === null) return '';
  return JSON.stringify([names.products.get(productId ?? ''), names.creditTypes.get(unit ?? '')?.name]);
}

/** An override with all data that answers show. */
function overrideView(from: Override) {
  const { tiers: overrideTiers, isCommitSpecific, target } = from;
  return {
    ...from,
    overrideTiers,
    tiersMode: from.tiersMode ?? null,
    target: isCommitSpecific ? target : null,
  };
}

function rateView({ overwriteRate: stored }: Override) {
  const rate = stored === null ? { ...NO_RATE, rateType: null } : describedRate(stored);
  return { ...rate, rateTiers: rate.tiers };
}

/** Ids refer to other templates of the same package. */
const specifierTemplate = record(
  {
    ...specifierFields,
    commitIds: { ...specifierFields.commitIds, answeredAs: 'commit_template_ids' },
    recurringCommitIds: { ...balanceIds, answeredAs: 'recurring_commit_template_ids' },
    anyCommitOrCreditIds: { ...balanceIds, answeredAs: 'any_commit_or_credit_template_ids' },
  },
  { id: { sent: 'OverrideSpecifierInput', answered: 'OverrideSpecifierTemplate' } },
);

export const overrideTemplate = record(
  {
    ...plain,
    ...range,
    specifiers: called('override_specifiers', list(specifierTemplate, { max: SPECIFIERS_MAX })),
  },
  { id: 'OverrideTemplate' },
);

/** A template with all data that answers show. */
export function overrideTemplateView(from: OverrideTemplate) {
  const { tiers: overrideTiers, tiersMode: mode = null, isCommitSpecific, target } = from;
  return { ...from, overrideTiers, tiersMode: mode, target: isCommitSpecific ? target : null };
}
