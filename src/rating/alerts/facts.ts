/** The values that alerts of one customer are compared with, at one moment. Plain data. */
import type { CustomFields } from '../../core/custom-fields.ts';
import type { Decimal } from '../../core/decimal.ts';
import type { InvoiceType } from '../../core/invoice.ts';
import type { Instant } from '../../core/time.ts';

/** A segment of a commit or credit that is open now. */
export interface OpenSegment {
  readonly id: string;
  readonly granted: Decimal;
  readonly remaining: Decimal;
  readonly endingBefore: Instant;
}

/** A commit or credit that is not archived and not divided among seats. */
export interface GrantFact {
  readonly id: string;
  readonly kind: 'commit' | 'credit';
  readonly creditTypeId: string;
  readonly fields: CustomFields;
  /** Of its contract; empty for one of the customer. */
  readonly contractFields: CustomFields;
  readonly segments: readonly OpenSegment[];
}

/** The remaining amount of a seat, now, of a commit or credit that is divided among seats. */
export interface SeatFact {
  readonly groupKey: string;
  readonly seatId: string;
  readonly kind: 'commit' | 'credit';
  readonly creditTypeId: string;
  readonly remaining: Decimal;
}

/** A contract in force. */
interface ContractFact {
  readonly id: string;
  readonly endingBefore: Instant | null;
}

/** A charge for usage, before what balances pay of it. */
export interface ChargeFact {
  readonly creditTypeId: string;
  readonly groups: Readonly<Record<string, string>>;
  readonly total: Decimal;
}

/** An active invoice. */
export interface InvoiceFact {
  readonly id: string;
  readonly type: InvoiceType;
  /** Of its contract. */
  readonly contractFields: CustomFields;
  /** The start of the billing period if it is the present one; null of other invoices. */
  readonly currentSince: Instant | null;
  /** Net, by unit. */
  readonly totals: ReadonlyMap<string, Decimal>;
  readonly charges: readonly ChargeFact[];
}

/** The value of a metric over the time of the customer's open usage invoices. */
export interface UsageFact {
  readonly value: Decimal;
  readonly since: Instant;
}

export interface AlertFacts {
  readonly grants: readonly GrantFact[];
  readonly seats: readonly SeatFact[];
  readonly contracts: readonly ContractFact[];
  readonly invoices: readonly InvoiceFact[];
  /** False: a draft could not be computed, so nothing that depends on drafts is known. */
  readonly hasDrafts: boolean;
  /** The amounts of active holds by unit, where an alert counts them. */
  readonly held: ReadonlyMap<string, Decimal>;
  /** By metric; one that is absent could not be measured. Null: there is no open invoice. */
  readonly usage: ReadonlyMap<string, UsageFact | null>;
}
