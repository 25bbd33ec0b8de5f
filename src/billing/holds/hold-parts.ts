/** The context that the operations of holds share. */
import type { Hold } from '../../core/hold.ts';
import type { BillingContext } from '../billing-context.ts';
import type { HoldCounts } from './hold-counts.ts';
import type { HoldFamilies } from './hold-families.ts';
import type { BilledCost } from './hold-family.ts';
import type { HoldWriter } from './hold-writer.ts';

export interface HoldContext extends BillingContext {
  /** Whether other processes may also grant holds and ingest events. */
  readonly isShared: boolean;
  ingest(body: Buffer): Promise<{ readonly accepted: number; readonly duplicates: number }>;
  /** Resolves when all events that are being written now are on disk. */
  ingestDrained(): Promise<void>;
  /** Called with holds that are on disk. Must not wait. */
  granted(holds: readonly Hold[]): void;
}

/** Exactly one of both. */
export interface HoldName {
  readonly holdId: string | null;
  readonly transactionId: string | null;
}

export interface HoldParts extends HoldContext {
  readonly writer: HoldWriter;
  readonly families: HoldFamilies;
  readonly counts: HoldCounts;
  /** By transaction: the holds that requests are settling now, and the costs of billed events. */
  readonly settling: Map<string, { readonly hold: Hold; readonly cost: BilledCost | null }>;
  /** As stored in PostgreSQL. Null: not found. */
  readonly readHold: (name: HoldName) => Promise<Hold | null>;
  readonly nameOf: (creditTypeId: string) => Promise<string>;
}
