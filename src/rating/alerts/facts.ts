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
  /** Custom fields of the contract; empty if the commit belongs to the customer. */
  readonly contractFields: CustomFields;
  readonly segments: readonly OpenSegment[];
}

/** The current remaining amount of one seat in a commit or credit that is divided among seats. */
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

/** A charge for usage, before drawdown. */
export interface ChargeFact {
  readonly creditTypeId: string;
  readonly groups: Readonly<Record<string, string>>;
  readonly total: Decimal;
}

/** An active invoice. */
export interface InvoiceFact {
  readonly id: string;
  readonly type: InvoiceType;
  /** Custom fields of its contract. */
  readonly contractFields: CustomFields;
  /** The start of the billing period if the invoice is for the current one; else null. */
  readonly currentSince: Instant | null;
  /** Net totals by pricing unit. */
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
  /** False if a draft could not be computed, so that no value that depends on drafts is known. */
  readonly hasDrafts: boolean;
  /** The amounts of active holds by unit, if an alert counts them. */
  readonly held: ReadonlyMap<string, Decimal>;
  /** Usage by metric. A metric is absent if it could not be measured. Null: there is no open invoice. */
  readonly usage: ReadonlyMap<string, UsageFact | null>;
}
