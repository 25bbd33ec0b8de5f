/** Valid terms of each kind, for tests that make one field invalid. */
import { USD_CENTS } from '../../src/core/credit-types.ts';
import type { TermsCatalogue } from './contract-terms.ts';

export type Body = Record<string, unknown>;

export const UNKNOWN = '00000000-0000-4000-8000-000000000000';
export const START = '2026-10-01T00:00:00Z';
export const END = '2027-10-01T00:00:00Z';

export const segment = { amount: 100, starting_at: START, ending_before: END };

/** The catalogue is read when a term is created, so that it may be filled in later. */
export function termFixtures(ids: TermsCatalogue) {
  function commit(change: Body = {}): Body {
    return {
      type: 'PREPAID',
      product_id: ids.fee,
      access_schedule: { schedule_items: [segment] },
      ...change,
    };
  }

  function postpaid(change: Body = {}): Body {
    const invoice_schedule = { schedule_items: [{ timestamp: END, amount: 100 }] };
    return commit({ type: 'POSTPAID', invoice_schedule, ...change });
  }

  function recurring(change: Body = {}): Body {
    return {
      product_id: ids.fee,
      access_amount: { unit_price: 1, quantity: 1, credit_type_id: USD_CENTS.id },
      priority: 1,
      starting_at: START,
      commit_duration: { value: 1 },
      ...change,
    };
  }

  function multiplier(change: Body = {}): Body {
    return { starting_at: START, type: 'MULTIPLIER', multiplier: 0.5, ...change };
  }

  function overwrite(change: Body = {}): Body {
    const overwrite_rate = { rate_type: 'FLAT', price: 1 };
    return { starting_at: START, type: 'OVERWRITE', overwrite_rate, product_id: ids.tokens, ...change };
  }

  function subscription(change: Body = {}): Body {
    return {
      subscription_rate: { product_id: ids.seats, billing_frequency: 'MONTHLY' },
      collection_schedule: 'ADVANCE',
      proration: {},
      initial_quantity: 1,
      ...change,
    };
  }

  function charge(schedule: Body, change: Body = {}): Body {
    return { product_id: ids.fee, schedule, ...change };
  }

  function repeating(change: Body = {}): Body {
    return {
      recurring_schedule: {
        starting_at: START,
        ending_before: END,
        frequency: 'MONTHLY',
        amount_distribution: 'EACH',
        amount: 1,
        ...change,
      },
    };
  }

  function prepaidThreshold(change: Body = {}): Body {
    return {
      is_enabled: true,
      threshold_amount: 500,
      recharge_to_amount: 1_500,
      commit: { product_id: ids.fee },
      payment_gate_config: { payment_gate_type: 'NONE' },
      ...change,
    };
  }

  function spendThreshold(change: Body = {}): Body {
    return {
      is_enabled: true,
      threshold_amount: 500,
      commit: { product_id: ids.fee },
      payment_gate_config: { payment_gate_type: 'NONE' },
      ...change,
    };
  }

  function tracker(alias: string): Body {
    return {
      alias,
      credit_type_id: USD_CENTS.id,
      reset_frequency: 'BILLING_PERIOD',
      applicable_spend_specifiers: [{ spend_type: 'COMMIT_PURCHASE', sources: ['MANUAL'] }],
    };
  }

  return {
    commit,
    postpaid,
    recurring,
    multiplier,
    overwrite,
    subscription,
    charge,
    repeating,
    prepaidThreshold,
    spendThreshold,
    tracker,
  };
}
