/** Recurring commits and credits on the wire. A plain field that all forms share is declared in `plain`. */
import { z } from 'zod';
import { COMMIT_PRORATIONS, RECURRENCE_FREQUENCIES } from '../../../core/terms/recurring-commits.ts';
import {
  answered,
  called,
  decided,
  defaulted,
  described,
  kind,
  optional,
  patched,
  patchOf,
  sent,
} from '../description.ts';
import { enumIn, uuid } from '../fields.ts';
import { anyText, end, exact, hour, id, oneOf, product, reference, text, truth, whole } from '../kinds.ts';
import { beside, insideIfAny, readAs, record, reshaped, within } from '../record.ts';
import { range } from './relative-dates.ts';
import { applicability, fraction, hierarchyAccess, priority, rateTarget, rounding } from './scope.ts';

/** A century of days. */
const DURATION_PERIODS_MAX = 36_525;

const subscriptionFields = {
  subscriptionId: described('The id or temporary_id of the subscription.', kind(z.string().min(1), uuid)),
  allocation: described('Default: POOLED.', defaulted(oneOf(['POOLED', 'INDIVIDUAL']), 'POOLED')),
  prorateSeatIncreases: called('apply_seat_increase_config', within('is_prorated', truth)),
};

/** The subscription that sets the quantity of a recurring term. */
export const subscriptionConfig = record(subscriptionFields);

const price = exact({ min: '0' });

const invoiceAmount = record({ unitPrice: price, quantity: price, creditTypeId: id });

/** A number of billing periods, the only unit. */
const commitDuration = reshaped(
  record({
    value: whole(1, DURATION_PERIODS_MAX),
    unit: defaulted(kind(enumIn(['PERIODS']), z.literal('PERIODS')), 'PERIODS'),
  }),
  ({ value }) => value,
  (value: number) => ({ value, unit: 'PERIODS' as const }),
);

/** The plain fields that all forms but the patch share. */
const plain = {
  id: answered(id),
  name: optional(text),
  description: optional(anyText),
  productId: product,
  accessAmount: record({
    unitPrice: price,
    quantity: described('Required without subscription_config, not allowed with it.', optional(price)),
    creditTypeId: id,
  }),
  priority,
  rateType: decided(rateTarget),
  rolloverFraction: optional(fraction),
  applicability: beside(applicability),
  commitDurationPeriods: called('commit_duration', commitDuration),
  recurrenceFrequency: described(
    'Left out: the periods of the usage invoices.',
    optional(oneOf(RECURRENCE_FREQUENCIES)),
  ),
  proration: described('Default: FIRST_AND_LAST.', decided(oneOf(COMMIT_PRORATIONS))),
  temporaryId: sent(optional(text)),
};

const accessRounding = called('access', optional(rounding));
const invoiceRounding = called('invoice', optional(rounding));
const prorationRounding = insideIfAny({ accessRounding, invoiceRounding });

const creditFields = { ...plain, prorationRounding };
const commitFields = { ...creditFields, invoiceAmount: optional(invoiceAmount) };

/** Fields of terms of contracts, which templates do not have. */
const ofContract = {
  contractId: answered(called('contract', reference)),
  startingAt: hour,
  endingBefore: optional(end),
  hierarchyAccess: optional(hierarchyAccess),
  subscription: optional(subscriptionConfig),
};

const OF_COMMITS = { kind: 'COMMIT' } as const;
const OF_CREDITS = { kind: 'CREDIT', invoiceAmount: null } as const;

export const recurringCommit = readAs(
  record({ ...commitFields, ...ofContract }, { id: 'RecurringCommit' }),
  (sent) => ({ ...sent, ...OF_COMMITS }),
);

export const recurringCredit = readAs(
  record({ ...creditFields, ...ofContract }, { id: 'RecurringCredit' }),
  (sent) => ({ ...sent, ...OF_CREDITS }),
);

/** Fields of templates, which refer to other templates of the package. */
const ofPackage = {
  ...range,
  subscription: optional(
    record({
      ...subscriptionFields,
      subscriptionId: { ...subscriptionFields.subscriptionId, answeredAs: 'subscription_template_id' },
    }),
  ),
};

export const recurringCommitTemplate = readAs(
  record(
    {
      ...commitFields,
      ...ofPackage,
      invoiceAmount: described('Left out: the commits cost nothing.', commitFields.invoiceAmount),
    },
    { id: 'RecurringCommitTemplate' },
  ),
  (sent) => ({ ...sent, ...OF_COMMITS }),
);

export const recurringCreditTemplate = readAs(
  record(
    {
      ...creditFields,
      ...ofPackage,
      prorationRounding: { ...prorationRounding, input: insideIfAny({ accessRounding }).input },
    },
    { id: 'RecurringCreditTemplate' },
  ),
  (sent) => ({ ...sent, ...OF_CREDITS, invoiceRounding: null }),
);

const amountPatch = record(patched({ unitPrice: price, quantity: price }));

/** Applies to commits created from now on. */
const patchFields = {
  accessAmount: patchOf(amountPatch),
  endingBefore: described('Null if it runs until the contract ends.', patchOf(optional(end))),
  rateType: described('For grants created from now on.', patchOf(rateTarget)),
};

const roundingsPatch = patched({ access: optional(rounding), invoice: optional(rounding) });

export const recurringCommitPatch = record(
  {
    id: { ...id, sentAs: 'recurring_commit_id' },
    ...patchFields,
    ...patched({ invoiceAmount: amountPatch, prorationRounding: optional(record(roundingsPatch)) }),
  },
  { id: { sent: 'UpdateRecurringCommitInput', answered: 'RecurringCommitUpdate' } },
);

/** Shown in answers like the patch of a recurring commit. */
export const recurringCreditPatch = {
  ...recurringCommitPatch,
  input: record(
    {
      id: { ...id, sentAs: 'recurring_credit_id' },
      ...patchFields,
      ...patched({ prorationRounding: optional(record({ access: roundingsPatch.access })) }),
    },
    { id: { sent: 'UpdateRecurringCreditInput' } },
  ).input,
};
