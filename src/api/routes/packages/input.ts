/** What a client sends to create a package. */
import { z } from 'zod';
import type { CreatePackageInput } from '../../../billing/packages/create-package.ts';
import type { RelativeTerms } from '../../../billing/packages/relative-terms.ts';
import { CONTRACT_BILLING_PROVIDERS, DELIVERY_METHODS } from '../../../core/billing-providers.ts';
import { MULTIPLIER_PRIORITIZATIONS } from '../../../core/terms/overrides.ts';
import type { HeaderTemplate } from '../../../core/terms/packages.ts';
import { strictBody } from '../../http/strict-body.ts';
import { enumIn, hourAlignedTimestamp, uuid } from '../../wire/fields.ts';
import { duration, offset } from '../../wire/terms/relative-schemas.ts';
import {
  prepaidBalanceThresholdFromWire,
  prepaidBalanceThresholdInput,
  spendThresholdFromWire,
  spendThresholdInput,
  spendTrackerFromWire,
  spendTrackerInput,
} from '../../wire/terms/threshold-schemas.ts';
import { paymentTermsDays, STATEMENT_FREQUENCIES, uniquenessKey } from '../contracts/input.ts';
import {
  commitTemplateFromWire,
  commitTemplateInput,
  creditTemplateFromWire,
  creditTemplateInput,
  overrideTemplateFromWire,
  overrideTemplateInput,
  recurringCommitTemplateFromWire,
  recurringCommitTemplateInput,
  recurringCreditTemplateFromWire,
  recurringCreditTemplateInput,
  scheduledChargeTemplateFromWire,
  scheduledChargeTemplateInput,
  subscriptionTemplateFromWire,
  subscriptionTemplateInput,
} from './template-inputs.ts';

/** As many as a contract can have in one call. */
const TERMS_MAX = 1_000;
const OVERRIDES_MAX = 5_000;
const ALIASES_MAX = 100;

function listOf<Item extends z.ZodType>(item: Item, max = TERMS_MAX) {
  return z.array(item).max(max).nullish();
}

const alias = z.object({
  name: z.string().min(1),
  starting_at: hourAlignedTimestamp.nullish(),
  ending_before: hourAlignedTimestamp.nullish(),
});

const fields = z
  .object({
    name: z.string().min(1),
    contract_name: z.string().min(1).nullish().meta({ description: 'Default: the name of the package.' }),
    uniqueness_key: uniquenessKey.nullish(),
    net_payment_terms_days: paymentTermsDays.nullish(),
    rate_card_id: uuid.nullish(),
    rate_card_alias: z
      .string()
      .min(1)
      .nullish()
      .meta({ description: 'The card that the alias means where the contract starts.' }),
    aliases: listOf(alias, ALIASES_MAX).meta({
      description: 'An alias has one holder at a time; the package that got it last takes it over.',
    }),
    duration: duration.nullish().meta({ description: 'Left out: contracts have no end.' }),
    commits: listOf(commitTemplateInput),
    credits: listOf(creditTemplateInput),
    recurring_commits: listOf(recurringCommitTemplateInput),
    recurring_credits: listOf(recurringCreditTemplateInput),
    multiplier_override_prioritization: enumIn(MULTIPLIER_PRIORITIZATIONS)
      .nullish()
      .meta({ description: 'Default: LOWEST_MULTIPLIER. TIERED overrides need EXPLICIT.' }),
    overrides: listOf(overrideTemplateInput, OVERRIDES_MAX),
    scheduled_charges: listOf(scheduledChargeTemplateInput),
    scheduled_charges_on_usage_invoices: enumIn(['ALL']).nullish(),
    usage_statement_schedule: z
      .object({
        frequency: enumIn(STATEMENT_FREQUENCIES),
        day: enumIn(['FIRST_OF_MONTH', 'CONTRACT_START'])
          .nullish()
          .meta({ description: 'Default: FIRST_OF_MONTH.' }),
        invoice_generation_starting_at_offset: offset.nullish(),
      })
      .nullish()
      .meta({ description: 'Default: MONTHLY on the first of the month.' }),
    billing_provider: z.enum(CONTRACT_BILLING_PROVIDERS).nullish(),
    delivery_method: z.enum(DELIVERY_METHODS).nullish(),
    spend_threshold_configuration: spendThresholdInput.nullish(),
    prepaid_balance_threshold_configuration: prepaidBalanceThresholdInput.nullish(),
    spend_trackers: listOf(spendTrackerInput),
    subscriptions: listOf(subscriptionTemplateInput),
  })
  .superRefine(({ billing_provider: provider, delivery_method: method }, context) => {
    if ((provider == null) === (method == null)) return;
    const [path, other] =
      provider == null ? ['billing_provider', 'delivery_method'] : ['delivery_method', 'billing_provider'];
    context.addIssue({ code: 'custom', path: [path], message: `is required with ${other}` });
  })
  .meta({ id: 'CreatePackage' });

export const createPackageBody = strictBody(fields);

type Body = z.output<typeof fields>;

export function packageFromWire(body: Body, createdBy: string): CreatePackageInput {
  return {
    name: body.name,
    uniquenessKey: body.uniqueness_key ?? null,
    aliases: (body.aliases ?? []).map((one) => ({
      name: one.name,
      startingAt: one.starting_at ?? null,
      endingBefore: one.ending_before ?? null,
    })),
    header: headerFromWire(body),
    terms: termsFromWire(body),
    createdBy,
  };
}

function headerFromWire(body: Body): HeaderTemplate {
  const { usage_statement_schedule: schedule, billing_provider: provider, delivery_method: method } = body;
  return {
    contractName: body.contract_name ?? null,
    netPaymentTermsDays: body.net_payment_terms_days ?? null,
    rateCardId: body.rate_card_id ?? null,
    rateCardAlias: body.rate_card_alias ?? null,
    duration: body.duration ?? null,
    multiplierPrioritization: body.multiplier_override_prioritization ?? 'LOWEST_MULTIPLIER',
    scheduledChargesOnUsageInvoices: body.scheduled_charges_on_usage_invoices != null,
    statementSchedule: {
      frequency: schedule?.frequency ?? 'MONTHLY',
      day: schedule?.day ?? 'FIRST_OF_MONTH',
      invoiceGenerationStartingAtOffset: schedule?.invoice_generation_starting_at_offset ?? null,
    },
    billing: provider == null || method == null ? null : { provider, deliveryMethod: method },
  };
}

function termsFromWire(body: Body): RelativeTerms {
  const { spend_threshold_configuration: spend, prepaid_balance_threshold_configuration: prepaid } = body;
  return {
    commits: (body.commits ?? []).map(commitTemplateFromWire),
    credits: (body.credits ?? []).map(creditTemplateFromWire),
    recurringCommits: (body.recurring_commits ?? []).map(recurringCommitTemplateFromWire),
    recurringCredits: (body.recurring_credits ?? []).map(recurringCreditTemplateFromWire),
    overrides: (body.overrides ?? []).map(overrideTemplateFromWire),
    scheduledCharges: (body.scheduled_charges ?? []).map(scheduledChargeTemplateFromWire),
    subscriptions: (body.subscriptions ?? []).map(subscriptionTemplateFromWire),
    spendTrackers: (body.spend_trackers ?? []).map(spendTrackerFromWire),
    spendThreshold: spend == null ? null : spendThresholdFromWire(spend),
    prepaidBalanceThreshold: prepaid == null ? null : prepaidBalanceThresholdFromWire(prepaid),
  };
}
