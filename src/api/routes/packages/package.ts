/** Packages on the wire, in requests and in answers. */
import { z } from 'zod';
import type { CreatePackageInput } from '../../../billing/packages/create-package.ts';
import type { PackageView } from '../../../billing/packages/packages.ts';
import { customFieldsOf } from '../../../core/custom-fields.ts';
import { answered, defaulted, described, kind, list, noted, optional, sent } from '../../wire/description.ts';
import { anyText, end, hour, id, instant, oneOf, text } from '../../wire/kinds.ts';
import { beside, record } from '../../wire/record.ts';
import { packageTerms } from '../../wire/terms/contract-terms.ts';
import { overrideTemplateView } from '../../wire/terms/overrides.ts';
import { duration, offset } from '../../wire/terms/relative-dates.ts';
import {
  billingProvider,
  deliveryMethod,
  multiplierPrioritization,
  onUsageInvoices,
  paymentTermsDays,
  STATEMENT_FREQUENCIES,
  spendLimit,
  uniquenessKey,
} from '../contracts/input.ts';

const ALIASES_MAX = 100;

const alias = record({ name: text, startingAt: optional(hour), endingBefore: optional(end) });

const statementSchedule = record({
  frequency: oneOf(STATEMENT_FREQUENCIES),
  day: described(
    'Default: FIRST_OF_MONTH.',
    defaulted(oneOf(['FIRST_OF_MONTH', 'CONTRACT_START']), 'FIRST_OF_MONTH'),
  ),
  invoiceGenerationStartingAtOffset: optional(offset),
});

const header = {
  contractName: described('Default: the name of the package.', optional(text)),
  netPaymentTermsDays: paymentTermsDays,
  spendLimit: optional(spendLimit),
  rateCardId: optional(id),
  rateCardAlias: described('Resolved to a rate card when the contract starts.', optional(text)),
  duration: described('Left out: contracts have no end.', optional(duration)),
  multiplierPrioritization,
  scheduledChargesOnUsageInvoices: onUsageInvoices,
  statementSchedule: described(
    'Default: MONTHLY on the first of the month.',
    defaulted(statementSchedule, {
      frequency: 'MONTHLY',
      day: 'FIRST_OF_MONTH',
      invoiceGenerationStartingAtOffset: null,
    }),
  ),
  billingProvider: optional(billingProvider),
  deliveryMethod: optional(deliveryMethod),
};

const fields = {
  id: answered(id),
  name: text,
  uniquenessKey,
  aliases: noted(
    'Effective times: an alias ends when another package takes it over.',
    described(
      'An alias belongs to one package at a time; the latest assignment wins.',
      defaulted(list(alias, { max: ALIASES_MAX }), []),
    ),
  ),
  billingAnchorDate: sent(
    described(
      'Where the billing periods of contracts are counted from: their start, or the first of a month. Another way ' +
        'to write the day of usage_statement_schedule.',
      optional(kind(z.enum(['contract_start_date', 'first_billing_period']), z.string())),
    ),
  ),
  header: beside(header),
  terms: beside(packageTerms),
  createdAt: answered(instant),
  createdBy: answered(anyText),
  archivedAt: answered(optional(instant)),
};

const packageRecord = record(fields, { id: { sent: 'CreatePackage', answered: 'Package' } });

export const packageOutput = packageRecord.output;

export const createPackageBody = packageRecord.input.strict.superRefine(
  ({ header, billingAnchorDate }, context) => {
    if (billingAnchorDate === 'first_billing_period' && header.statementSchedule.day === 'CONTRACT_START') {
      const message = 'contradicts usage_statement_schedule.day CONTRACT_START';
      context.addIssue({ code: 'custom', path: ['billing_anchor_date'], message });
    }
    const { billingProvider: provider, deliveryMethod: method } = header;
    if ((provider === null) === (method === null)) return;
    const [path, other] =
      provider === null ? ['billing_provider', 'delivery_method'] : ['delivery_method', 'billing_provider'];
    context.addIssue({ code: 'custom', path: [path], message: `is required with ${other}` });
  },
);

const DAY_OF_ANCHOR = {
  contract_start_date: 'CONTRACT_START',
  first_billing_period: 'FIRST_OF_MONTH',
} as const;

export function packageFromWire(
  { header, billingAnchorDate, ...body }: z.output<typeof createPackageBody>,
  createdBy: string,
): CreatePackageInput {
  const { billingProvider: provider, deliveryMethod: method, statementSchedule: schedule, ...rest } = header;
  const billing = provider === null || method === null ? null : { provider, deliveryMethod: method };
  const day = billingAnchorDate === null ? schedule.day : DAY_OF_ANCHOR[billingAnchorDate];
  return { ...body, header: { ...rest, statementSchedule: { ...schedule, day }, billing }, createdBy };
}

export function packageToWire(view: PackageView) {
  const { package: from, aliases } = view;
  const { billing } = from.header;
  const header = {
    ...from.header,
    billingProvider: billing?.provider ?? null,
    deliveryMethod: billing?.deliveryMethod ?? null,
  };
  return packageRecord.write(
    { ...from, aliases, header, terms: termsView(view) },
    { ...view, invoiceIds: new Map() },
  );
}

function termsView({ package: { terms }, customFields, fiatCreditTypeId }: PackageView) {
  const withFields = <Template extends { readonly id: string }>(one: Template) => ({
    ...one,
    customFields: customFieldsOf(customFields, one.id),
  });
  return {
    ...terms,
    commits: terms.commits.map(withFields),
    credits: terms.credits.map(withFields),
    overrides: terms.overrides.map(overrideTemplateView),
    scheduledCharges: terms.scheduledCharges.map(withFields),
    subscriptions: terms.subscriptions.map((one) => ({ ...withFields(one), fiatCreditTypeId })),
  };
}
