/** How recurring commits and recurring credits look on the wire. */
import { z } from 'zod';
import {
  COMMIT_PRORATIONS,
  RECURRENCE_FREQUENCIES,
  type RecurringCommit,
  type RecurringCommitInput,
} from '../../../core/terms/recurring-commits.ts';
import { formatInstant } from '../../../core/time.ts';
import {
  enumIn,
  exactNumber,
  exactValue,
  hourAlignedTimestamp,
  timestamp,
  uuid,
  wholeNumber,
} from '../fields.ts';
import {
  applicabilityFromWire,
  applicabilityInput,
  applicabilityOutput,
  applicabilityToWire,
  fraction,
  given,
  hierarchyAccessFromWire,
  hierarchyAccessInput,
  hierarchyAccessOutput,
  hierarchyAccessToWire,
  namedProduct,
  priority,
  productToWire,
  rateTarget,
  roundingFromWire,
  roundingInput,
  roundingOutput,
  roundingToWire,
  type TermNames,
} from './term-fields.ts';

/** A century of days. */
const DURATION_PERIODS_MAX = 36_525;

const invoiceAmountInput = z.object({
  unit_price: exactNumber({ min: '0' }),
  quantity: exactNumber({ min: '0' }),
  credit_type_id: uuid,
});

/** What is known before the dates are: packages have these fields too, with relative dates. */
export const recurringTermInput = {
  name: z.string().min(1).nullish(),
  description: z.string().nullish(),
  product_id: uuid,
  access_amount: z.object({
    unit_price: exactNumber({ min: '0' }),
    quantity: exactNumber({ min: '0' })
      .nullish()
      .meta({ description: 'Required without subscription_config, not allowed with it.' }),
    credit_type_id: uuid,
  }),
  priority,
  rate_type: rateTarget.nullish(),
  rollover_fraction: fraction.nullish(),
  ...applicabilityInput,
  commit_duration: z.object({
    value: wholeNumber(1, DURATION_PERIODS_MAX),
    unit: enumIn(['PERIODS']).nullish(),
  }),
  recurrence_frequency: enumIn(RECURRENCE_FREQUENCIES)
    .nullish()
    .meta({ description: 'Left out: the periods of the usage invoices.' }),
  proration: enumIn(COMMIT_PRORATIONS).nullish().meta({ description: 'Default: FIRST_AND_LAST.' }),
  subscription_config: z
    .object({
      subscription_id: z.string().min(1).meta({ description: 'Its id, or its temporary_id.' }),
      allocation: enumIn(['POOLED', 'INDIVIDUAL']).nullish().meta({ description: 'Default: POOLED.' }),
      apply_seat_increase_config: z.object({ is_prorated: z.boolean() }),
    })
    .nullish(),
  hierarchy_configuration: hierarchyAccessInput.nullish(),
  proration_rounding: z
    .object({ access: roundingInput.nullish(), invoice: roundingInput.nullish() })
    .nullish(),
  temporary_id: z.string().min(1).nullish(),
};

const dates = { starting_at: hourAlignedTimestamp, ending_before: hourAlignedTimestamp.nullish() };

export const recurringCommitInput = z
  .object({ ...recurringTermInput, ...dates, invoice_amount: invoiceAmountInput.nullish() })
  .meta({ id: 'RecurringCommitInput' });

export const recurringCreditInput = z
  .object({ ...recurringTermInput, ...dates })
  .meta({ id: 'RecurringCreditInput' });

const amountOutput = { unit_price: exactValue, credit_type_id: uuid };

export const recurringCreditOutput = z
  .object({
    id: uuid,
    contract: z.object({ id: uuid }),
    name: z.string().optional(),
    description: z.string().optional(),
    product: namedProduct,
    access_amount: z.object({ ...amountOutput, quantity: exactValue.optional() }),
    priority: exactValue,
    rate_type: z.enum(['LIST_RATE', 'COMMIT_RATE']),
    rollover_fraction: exactValue.optional(),
    ...applicabilityOutput,
    starting_at: timestamp,
    ending_before: timestamp.optional(),
    commit_duration: z.object({ value: z.int(), unit: z.literal('PERIODS') }),
    recurrence_frequency: z.enum(RECURRENCE_FREQUENCIES).optional(),
    proration: z.enum(COMMIT_PRORATIONS),
    subscription_config: z
      .object({
        subscription_id: uuid,
        allocation: z.enum(['POOLED', 'INDIVIDUAL']),
        apply_seat_increase_config: z.object({ is_prorated: z.boolean() }),
      })
      .optional(),
    hierarchy_configuration: hierarchyAccessOutput.optional(),
    proration_rounding: z
      .object({ access: roundingOutput.optional(), invoice: roundingOutput.optional() })
      .optional(),
  })
  .meta({ id: 'RecurringCredit' });

