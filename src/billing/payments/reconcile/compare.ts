/**
 * The differences between an invoice here and its copy at a provider (docs/how-to/reconciliation.md, "Providers").
 * Pure.
 */
import type { Decimal } from '../../../core/decimal.ts';
import type { ExternalInvoice, ExternalStatus } from '../../../core/external-invoice.ts';

export const PROVIDER_DIFFERENCE_CODES = [
  'not_delivered',
  'missing_there',
  'voided_here',
  'voided_there',
  'status',
  'amount',
  'extra_there',
] as const;

export interface ProviderDifference {
  readonly code: (typeof PROVIDER_DIFFERENCE_CODES)[number];
  readonly invoiceId: string;
  readonly customerId: string;
  /** Its id at the provider. */
  readonly externalId: string | null;
  readonly message: string;
  readonly expected: Decimal | ExternalStatus | null;
  readonly found: Decimal | ExternalStatus | null;
}

/** A delivered invoice, as it is here and as its provider has it at this moment. */
export interface ComparedInvoice {
  readonly invoiceId: string;
  readonly customerId: string;
  readonly isVoid: boolean;
  /** The billed amount, in the unit of the invoice. */
  readonly payable: Decimal;
  /** Whether it should have arrived by now. */
  readonly isOverdue: boolean;
  readonly here: ExternalInvoice;
  readonly there: ExternalInvoice;
}

const NOT_ARRIVED: readonly ExternalStatus[] = ['QUEUED', 'INVALID_REQUEST_ERROR', 'DELETED'];
/** With these states a provider has nothing to be paid. */
const NOTHING: readonly ExternalStatus[] = [
  'QUEUED',
  'INVALID_REQUEST_ERROR',
  'DELETED',
  'VOID',
  'SKIPPED',
  'DRAFT',
];

export function compareWithProvider(one: ComparedInvoice): ProviderDifference[] {
  const { here, there, payable } = one;
  const differs = (
    code: ProviderDifference['code'],
    message: string,
    values: Partial<Pick<ProviderDifference, 'expected' | 'found'>> = {},
  ): ProviderDifference => ({
    ...{ code, message, invoiceId: one.invoiceId, customerId: one.customerId },
    ...{ externalId: here.externalId, expected: null, found: null, ...values },
  });
  if (one.isVoid) {
    if (NOTHING.includes(there.status)) return [];
    return [
      differs('voided_here', 'it is voided here, and not there', { expected: 'VOID', found: there.status }),
    ];
  }
  if (here.externalId === null || NOT_ARRIVED.includes(here.status)) {
    const isMissing = NOT_ARRIVED.includes(here.status) && (one.isOverdue || here.status !== 'QUEUED');
    return isMissing ? [differs('not_delivered', here.error ?? `it is ${here.status}`)] : [];
  }
  if (there.status === 'DELETED') return [differs('missing_there', 'the provider does not have it any more')];
  if (there.status === 'VOID') return [differs('voided_there', 'it is voided there, and not here')];
  const found: ProviderDifference[] = [];
  if (here.status !== there.status) {
    const values = { expected: here.status, found: there.status };
    found.push(differs('status', 'what is known here is not what the provider says', values));
  }
  if (there.status !== 'DRAFT' && there.subTotal !== null && !there.subTotal.eq(payable)) {
    const values = { expected: payable, found: there.subTotal };
    found.push(differs('amount', 'the sub-total there is not what is billed', values));
  }
  return found;
}

/** The provider's copy of the invoice that is to be paid, or was; null: none. */
export function amountThere({ status, subTotal }: ExternalInvoice): Decimal | null {
  return NOTHING.includes(status) ? null : subTotal;
}
