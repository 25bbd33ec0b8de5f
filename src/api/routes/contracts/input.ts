/** What a client sends to create a contract. */
import { z } from 'zod';
import type { CreateContractInput } from '../../../billing/contracts/create-contract.ts';
import type { TermsInput } from '../../../billing/contracts/terms/build-terms.ts';
import { CONTRACT_BILLING_PROVIDERS, DELIVERY_METHODS } from '../../../core/billing-providers.ts';
import { invalid } from '../../../core/errors.ts';
import type { HierarchyInput, TransitionInput } from '../../../core/terms/contract.ts';
import { MULTIPLIER_PRIORITIZATIONS } from '../../../core/terms/overrides.ts';
import { customFields, enumIn, hourAlignedTimestamp, uuid, wholeNumber } from '../../wire/fields.ts';
import { commitFromWire, commitInput, creditFromWire, creditInput } from '../../wire/terms/commit-schemas.ts';
import { overrideFromWire, overrideInput } from '../../wire/terms/override-schemas.ts';
import {
  recurringCommitFromWire,
  recurringCommitInput,
  recurringCreditFromWire,
  recurringCreditInput,
} from '../../wire/terms/recurring-commit-schemas.ts';
import { scheduledChargeFromWire, scheduledChargeInput } from '../../wire/terms/scheduled-charge-schemas.ts';
import { subscriptionFromWire, subscriptionInput } from '../../wire/terms/subscription-schemas.ts';
import {
  prepaidBalanceThresholdFromWire,
  prepaidBalanceThresholdInput,
  spendThresholdFromWire,
  spendThresholdInput,
  spendTrackerFromWire,
  spendTrackerInput,
} from '../../wire/terms/threshold-schemas.ts';

export const STATEMENT_FREQUENCIES = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'] as const;
const STATEMENT_DAYS = ['FIRST_OF_MONTH', 'CONTRACT_START', 'CUSTOM_DATE'] as const;

/** A hundred years: beyond it a due date is a typing error. */
const PAYMENT_TERMS_DAYS_MAX = 36_500;

/** Far above any contract; keeps one call's transaction within seconds. */
const TERMS_MAX = 1_000;
const OVERRIDES_MAX = 5_000;

export const uniquenessKey = z.string().min(1).max(128);
export const paymentTermsDays = wholeNumber(0, PAYMENT_TERMS_DAYS_MAX);

/** Parts of a contract that change what is billed and do not exist here: refused, never dropped. */
const UNSUPPORTED = [
  'discounts',
  'professional_services',
  'reseller_royalties',
  'revenue_system_configuration',
] as const;

const unsupportedFields = z.object(
  Object.fromEntries(UNSUPPORTED.map((name) => [name, z.unknown().optional()])),
);

const usageStatementScheduleInput = z
  .object({
    frequency: enumIn(STATEMENT_FREQUENCIES),
    day: enumIn(STATEMENT_DAYS).nullish().meta({ description: 'Default: FIRST_OF_MONTH.' }),
    billing_anchor_date: hourAlignedTimestamp
      .nullish()
      .meta({ description: 'With day CUSTOM_DATE, and only then. May lie before the contract.' }),
    invoice_generation_starting_at: hourAlignedTimestamp
      .nullish()
      .meta({ description: 'Usage invoices of periods that start earlier are not made.' }),
  })
  .meta({ id: 'UsageStatementScheduleInput' });

export const usageFilterFields = {
  group_key: z.string().min(1),
  group_values: z.array(z.string()).min(1).max(TERMS_MAX),
};

const hierarchyInput = z
  .object({
    parent: z.object({ contract_id: uuid, customer_id: uuid }).nullish(),
    payer: enumIn(['SELF', 'PARENT']).nullish(),
    usage_statement_behavior: enumIn(['CONSOLIDATE', 'SEPARATE']).nullish(),
    parent_behavior: z
      .object({ invoice_consolidation_type: enumIn(['CONCATENATE', 'NONE']).nullish() })
      .nullish(),
  })
  .meta({ id: 'ContractHierarchyConfigurationInput' });

