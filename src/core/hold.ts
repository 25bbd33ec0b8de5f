/** A hold: an amount of balances and limits that is held before usage happens (docs/explanation/holds.md), as the store keeps it. */
import type { Decimal } from './decimal.ts';
import type { Instant } from './time.ts';

export interface Hold {
  readonly id: string;
  readonly customerId: string;
  /** The one that the event will have. */
  readonly transactionId: string;
  /** Identifies the content of the request: the same content again is a repeat. */
  readonly contentHash: string;
  /** Null: an amount is held. */
  readonly eventType: string | null;
  /** JSON of names and texts, as they would be stored of the event. */
  readonly properties: string | null;
  /** When the event happens. */
  readonly timestamp: Instant;
  readonly amount: Decimal;
  readonly creditTypeId: string;
  /** The quantity that could still be held after it; null: there was no limit. */
  readonly remaining: Decimal | null;
  readonly status: 'active' | 'settled' | 'released' | 'expired';
  readonly settledAmount: Decimal | null;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly endedAt: Instant | null;
  /** The segments of prepaid balances that may pay for it, as of its grant. Null: not known. */
  readonly payers: string[] | null;
}

/** The state of a customer as a process has read it: a hold is granted only while it is unchanged. */
export interface AccountSeen {
  readonly customerId: string;
  readonly version: number;
  readonly usageMark: number;
  /** The mark of the customer's change rows. */
  readonly changes: string;
  /** The mark of changes to the prices of its cards. */
  readonly prices: string;
}

/** The marks of a customer after a change of its holds. */
export type AccountMarks = Pick<AccountSeen, 'version' | 'usageMark'>;
