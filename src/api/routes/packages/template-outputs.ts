/**
 * How the term templates of a package look in answers: as the terms that they become, with relative dates
 * in place of absolute ones, and without what only a contract gives a term.
 */
import { z } from 'zod';
import type { PackageView } from '../../../billing/packages/packages.ts';
import { BILLING_FREQUENCIES } from '../../../core/catalogue.ts';
import { customFieldsOf } from '../../../core/custom-fields.ts';
import type {
  CommitTemplate,
  OverrideTemplate,
  RecurringCommitTemplate,
  ScheduledChargeTemplate,
  SubscriptionTemplate,
} from '../../../core/terms/packages.ts';
import {
  COLLECTION_SCHEDULES,
  INVOICE_PLACEMENTS,
  QUANTITY_MODES,
} from '../../../core/terms/subscriptions.ts';
import { customFields, exactValue, uuid } from '../../wire/fields.ts';
import { overrideOutputV2, overrideToWireV2 } from '../../wire/terms/override-schemas.ts';
import {
  recurringCommitOutput,
  recurringCommitToWire,
  recurringCreditOutput,
} from '../../wire/terms/recurring-commit-schemas.ts';
import {
  rangeOutput,
  rangeToWire,
  relativeAccessScheduleOutput,
  relativeAccessScheduleToWire,
  relativeCommitInvoiceScheduleOutput,
  relativeDateOutput,
  relativeDateToWire,
  relativeInvoiceScheduleOutput,
  relativeInvoiceScheduleToWire,
} from '../../wire/terms/relative-schemas.ts';
import { subscriptionOutput } from '../../wire/terms/subscription-schemas.ts';
import {
  applicabilityOutput,
  applicabilityToWire,
  given,
  namedProduct,
  productToWire,
  roundingToWire,
} from '../../wire/terms/term-fields.ts';

const balanceOutput = {
  id: uuid,
  name: z.string().optional(),
  description: z.string().optional(),
  product: namedProduct,
  priority: exactValue,
  rate_type: z.enum(['LIST_RATE', 'COMMIT_RATE']),
  access_schedule: relativeAccessScheduleOutput,
  ...applicabilityOutput,
  custom_fields: customFields,
};

export const creditTemplateOutput = z.object(balanceOutput).meta({ id: 'CreditTemplate' });

export const commitTemplateOutput = z
  .object({
    ...balanceOutput,
    type: z.enum(['PREPAID', 'POSTPAID']),
    invoice_schedule: relativeCommitInvoiceScheduleOutput.optional(),
    rollover_fraction: exactValue.optional(),
  })
  .meta({ id: 'CommitTemplate' });

const ofContract = { contract: true, starting_at: true, ending_before: true } as const;

const subscriptionConfigOutput = recurringCreditOutput.shape.subscription_config
  .unwrap()
  .omit({ subscription_id: true })
  .extend({ subscription_template_id: uuid })
  .optional();

export const recurringCreditTemplateOutput = recurringCreditOutput
  .omit({ ...ofContract, hierarchy_configuration: true })
  .extend({ ...rangeOutput, subscription_config: subscriptionConfigOutput })
  .meta({ id: 'RecurringCreditTemplate' });

export const recurringCommitTemplateOutput = recurringCommitOutput
  .omit({ ...ofContract, hierarchy_configuration: true })
  .extend({ ...rangeOutput, subscription_config: subscriptionConfigOutput })
  .meta({ id: 'RecurringCommitTemplate' });

const templateIds = z.array(uuid).optional();

const overrideSpecifierTemplateOutput = overrideOutputV2.shape.override_specifiers
  .unwrap()
  .element.omit({ commit_ids: true, recurring_commit_ids: true, any_commit_or_credit_ids: true })
  .extend({
    commit_template_ids: templateIds,
    recurring_commit_template_ids: templateIds,
    any_commit_or_credit_template_ids: templateIds,
  })
  .meta({ id: 'OverrideSpecifierTemplate' });

export const overrideTemplateOutput = overrideOutputV2
  .omit({
    created_at: true,
    starting_at: true,
    ending_before: true,
    product: true,
    applicable_product_tags: true,
  })
  .extend({ ...rangeOutput, override_specifiers: z.array(overrideSpecifierTemplateOutput) })
  .meta({ id: 'OverrideTemplate' });

export const scheduledChargeTemplateOutput = z
  .object({
    id: uuid,
    product: namedProduct,
    name: z.string().optional(),
    schedule: relativeInvoiceScheduleOutput,
    custom_fields: customFields,
  })
  .meta({ id: 'ScheduledChargeTemplate' });

export const subscriptionTemplateOutput = z
  .object({
    id: uuid,
    subscription_rate: z.object({ billing_frequency: z.enum(BILLING_FREQUENCIES), product: namedProduct }),
    name: z.string().optional(),
    description: z.string().optional(),
    collection_schedule: z.enum(COLLECTION_SCHEDULES),
    proration: subscriptionOutput.shape.proration,
    initial_quantity: exactValue.optional(),
    quantity_management_mode: z.enum(QUANTITY_MODES),
    seat_config: z
      .object({ seat_group_key: z.string(), initial_unassigned_seats: z.int().optional() })
      .optional(),
    starting_at_offset: relativeDateOutput.optional(),
    duration: relativeDateOutput.optional(),
    fiat_credit_type_id: uuid.optional(),
    billing_cycle_config: z.object({ invoice_placement: z.enum(INVOICE_PLACEMENTS) }),
    custom_fields: customFields,
  })
  .meta({ id: 'SubscriptionTemplate' });

