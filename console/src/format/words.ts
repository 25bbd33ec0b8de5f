/** The finance terms for names of the API. */

/** `1 invoice`, `1,234 invoices`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

interface DeliveryWords {
  /** The state, on its own. */
  readonly state: string;
  /** The beginning of a sentence for a number of invoices in this state, if they need attention. */
  readonly needs?: readonly [one: string, many: string];
}

const DELIVERIES: Readonly<Record<string, DeliveryWords>> = {
  QUEUED: { state: 'waiting to be sent' },
  DRAFT: { state: 'draft there' },
  PARTIALLY_PAID: { state: 'partly paid' },
  SKIPPED: { state: 'not to be sent' },
  INVALID_REQUEST_ERROR: {
    state: 'refused there',
    needs: ['invoice was refused by its billing provider', 'invoices were refused by their billing provider'],
  },
  PAYMENT_FAILED: {
    state: 'payment failed',
    needs: [
      'invoice could not be collected: its payment has failed',
      'invoices could not be collected: their payments have failed',
    ],
  },
  UNCOLLECTIBLE: {
    state: 'uncollectible',
    needs: [
      'invoice is uncollectible at its billing provider',
      'invoices are uncollectible at their billing provider',
    ],
  },
  DELETED: {
    state: 'deleted there',
    needs: ['invoice was deleted at its billing provider', 'invoices were deleted at their billing provider'],
  },
};

/** A state of delivery: `refused there`. */
export function deliveryText(status: string): string {
  return DELIVERIES[status]?.state ?? spaced(status);
}

/** `2 invoices were refused by their billing provider`. */
export function deliveryCountText(status: string, count: number): string {
  const [one, many] = DELIVERIES[status]?.needs ?? [
    `invoice is ${deliveryText(status)}`,
    `invoices are ${deliveryText(status)}`,
  ];
  return countText(count, one, many);
}

/** Words for ledger entries, by the part of the type after the kind of balance. */
const ENTRIES: Readonly<Record<string, string>> = {
  SEGMENT_START: 'Granted',
  INITIAL_BALANCE: 'Granted',
  AUTOMATED_INVOICE_DEDUCTION: 'Used',
  MANUAL: 'Adjusted by hand',
  SEAT_BASED_ADJUSTMENT: 'Adjusted for seats',
  CREDITED: 'Given back',
  ROLLOVER: 'Rolled over to the next contract',
  TRUEUP: 'Missing amount billed',
  CANCELED: 'Canceled',
  EXPIRATION: 'Expired',
};

/** Words for postpaid commits, whose balance is the amount still to be spent. */
const POSTPAID_ENTRIES: Readonly<Record<string, string>> = {
  ...ENTRIES,
  INITIAL_BALANCE: 'Minimum agreed',
  AUTOMATED_INVOICE_DEDUCTION: 'Counted towards it',
};

/** An entry of a ledger; the grant of a rolled-over balance states that. */
export function entryText(type: string, isRolledOver: boolean): string {
  const kind = type.replace(/^(?:PREPAID_COMMIT|POSTPAID_COMMIT|CREDIT)_/, '');
  if (kind === 'SEGMENT_START' && isRolledOver) return 'Rolled over from the contract before';
  const words = type.startsWith('POSTPAID_COMMIT_') ? POSTPAID_ENTRIES : ENTRIES;
  if (words[kind] !== undefined) return words[kind];
  const text = spaced(kind);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function spaced(name: string): string {
  return name.replaceAll('_', ' ').toLowerCase();
}
