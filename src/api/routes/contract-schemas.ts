/** How contracts look on the wire. */
import { z } from 'zod';
import type { CreateContractInput } from '../../billing/contracts/create-contract.ts';
import { statementAnchor } from '../../billing/contracts/statement-anchor.ts';
import { invalid } from '../../core/errors.ts';
import { formatInstant } from '../../core/time.ts';
import type { Contract } from '../../store/contracts.ts';
import { customFields, enumIn, hourAlignedTimestamp, timestamp, uuid, wholeNumber } from '../fields.ts';

const FREQUENCIES = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'] as const;
const STATEMENT_DAYS = ['FIRST_OF_MONTH', 'CONTRACT_START', 'CUSTOM_DATE'] as const;

/** A hundred years: beyond it a due date is a typing error. */
const PAYMENT_TERMS_DAYS_MAX = 36_500;

/** Parts of a contract that change what is billed and are not built: refused, never dropped. */
const UNSUPPORTED = [
  'package_id',
  'package_alias',
  'commits',
  'credits',
  'recurring_commits',
  'recurring_credits',
  'multiplier_override_prioritization',
  'overrides',
  'discounts',
  'professional_services',
  'reseller_royalties',
  'scheduled_charges',
  'scheduled_charges_on_usage_invoices',
  'transition',
  'usage_filter',
  'billing_provider_configuration',
  'revenue_system_configuration',
  'spend_threshold_configuration',
  'prepaid_balance_threshold_configuration',
  'spend_trackers',
  'subscriptions',
  'hierarchy_configuration',
] as const;

const unsupportedFields = z.object(
  Object.fromEntries(UNSUPPORTED.map((name) => [name, z.unknown().optional()])),
);

const usageStatementScheduleInput = z
  .object({
    frequency: enumIn(FREQUENCIES),
    day: enumIn(STATEMENT_DAYS).nullish().meta({ description: 'Default: FIRST_OF_MONTH.' }),
    billing_anchor_date: hourAlignedTimestamp
      .nullish()
      .meta({ description: 'With day CUSTOM_DATE, and only then. May lie before the contract.' }),
    invoice_generation_starting_at: z.unknown().optional(),
  })
  .meta({ id: 'UsageStatementScheduleInput' });

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
    starting_at: hourAlignedTimestamp,
    ending_before: hourAlignedTimestamp.nullish(),
    usage_statement_schedule: usageStatementScheduleInput
      .nullish()
      .meta({ description: 'Default: MONTHLY on the first of the month.' }),
    net_payment_terms_days: wholeNumber(0, PAYMENT_TERMS_DAYS_MAX).nullish(),
    uniqueness_key: z.string().min(1).max(128).nullish(),
    custom_fields: customFields.optional(),
    ...unsupportedFields.shape,
  })
  .meta({ id: 'CreateContract' });

const none = z.array(z.unknown()).max(0);

const contractState = z
  .object({
    name: z.string().optional(),
    rate_card_id: uuid.optional(),
    starting_at: timestamp,
    ending_before: timestamp.optional(),
    net_payment_terms_days: z.int().optional(),
    usage_statement_schedule: z.object({
      frequency: z.enum(FREQUENCIES),
      billing_anchor_date: timestamp.meta({ description: 'A boundary of the billing periods.' }),
    }),
    commits: none,
    credits: none,
    overrides: none,
    scheduled_charges: none,
    transitions: none,
    created_at: timestamp,
    created_by: z.string(),
  })
  .meta({ id: 'ContractState' });

export const contractSchema = z
  .object({
    id: uuid,
    customer_id: uuid,
    uniqueness_key: z.string().optional(),
    archived_at: timestamp.optional(),
    initial: contractState,
    current: contractState,
    amendments: none,
    custom_fields: customFields,
  })
  .meta({ id: 'Contract' });

export function contractFromWire(
  body: z.output<typeof createContractBody>,
  createdBy: string,
): CreateContractInput {
  refuseUnsupported(body);
  const schedule = body.usage_statement_schedule;
  return {
    customerId: body.customer_id,
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
    netPaymentTermsDays: body.net_payment_terms_days ?? null,
    uniquenessKey: body.uniqueness_key ?? null,
    customFields: body.custom_fields ?? {},
    createdBy,
  };
}

/** An empty list asks for nothing and may stand. */
function refuseUnsupported(body: z.output<typeof createContractBody>): void {
  const isGiven = (value: unknown) => value != null && !(Array.isArray(value) && value.length === 0);
  for (const name of UNSUPPORTED) {
    if (isGiven(Object.entries(body).find(([key]) => key === name)?.[1])) {
      throw invalid(name, 'is not supported yet');
    }
  }
  if (isGiven(body.usage_statement_schedule?.invoice_generation_starting_at)) {
    throw invalid('usage_statement_schedule.invoice_generation_starting_at', 'is not supported yet');
  }
}

export function contractToWire(from: Contract): z.input<typeof contractSchema> {
  const state = stateToWire(from);
  return {
    id: from.id,
    customer_id: from.customerId,
    ...(from.uniquenessKey === null ? {} : { uniqueness_key: from.uniquenessKey }),
    ...(from.archivedAt === null ? {} : { archived_at: formatInstant(from.archivedAt) }),
    initial: state,
    current: state,
    amendments: [],
    custom_fields: {},
  };
}

function stateToWire(from: Contract): z.input<typeof contractState> {
  return {
    ...(from.name === null ? {} : { name: from.name }),
    ...(from.rateCardId === null ? {} : { rate_card_id: from.rateCardId }),
    starting_at: formatInstant(from.startingAt),
    ...(from.endingBefore === null ? {} : { ending_before: formatInstant(from.endingBefore) }),
    ...(from.netPaymentTermsDays === null ? {} : { net_payment_terms_days: from.netPaymentTermsDays }),
    usage_statement_schedule: {
      frequency: from.statementSchedule.frequency,
      billing_anchor_date: formatInstant(statementAnchor(from)),
    },
    commits: [],
    credits: [],
    overrides: [],
    scheduled_charges: [],
    transitions: [],
    created_at: formatInstant(from.createdAt),
    created_by: from.createdBy,
  };
}
