/**
 * Where the money of a credit note goes in Stripe, in its unit. Stripe itself credits the unpaid amount first; the rest
 * follows the settlement of the note. Pure.
 */
import { ProviderProblem } from '../provider.ts';

interface UnsettledNote {
  /** The settlement of our note. */
  readonly planned: { readonly offset: bigint; readonly refund: bigint; readonly creditBalance: bigint };
  /** The total of the note as Stripe computes it. */
  readonly total: bigint;
  readonly invoice: {
    /** Not paid yet. */
    readonly remaining: bigint;
    /** Charged by Stripe, without what was refunded. */
    readonly charged: bigint;
    /** Paid outside of Stripe. */
    readonly paidElsewhere: bigint;
  };
}

/** Amounts of 0 are absent. */
export interface StripeSettlement {
  readonly refund_amount?: number;
  readonly credit_amount?: number;
  readonly out_of_band_amount?: number;
}

/**
 * The three add up to what Stripe does not deduct from the amount due. A customer who has paid since the note was issued
 * has the offset as balance there, and so has one whose payment was taken from that balance. Refuses a credit here for
 * an amount that is unpaid there: the customer would have it twice.
 */
export function settleNote({ planned, total, invoice }: UnsettledNote): StripeSettlement {
  const { remaining, charged, paidElsewhere } = invoice;
  const post = total > remaining ? total - remaining : 0n;
  // The tax that Stripe computes may differ from ours by its rounding.
  const difference = total - planned.offset - planned.refund - planned.creditBalance;
  const creditHere = planned.creditBalance === 0n ? 0n : planned.creditBalance + difference;
  if (creditHere > post) {
    throw new ProviderProblem(
      'refused',
      'Stripe: the amount is unpaid there, and the customer has the credit here: void the note, and issue it with ' +
        'offset_unpaid',
      { code: 'unpaid_there' },
    );
  }
  const given = post - creditHere;
  const toRefund = planned.refund === 0n ? 0n : least(given, planned.refund + difference);
  const refund = least(toRefund, charged);
  const elsewhere = least(toRefund - refund, paidElsewhere);
  const toBalance = given - refund - elsewhere;
  const outOfBand = creditHere + elsewhere;
  return {
    ...(refund === 0n ? {} : { refund_amount: Number(refund) }),
    ...(toBalance === 0n ? {} : { credit_amount: Number(toBalance) }),
    ...(outOfBand === 0n ? {} : { out_of_band_amount: Number(outOfBand) }),
  };
}

function least(a: bigint, b: bigint): bigint {
  const smaller = a < b ? a : b;
  return smaller > 0n ? smaller : 0n;
}
