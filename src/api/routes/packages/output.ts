/** How a package looks in answers. */
import { z } from 'zod';
import type { PackageView } from '../../../billing/packages/packages.ts';
import { CONTRACT_BILLING_PROVIDERS, DELIVERY_METHODS } from '../../../core/billing-providers.ts';
import { MULTIPLIER_PRIORITIZATIONS } from '../../../core/terms/overrides.ts';
import { formatInstant } from '../../../core/time.ts';
import { timestamp, uuid } from '../../wire/fields.ts';
import { relativeDateOutput, relativeDateToWire } from '../../wire/terms/relative-schemas.ts';
import { given } from '../../wire/terms/term-fields.ts';
import {
  prepaidBalanceThresholdOutput,
  prepaidBalanceThresholdToWire,
  spendThresholdOutput,
  spendThresholdToWire,
  spendTrackerOutput,
  spendTrackerToWire,
} from '../../wire/terms/threshold-schemas.ts';
import { STATEMENT_FREQUENCIES } from '../contracts/input.ts';
import {
  commitTemplateOutput,
  commitTemplateToWire,
  creditTemplateOutput,
  creditTemplateToWire,
  overrideTemplateOutput,
  overrideTemplateToWire,
  recurringCommitTemplateOutput,
  recurringCreditTemplateOutput,
  recurringTemplateToWire,
  scheduledChargeTemplateOutput,
  scheduledChargeTemplateToWire,
  subscriptionTemplateOutput,
  subscriptionTemplateToWire,
} from './template-outputs.ts';

export const packageOutput = z
  .object({
    id: uuid,
    name: z.string(),
    contract_name: z.string().optional(),
    uniqueness_key: z.string().optional(),
    rate_card_id: uuid.optional(),
    rate_card_alias: z.string().optional(),
    aliases: z
      .array(
        z.object({
          name: z.string(),
          starting_at: timestamp.optional(),
          ending_before: timestamp.optional(),
        }),
      )
      .meta({ description: 'As they hold: one that another package took over ends there.' }),
    duration: relativeDateOutput.optional(),
    net_payment_terms_days: z.int().optional(),
    usage_statement_schedule: z.object({
      frequency: z.enum(STATEMENT_FREQUENCIES),
      day: z.enum(['FIRST_OF_MONTH', 'CONTRACT_START']),
      invoice_generation_starting_at_offset: relativeDateOutput.optional(),
    }),
    multiplier_override_prioritization: z.enum(MULTIPLIER_PRIORITIZATIONS),
    scheduled_charges_on_usage_invoices: z.literal('ALL').optional(),
    billing_provider: z.enum(CONTRACT_BILLING_PROVIDERS).optional(),
    delivery_method: z.enum(DELIVERY_METHODS).optional(),
    commits: z.array(commitTemplateOutput),
    credits: z.array(creditTemplateOutput),
    recurring_commits: z.array(recurringCommitTemplateOutput),
    recurring_credits: z.array(recurringCreditTemplateOutput),
    overrides: z.array(overrideTemplateOutput),
    scheduled_charges: z.array(scheduledChargeTemplateOutput),
    subscriptions: z.array(subscriptionTemplateOutput),
    spend_trackers: z.array(spendTrackerOutput),
    spend_threshold_configuration: spendThresholdOutput.optional(),
    prepaid_balance_threshold_configuration: prepaidBalanceThresholdOutput.optional(),
    created_at: timestamp,
    created_by: z.string(),
    archived_at: timestamp.optional(),
  })
  .meta({ id: 'Package' });

type PackageWire = z.input<typeof packageOutput>;

export function packageToWire(view: PackageView): PackageWire {
  const { id, name, uniquenessKey, createdAt, createdBy, archivedAt } = view.package;
  return {
    id,
    name,
    ...given('uniqueness_key', uniquenessKey),
    aliases: view.aliases.map((alias) => ({
      name: alias.name,
      ...given('starting_at', alias.startingAt === null ? null : formatInstant(alias.startingAt)),
      ...given('ending_before', alias.endingBefore === null ? null : formatInstant(alias.endingBefore)),
    })),
    ...headerToWire(view),
    ...termsToWire(view),
    created_at: formatInstant(createdAt),
    created_by: createdBy,
    ...given('archived_at', archivedAt === null ? null : formatInstant(archivedAt)),
  };
}

function headerToWire({ package: { header } }: PackageView) {
  const { statementSchedule: schedule, duration } = header;
  const from = schedule.invoiceGenerationStartingAtOffset;
  return {
    ...given('contract_name', header.contractName),
    ...given('rate_card_id', header.rateCardId),
    ...given('rate_card_alias', header.rateCardAlias),
    ...given('duration', duration === null ? null : relativeDateToWire(duration)),
    ...given('net_payment_terms_days', header.netPaymentTermsDays),
    usage_statement_schedule: {
      frequency: schedule.frequency,
      day: schedule.day,
      ...given('invoice_generation_starting_at_offset', from === null ? null : relativeDateToWire(from)),
    },
    multiplier_override_prioritization: header.multiplierPrioritization,
    ...(header.scheduledChargesOnUsageInvoices
      ? ({ scheduled_charges_on_usage_invoices: 'ALL' } as const)
      : {}),
    ...given('billing_provider', header.billing?.provider),
    ...given('delivery_method', header.billing?.deliveryMethod),
  };
}

function termsToWire(view: PackageView) {
  const { terms } = view.package;
  const { spendThreshold: spend, prepaidBalanceThreshold: prepaid } = terms;
  return {
    commits: terms.commits.map((one) => commitTemplateToWire(one, view)),
    credits: terms.credits.map((one) => creditTemplateToWire(one, view)),
    recurring_commits: terms.recurringCommits.map((one) => recurringTemplateToWire(one, view)),
    recurring_credits: terms.recurringCredits.map((one) => recurringTemplateToWire(one, view)),
    overrides: terms.overrides.map((one) => overrideTemplateToWire(one, view)),
    scheduled_charges: terms.scheduledCharges.map((one) => scheduledChargeTemplateToWire(one, view)),
    subscriptions: terms.subscriptions.map((one) => subscriptionTemplateToWire(one, view)),
    spend_trackers: terms.spendTrackers.map(spendTrackerToWire),
    ...given('spend_threshold_configuration', spend === null ? null : spendThresholdToWire(spend)),
    ...given(
      'prepaid_balance_threshold_configuration',
      prepaid === null ? null : prepaidBalanceThresholdToWire(prepaid),
    ),
  };
}