/** What the contract would add; nothing of it is shown. */
const NO_CONTRACT = { contractId: '', startingAt: 0, endingBefore: null, createdAt: 0, createdBy: '' };

export function creditTemplateToWire(
  from: CommitTemplate,
  names: PackageView,
): z.input<typeof creditTemplateOutput> {
  return {
    id: from.id,
    ...given('name', from.name),
    ...given('description', from.description),
    product: productToWire(from.productId, names),
    priority: from.priority,
    rate_type: from.rateType,
    access_schedule: relativeAccessScheduleToWire(from.accessSchedule, names),
    ...applicabilityToWire(from.applicability),
    custom_fields: customFieldsOf(names.customFields, from.id),
  };
}

export function commitTemplateToWire(
  from: CommitTemplate,
  names: PackageView,
): z.input<typeof commitTemplateOutput> {
  const { invoiceSchedule: schedule } = from;
  return {
    ...creditTemplateToWire(from, names),
    type: from.type === 'POSTPAID' ? 'POSTPAID' : 'PREPAID',
    ...given(
      'invoice_schedule',
      schedule === null
        ? null
        : { ...relativeInvoiceScheduleToWire(schedule, names), do_not_invoice: schedule.doNotInvoice },
    ),
    ...given('rollover_fraction', from.rolloverFraction),
  };
}

/** Of a recurring credit too: it has no invoice amount. */
export function recurringTemplateToWire(
  from: RecurringCommitTemplate,
  names: PackageView,
): z.input<typeof recurringCommitTemplateOutput> {
  const term = recurringCommitToWire({ ...from, ...NO_CONTRACT, hierarchyAccess: null }, names);
  const { contract: _, starting_at: __, subscription_config: config, ...rest } = term;
  return { ...rest, ...rangeToWire(from), ...given('subscription_config', subscriptionConfig(config)) };
}

function subscriptionConfig(config: z.input<typeof recurringCommitOutput>['subscription_config']) {
  if (config === undefined) return null;
  const { subscription_id: subscription_template_id, ...rest } = config;
  return { ...rest, subscription_template_id };
}

export function overrideTemplateToWire(
  from: OverrideTemplate,
  names: PackageView,
): z.input<typeof overrideTemplateOutput> {
  const targets = { productId: null, applicableProductTags: [] };
  const term = overrideToWireV2({ ...from, ...NO_CONTRACT, ...targets }, names);
  const { created_at: _, starting_at: __, override_specifiers: specifiers = [], ...rest } = term;
  return { ...rest, ...rangeToWire(from), override_specifiers: specifiers.map(specifierTemplate) };
}

function specifierTemplate(
  specifier: NonNullable<z.input<typeof overrideOutputV2>['override_specifiers']>[number],
) {
  const { commit_ids, recurring_commit_ids, any_commit_or_credit_ids, ...rest } = specifier;
  return {
    ...rest,
    ...given('commit_template_ids', commit_ids),
    ...given('recurring_commit_template_ids', recurring_commit_ids),
    ...given('any_commit_or_credit_template_ids', any_commit_or_credit_ids),
  };
}

export function scheduledChargeTemplateToWire(
  from: ScheduledChargeTemplate,
  names: PackageView,
): z.input<typeof scheduledChargeTemplateOutput> {
  return {
    id: from.id,
    product: productToWire(from.productId, names),
    ...given('name', from.name),
    schedule: relativeInvoiceScheduleToWire(from.schedule, names),
    custom_fields: customFieldsOf(names.customFields, from.id),
  };
}

export function subscriptionTemplateToWire(
  from: SubscriptionTemplate,
  view: PackageView,
): z.input<typeof subscriptionTemplateOutput> {
  const { seatConfig: seats, startingAtOffset: offset, duration, prorationRounding: rounding } = from;
  return {
    id: from.id,
    subscription_rate: {
      billing_frequency: from.billingFrequency,
      product: productToWire(from.productId, view),
    },
    ...given('name', from.name),
    ...given('description', from.description),
    collection_schedule: from.collectionSchedule,
    proration: {
      is_prorated: from.isProrated,
      invoice_behavior: from.invoiceBehavior,
      ...given('rounding', rounding === null ? null : roundingToWire(rounding)),
    },
    ...given('initial_quantity', from.initialQuantity),
    quantity_management_mode: from.quantityManagementMode,
    ...given(
      'seat_config',
      seats === null
        ? null
        : {
            seat_group_key: seats.seatGroupKey,
            ...given('initial_unassigned_seats', seats.initialUnassignedSeats),
          },
    ),
    ...given('starting_at_offset', offset === null ? null : relativeDateToWire(offset)),
    ...given('duration', duration === null ? null : relativeDateToWire(duration)),
    ...given('fiat_credit_type_id', view.fiatCreditTypeId),
    billing_cycle_config: { invoice_placement: from.invoicePlacement },
    custom_fields: customFieldsOf(view.customFields, from.id),
  };
}
