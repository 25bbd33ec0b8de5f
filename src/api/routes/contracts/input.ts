/** The body of a request that creates a contract. */
import { z } from 'zod';
import type { CreateContractInput } from '../../../billing/contracts/create-contract.ts';
import { CONTRACT_BILLING_PROVIDERS, DELIVERY_METHODS } from '../../../core/billing-providers.ts';
import { fiatCreditType } from '../../../core/credit-types.ts';
import type { HierarchyInput, TransitionInput } from '../../../core/terms/contract.ts';
import { MULTIPLIER_PRIORITIZATIONS } from '../../../core/terms/overrides.ts';
import {
  called,
  defaulted,
  described,
  type Field,
  kind,
  list,
  named,
  optional,
} from '../../wire/description.ts';
import { creditType, enumIn, uuid, wholeNumber } from '../../wire/fields.ts';
import { anyText, customFields, end, exact, hour, id, oneOf, text } from '../../wire/kinds.ts';
import { beside, readAs, record, type SentOf } from '../../wire/record.ts';
import { contractTerms, TERMS_MAX } from '../../wire/terms/contract-terms.ts';

export const STATEMENT_FREQUENCIES = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'ANNUAL'] as const;
const STATEMENT_DAYS = ['FIRST_OF_MONTH', 'CONTRACT_START', 'CUSTOM_DATE'] as const;

/** A hundred years: more is a typing error. */
const PAYMENT_TERMS_DAYS_MAX = 36_500;

export const uniquenessKey = optional(kind(z.string().min(1).max(128), z.string()));
export const paymentTermsDays = optional(kind(wholeNumber(0, PAYMENT_TERMS_DAYS_MAX), z.int()));

/** Named without a look at the database. */
const currency = {
  ...kind(uuid, creditType, (creditTypeId: string) => ({
    id: creditTypeId,
    name: fiatCreditType(creditTypeId)?.name ?? '',
  })),
  answeredAs: 'credit_type',
};

export const spendLimit = record(
  {
    amount: described(
      'The limit of one billing period. 0 allows no usage without a balance.',
      exact({ min: '0' }),
    ),
    creditTypeId: named(
      currency,
      described('The currency of the rate card, which is the default.', optional(currency)),
    ),
  },
  {
    id: 'SpendLimit',
    description:
      'The most that usage beyond balances may charge in a billing period: holds that would exceed it are refused. Without a limit they ' +
      'are granted, and usage is billed afterwards.',
  },
);

export const multiplierPrioritization = described(
  'Default: LOWEST_MULTIPLIER. TIERED overrides need EXPLICIT.',
  defaulted(oneOf(MULTIPLIER_PRIORITIZATIONS), 'LOWEST_MULTIPLIER'),
);

/** Whether scheduled charges are billed on usage invoices: ALL, or absent. */
export const onUsageInvoices: Field<boolean> = kind(
  enumIn(['ALL'])
    .nullish()
    .transform((all) => all != null),
  z.literal('ALL').optional(),
  (all: boolean) => (all ? 'ALL' : undefined),
);

/** Providers and methods have the same names as in the operations of billing providers. */
export const billingProvider = kind(z.enum(CONTRACT_BILLING_PROVIDERS), z.enum(CONTRACT_BILLING_PROVIDERS));
export const deliveryMethod = kind(z.enum(DELIVERY_METHODS), z.enum(DELIVERY_METHODS));

const statementSchedule = record(
  {
    frequency: oneOf(STATEMENT_FREQUENCIES),
    day: described('Default: FIRST_OF_MONTH.', defaulted(oneOf(STATEMENT_DAYS), 'FIRST_OF_MONTH')),
    anchor: described(
      'Required with day CUSTOM_DATE, not allowed otherwise. May be before the start of the contract.',
      optional(hour),
    ),
    invoiceGenerationStartingAt: described(
      'Usage is invoiced from this time; the first invoice may begin within a billing period.',
      optional(hour),
    ),
  },
  { place: 'statementSchedule', id: { sent: 'UsageStatementScheduleInput' } },
);

