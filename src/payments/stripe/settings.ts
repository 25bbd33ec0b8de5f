/** How invoices of a customer are delivered to Stripe: the settings of its configuration, by their public names. */
import { z } from 'zod';
import { COLLECTION_METHODS } from '../../core/billing-providers.ts';
import { INVOICE_LAYOUTS } from '../lines/readable-lines.ts';

const EFFECTIVE_DATES = ['finalized_at', 'issued_at', 'period_end'] as const;

function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

const truth = z.boolean({ error: 'must be true or false' });

/** Members of a configuration that affect deliveries; others are stored without effect. */
export const stripeOptions = z.object({
  leave_stripe_invoices_in_draft: truth.optional(),
  automatic_tax: truth.optional(),
  invoice_layout: oneOf(INVOICE_LAYOUTS).optional(),
  skip_zero_dollar_invoices: truth.optional(),
  skip_invoices_below_minimum: truth.optional(),
  effective_at: oneOf(EFFECTIVE_DATES).optional(),
  use_invoice_number: truth.optional(),
});

const configuration = stripeOptions.extend({
  stripe_customer_id: z.string().optional(),
  vendor_customer_id: z.string().optional(),
  stripe_collection_method: z.enum(COLLECTION_METHODS).optional(),
  vendor_collection_method: z.enum(COLLECTION_METHODS).optional(),
});

export interface StripeSettings {
  /** Null: the configuration names none. */
  readonly customerId: string | null;
  readonly collectionMethod: (typeof COLLECTION_METHODS)[number];
  readonly leaveInDraft: boolean;
  readonly automaticTax: boolean;
  readonly layout: (typeof INVOICE_LAYOUTS)[number];
  readonly skipsZero: boolean;
  readonly skipsBelowMinimum: boolean;
  readonly effectiveAt: (typeof EFFECTIVE_DATES)[number];
  /** Whether Stripe's invoice has our number. */
  readonly usesNumber: boolean;
}

/** `leavesInDraft`: the default for customers whose configuration does not set it. */
export function readStripeSettings(
  stored: Readonly<Record<string, unknown>>,
  leavesInDraft: boolean,
): StripeSettings {
  // Settings stored before they were validated may have any form: each is parsed separately.
  const read = (name: keyof typeof configuration.shape) =>
    configuration.shape[name].safeParse(stored[name]).data;
  const options = configuration
    .partial()
    .parse(
      Object.fromEntries(
        Object.keys(configuration.shape).map((name) => [
          name,
          read(name as keyof typeof configuration.shape),
        ]),
      ),
    );
  return {
    customerId: options.stripe_customer_id ?? options.vendor_customer_id ?? null,
    collectionMethod:
      options.stripe_collection_method ?? options.vendor_collection_method ?? 'charge_automatically',
    leaveInDraft: options.leave_stripe_invoices_in_draft ?? leavesInDraft,
    automaticTax: options.automatic_tax ?? false,
    layout: options.invoice_layout ?? 'net',
    skipsZero: options.skip_zero_dollar_invoices ?? true,
    skipsBelowMinimum: options.skip_invoices_below_minimum ?? false,
    effectiveAt: options.effective_at ?? 'finalized_at',
    usesNumber: options.use_invoice_number ?? false,
  };
}