export const recurringCommitOutput = z
  .object({
    ...recurringCreditOutput.shape,
    invoice_amount: z.object({ ...amountOutput, quantity: exactValue }).optional(),
  })
  .meta({ id: 'RecurringCommit' });

export function recurringCommitFromWire(wire: z.output<typeof recurringCommitInput>): RecurringCommitInput {
  const amount = wire.invoice_amount;
  return {
    ...recurringTermFromWire(wire),
    kind: 'COMMIT',
    startingAt: wire.starting_at,
    endingBefore: wire.ending_before ?? null,
    invoiceAmount:
      amount == null
        ? null
        : { unitPrice: amount.unit_price, quantity: amount.quantity, creditTypeId: amount.credit_type_id },
  };
}

export function recurringCreditFromWire(wire: z.output<typeof recurringCreditInput>): RecurringCommitInput {
  return {
    ...recurringTermFromWire(wire),
    kind: 'CREDIT',
    startingAt: wire.starting_at,
    endingBefore: wire.ending_before ?? null,
    invoiceAmount: null,
  };
}

/** Everything but the dates and what is invoiced. */
export function recurringTermFromWire(wire: z.output<z.ZodObject<typeof recurringTermInput>>) {
  const { access_amount: access, subscription_config: subscription } = wire;
  return {
    name: wire.name ?? null,
    description: wire.description ?? null,
    productId: wire.product_id,
    accessAmount: {
      unitPrice: access.unit_price,
      quantity: access.quantity ?? null,
      creditTypeId: access.credit_type_id,
    },
    priority: wire.priority,
    rateType: wire.rate_type ?? null,
    rolloverFraction: wire.rollover_fraction ?? null,
    applicability: applicabilityFromWire(wire),
    commitDurationPeriods: wire.commit_duration.value,
    recurrenceFrequency: wire.recurrence_frequency ?? null,
    proration: wire.proration ?? null,
    subscription:
      subscription == null
        ? null
        : {
            subscriptionId: subscription.subscription_id,
            allocation: subscription.allocation ?? 'POOLED',
            prorateSeatIncreases: subscription.apply_seat_increase_config.is_prorated,
          },
    hierarchyAccess: hierarchyAccessFromWire(wire.hierarchy_configuration),
    accessRounding: roundingFromWire(wire.proration_rounding?.access),
    invoiceRounding: roundingFromWire(wire.proration_rounding?.invoice),
    temporaryId: wire.temporary_id ?? null,
  };
}

export function recurringCommitToWire(
  from: RecurringCommit,
  names: TermNames,
): z.input<typeof recurringCommitOutput> {
  const { accessAmount: access, invoiceAmount: invoice } = from;
  return {
    id: from.id,
    contract: { id: from.contractId },
    ...given('name', from.name),
    ...given('description', from.description),
    product: productToWire(from.productId, names),
    access_amount: {
      unit_price: access.unitPrice,
      ...given('quantity', access.quantity),
      credit_type_id: access.creditTypeId,
    },
    ...given(
      'invoice_amount',
      invoice === null
        ? null
        : { unit_price: invoice.unitPrice, quantity: invoice.quantity, credit_type_id: invoice.creditTypeId },
    ),
    priority: from.priority,
    rate_type: from.rateType,
    ...given('rollover_fraction', from.rolloverFraction),
    ...applicabilityToWire(from.applicability),
    starting_at: formatInstant(from.startingAt),
    ...given('ending_before', from.endingBefore === null ? null : formatInstant(from.endingBefore)),
    commit_duration: { value: from.commitDurationPeriods, unit: 'PERIODS' },
    ...given('recurrence_frequency', from.recurrenceFrequency),
    proration: from.proration,
    ...given('subscription_config', subscriptionConfigToWire(from.subscription)),
    ...given(
      'hierarchy_configuration',
      from.hierarchyAccess === null ? null : hierarchyAccessToWire(from.hierarchyAccess),
    ),
    ...given('proration_rounding', roundingsToWire(from)),
  };
}

export function subscriptionConfigToWire(from: RecurringCommit['subscription']) {
  if (from === null) return null;
  return {
    subscription_id: from.subscriptionId,
    allocation: from.allocation,
    apply_seat_increase_config: { is_prorated: from.prorateSeatIncreases },
  };
}

function roundingsToWire({ accessRounding, invoiceRounding }: RecurringCommit) {
  if (accessRounding === null && invoiceRounding === null) return null;
  return {
    ...given('access', accessRounding === null ? null : roundingToWire(accessRounding)),
    ...given('invoice', invoiceRounding === null ? null : roundingToWire(invoiceRounding)),
  };
}