export const transitionInput = z
  .object({
    type: enumIn(['RENEWAL', 'SUPERSEDE']).meta({
      description: 'SUPERSEDE is a RENEWAL that rolls nothing over.',
    }),
    from_contract_id: uuid,
    future_invoice_behavior: z
      .object({ trueup: enumIn(['REMOVE', 'AS_IS']).nullish().meta({ description: 'Default: AS_IS.' }) })
      .nullish(),
  })
  .meta({ id: 'ContractTransitionInput' });

const billingConfigurationLookup = z
  .object({
    billing_provider_configuration_id: uuid.nullish(),
    billing_provider: z.enum(CONTRACT_BILLING_PROVIDERS).nullish(),
    delivery_method: z.enum(DELIVERY_METHODS).nullish(),
  })
  .meta({ id: 'BillingProviderConfigurationLookup' });

function listOf<Item extends z.ZodType>(item: Item, max = TERMS_MAX) {
  return z.array(item).max(max).nullish();
}

export const createContractBody = z
  .object({
    customer_id: uuid,
    name: z.string().nullish(),
    rate_card_id: uuid.nullish(),
    rate_card_alias: z
      .string()
      .min(1)
      .nullish()
      .meta({ description: 'The card that the alias means at starting_at; the contract keeps that card.' }),
    package_id: uuid.nullish().meta({
      description:
        'Beside it, or package_alias, stand customer_id, starting_at, uniqueness_key, transition and custom_fields only.',
    }),
    package_alias: z
      .string()
      .min(1)
      .nullish()
      .meta({ description: 'The package that the alias means at starting_at.' }),
    starting_at: hourAlignedTimestamp,
    ending_before: hourAlignedTimestamp.nullish(),
    usage_statement_schedule: usageStatementScheduleInput
      .nullish()
      .meta({ description: 'Default: MONTHLY on the first of the month.' }),
    net_payment_terms_days: paymentTermsDays.nullish(),
    uniqueness_key: uniquenessKey.nullish(),
    custom_fields: customFields.nullish(),
    commits: listOf(commitInput),
    credits: listOf(creditInput),
    recurring_commits: listOf(recurringCommitInput),
    recurring_credits: listOf(recurringCreditInput),
    multiplier_override_prioritization: enumIn(MULTIPLIER_PRIORITIZATIONS)
      .nullish()
      .meta({ description: 'Default: LOWEST_MULTIPLIER. TIERED overrides need EXPLICIT.' }),
    overrides: listOf(overrideInput, OVERRIDES_MAX),
    scheduled_charges: listOf(scheduledChargeInput),
    scheduled_charges_on_usage_invoices: enumIn(['ALL']).nullish(),
    transition: transitionInput.nullish(),
    usage_filter: z.object({ ...usageFilterFields, starting_at: hourAlignedTimestamp.nullish() }).nullish(),
    billing_provider_configuration: billingConfigurationLookup.nullish(),
    spend_threshold_configuration: spendThresholdInput.nullish(),
    prepaid_balance_threshold_configuration: prepaidBalanceThresholdInput.nullish(),
    spend_trackers: listOf(spendTrackerInput),
    subscriptions: listOf(subscriptionInput),
    hierarchy_configuration: hierarchyInput.nullish(),
    ...unsupportedFields.shape,
  })
  .meta({ id: 'CreateContract' });

type CreateContractBody = z.output<typeof createContractBody>;

