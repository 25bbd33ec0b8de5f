/** The dependencies that the operations of holds share. */
import type { Decimal } from '../../core/decimal.ts';
import type { BalanceDeps } from '../invoices/deductions.ts';
import type { HoldCounts } from './hold-counts.ts';
import type { HoldFamilies } from './hold-families.ts';
import type { HoldWriter } from './hold-writer.ts';

export interface HoldDeps extends BalanceDeps {
  readonly windowDays: number;
  readonly log: { error(fields: Readonly<Record<string, unknown>>, message: string): void };
  /** Whether other processes may take in events of the same customers. */
  readonly isShared: boolean;
  ingest(body: Buffer): Promise<{ readonly accepted: number; readonly duplicates: number }>;
  ingestSettled(): Promise<void>;
  storedAmong(transactionIds: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface HoldParts extends HoldDeps {
  readonly writer: HoldWriter;
  readonly families: HoldFamilies;
  readonly counts: HoldCounts;
  /** The holds that requests are settling now; the amounts of those whose events are billed. */
  readonly settling: Map<string, Decimal | null>;
  readonly nameOf: (creditTypeId: string) => Promise<string>;
}