const MONTHLY: SentOf<{ statementSchedule: typeof statementSchedule }>['statementSchedule'] = {
  frequency: 'MONTHLY',
  day: 'FIRST_OF_MONTH',
  anchor: null,
  invoiceGenerationStartingAt: null,
};

export const usageFilterFields = {
  groupKey: text,
  groupValues: list(anyText, { min: 1, max: TERMS_MAX }),
};

const hierarchy = readAs(
  record(
    {
      parent: optional(record({ contractId: id, customerId: id })),
      payer: optional(oneOf(['SELF', 'PARENT'])),
      usageStatementBehavior: optional(oneOf(['CONSOLIDATE', 'SEPARATE'])),
      parentBehavior: optional(
        record({ invoiceConsolidationType: optional(oneOf(['CONCATENATE', 'NONE'])) }),
      ),
    },
    { id: { sent: 'ContractHierarchyConfigurationInput' } },
  ),
  ({ parentBehavior, ...rest }): HierarchyInput => ({
    ...rest,
    invoiceConsolidationType: parentBehavior?.invoiceConsolidationType ?? null,
  }),
);

const transition = readAs(
  record(
    {
      type: described('SUPERSEDE is a RENEWAL that rolls nothing over.', oneOf(['RENEWAL', 'SUPERSEDE'])),
      fromContractId: id,
      futureInvoiceBehavior: optional(
        record({ trueup: described('Default: AS_IS.', defaulted(oneOf(['REMOVE', 'AS_IS']), 'AS_IS')) }),
      ),
    },
    { id: { sent: 'ContractTransitionInput' } },
  ),
  ({ type, fromContractId, futureInvoiceBehavior }): TransitionInput => ({
    fromContractId,
    rollsOver: type === 'RENEWAL',
    trueup: futureInvoiceBehavior?.trueup ?? 'AS_IS',
  }),
);

export const billingConfigurationLookup = {
  id: called('billing_provider_configuration_id', optional(id)),
  billingProvider: optional(billingProvider),
  deliveryMethod: optional(deliveryMethod),
};

/** Members that may be combined with a package. */
export const besidePackage = {
  customerId: id,
  startingAt: hour,
  packageId: described(
    'With package_id or package_alias, only customer_id, starting_at, uniqueness_key, transition and custom_fields are allowed.',
    optional(id),
  ),
  packageAlias: described('Resolved to a package at starting_at.', optional(text)),
  uniquenessKey,
  transition: optional(transition),
  customFields,
};

/** Unsupported members that would change the billed amounts are refused, never dropped. */
export const createContract = record(
  {
    ...besidePackage,
    name: optional(anyText),
    rateCardId: optional(id),
    rateCardAlias: described(
      'Resolved to a rate card at starting_at; the contract keeps that card.',
      optional(text),
    ),
    endingBefore: optional(end),
    statementSchedule: described('Default: MONTHLY on the first of the month.', optional(statementSchedule)),
    netPaymentTermsDays: paymentTermsDays,
    spendLimit: optional(spendLimit),
    terms: beside(contractTerms),
    multiplierPrioritization,
    scheduledChargesOnUsageInvoices: onUsageInvoices,
    usageFilter: optional(record({ ...usageFilterFields, startingAt: optional(hour) })),
    billingConfiguration: optional(
      record(billingConfigurationLookup, { id: { sent: 'BillingProviderConfigurationLookup' } }),
    ),
    hierarchy: optional(hierarchy),
  },
  { id: { sent: 'CreateContract' } },
);

/** A contract with explicit terms, as opposed to one created from a package. */
export function contractFromWire(
  { packageAlias: _, statementSchedule: schedule, ...body }: z.output<typeof createContract.input.tolerant>,
  createdBy: string,
): CreateContractInput {
  const { invoiceGenerationStartingAt, ...statement } = schedule ?? MONTHLY;
  return { ...body, packageId: null, statementSchedule: statement, invoiceGenerationStartingAt, createdBy };
}