/** Terms that are written out, as opposed to those of a package. */
export function contractFromWire(body: CreateContractBody, createdBy: string): CreateContractInput {
  refuseUnsupported(body);
  const schedule = body.usage_statement_schedule;
  const filter = body.usage_filter;
  return {
    customerId: body.customer_id,
    packageId: null,
    name: body.name ?? null,
    rateCardId: body.rate_card_id ?? null,
    rateCardAlias: body.rate_card_alias ?? null,
    startingAt: body.starting_at,
    endingBefore: body.ending_before ?? null,
    statementSchedule: {
      frequency: schedule?.frequency ?? 'MONTHLY',
      day: schedule?.day ?? 'FIRST_OF_MONTH',
      anchor: schedule?.billing_anchor_date ?? null,
    },
    invoiceGenerationStartingAt: schedule?.invoice_generation_starting_at ?? null,
    netPaymentTermsDays: body.net_payment_terms_days ?? null,
    multiplierPrioritization: body.multiplier_override_prioritization ?? 'LOWEST_MULTIPLIER',
    scheduledChargesOnUsageInvoices: body.scheduled_charges_on_usage_invoices != null,
    billingConfiguration: lookupFromWire(body.billing_provider_configuration),
    hierarchy: hierarchyFromWire(body.hierarchy_configuration),
    transition: body.transition == null ? null : transitionFromWire(body.transition),
    usageFilter:
      filter == null
        ? null
        : {
            groupKey: filter.group_key,
            groupValues: filter.group_values,
            startingAt: filter.starting_at ?? null,
          },
    terms: termsFromWire(body),
    uniquenessKey: body.uniqueness_key ?? null,
    customFields: body.custom_fields ?? {},
    createdBy,
  };
}

function termsFromWire(body: CreateContractBody): TermsInput {
  const { spend_threshold_configuration: spend, prepaid_balance_threshold_configuration: prepaid } = body;
  return {
    commits: (body.commits ?? []).map(commitFromWire),
    credits: (body.credits ?? []).map(creditFromWire),
    recurringCommits: (body.recurring_commits ?? []).map(recurringCommitFromWire),
    recurringCredits: (body.recurring_credits ?? []).map(recurringCreditFromWire),
    overrides: (body.overrides ?? []).map(overrideFromWire),
    scheduledCharges: (body.scheduled_charges ?? []).map(scheduledChargeFromWire),
    subscriptions: (body.subscriptions ?? []).map(subscriptionFromWire),
    spendTrackers: (body.spend_trackers ?? []).map(spendTrackerFromWire),
    spendThreshold: spend == null ? null : spendThresholdFromWire(spend),
    prepaidBalanceThreshold: prepaid == null ? null : prepaidBalanceThresholdFromWire(prepaid),
  };
}

/** An empty list asks for nothing and may stand. */
function refuseUnsupported(body: CreateContractBody): void {
  const isGiven = (value: unknown) => value != null && !(Array.isArray(value) && value.length === 0);
  for (const name of UNSUPPORTED) {
    if (isGiven(Object.entries(body).find(([key]) => key === name)?.[1])) {
      throw invalid([name], 'is not supported');
    }
  }
}

function lookupFromWire(wire: z.output<typeof billingConfigurationLookup> | null | undefined) {
  if (wire == null) return null;
  return {
    id: wire.billing_provider_configuration_id ?? null,
    billingProvider: wire.billing_provider ?? null,
    deliveryMethod: wire.delivery_method ?? null,
  };
}

function hierarchyFromWire(wire: z.output<typeof hierarchyInput> | null | undefined): HierarchyInput | null {
  if (wire == null) return null;
  return {
    parent:
      wire.parent == null
        ? null
        : { contractId: wire.parent.contract_id, customerId: wire.parent.customer_id },
    payer: wire.payer ?? null,
    usageStatementBehavior: wire.usage_statement_behavior ?? null,
    invoiceConsolidationType: wire.parent_behavior?.invoice_consolidation_type ?? null,
  };
}

export function transitionFromWire(wire: z.output<typeof transitionInput>): TransitionInput {
  return {
    fromContractId: wire.from_contract_id,
    rollsOver: wire.type === 'RENEWAL',
    trueup: wire.future_invoice_behavior?.trueup ?? 'AS_IS',
  };
}
