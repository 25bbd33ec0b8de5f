/** Sets of corrections of stored events (docs/explanation/corrections.md). */
import type { Instant } from './time.ts';

export const CORRECTION_STATUSES = ['open', 'applied', 'reverted', 'dropped'] as const;
export type CorrectionStatus = (typeof CORRECTION_STATUSES)[number];

export const CORRECTION_ACTIONS = ['void', 'amend'] as const;

/** The change of one event. */
export interface CorrectionEntry {
  readonly transactionId: string;
  readonly action: (typeof CORRECTION_ACTIONS)[number];
  /** The new value of an amended event; null: it stays. */
  readonly customerRef: string | null;
  readonly eventType: string | null;
  readonly timestamp: Instant | null;
  /** JSON object of the texts of the values; null: they stay. */
  readonly propertiesJson: string | null;
  /** Whose event it was when the entry was added; null: of no event that was found. */
  readonly foundRef: string | null;
}

/** Who did it, and when. */
interface CorrectionStep {
  readonly at: Instant;
  readonly by: string;
}

export interface CorrectionSet {
  readonly id: string;
  readonly name: string;
  readonly reason: string;
  readonly status: CorrectionStatus;
  readonly createdAt: Instant;
  readonly createdBy: string;
  readonly applied: CorrectionStep | null;
  readonly reverted: CorrectionStep | null;
  readonly dropped: CorrectionStep | null;
  /** The application, which rows in ClickHouse name; null before. */
  readonly attempt: string | null;
  /** Increases with every addition. */
  readonly changes: number;
  /** Events: what it would do while it is open, and what it did. */
  readonly voided: number;
  readonly amended: number;
  /** Ids of which it had nothing to take away. */
  readonly notFound: number;
}
