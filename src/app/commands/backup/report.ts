/** The result of a backup and of a restore, as text and as JSON. */
import { formatInstant } from '../../../core/time.ts';
import { bytesOf, type Manifest, rowsOfTable, storedRows } from '../../backups/manifest.ts';
import { sizeText } from '../../backups/size-text.ts';
import { formatCount, formatSeconds } from '../terminal/number-format.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface MadeBackup {
  /** The place of the backup. */
  readonly place: string;
  readonly manifest: Manifest;
  /** The size of pieces that no earlier backup had. */
  readonly writtenBytes: number;
  readonly removed: readonly string[];
}

/** The number of objects in the backup. */
export interface BackupCounts {
  /** Stored rows, including copies of events that are not merged yet. */
  readonly events: number;
  readonly customers: number;
  readonly contracts: number;
  readonly invoices: number;
  /** Deductions of invoices, and manual entries. */
  readonly ledgerEntries: number;
}

export function countsOf(manifest: Manifest): BackupCounts {
  return {
    events: storedRows(manifest, 'usage_events'),
    customers: rowsOfTable(manifest, 'customers'),
    contracts: rowsOfTable(manifest, 'contracts'),
    invoices: rowsOfTable(manifest, 'invoices'),
    ledgerEntries:
      rowsOfTable(manifest, 'balance_deductions') + rowsOfTable(manifest, 'manual_balance_entries'),
  };
}

/** `1,204 events, 3 customers, 3 contracts, 6 invoices, 12 ledger entries`. */
export function countsText(counts: BackupCounts): string {
  const { events, customers, contracts, invoices, ledgerEntries } = counts;
  return [
    named(events, 'event', 'events'),
    named(customers, 'customer', 'customers'),
    named(contracts, 'contract', 'contracts'),
    named(invoices, 'invoice', 'invoices'),
    named(ledgerEntries, 'ledger entry', 'ledger entries'),
  ].join(', ');
}

function named(count: number, one: string, more: string): string {
  return `${formatCount(count)} ${count === 1 ? one : more}`;
}

interface Shown {
  readonly seconds: number;
  readonly json: boolean;
  readonly terminal: Terminal;
}

export function reportBackup(made: MadeBackup, { seconds, json, terminal }: Shown): void {
  const { manifest, writtenBytes, removed, place } = made;
  const counts = countsOf(manifest);
  if (json) {
    const { events, customers, contracts, invoices, ledgerEntries } = counts;
    const document = {
      name: manifest.name,
      directory: place,
      moment: formatInstant(manifest.moment),
      bytes: bytesOf(manifest),
      written_bytes: writtenBytes,
      seconds: Number(seconds.toFixed(3)),
      event_count: events,
      customer_count: customers,
      contract_count: contracts,
      invoice_count: invoices,
      ledger_entry_count: ledgerEntries,
      removed,
    };
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return;
  }
  terminal.line(
    `Backup ${manifest.name} in ${place}: everything acknowledged before ${formatInstant(manifest.moment)}.`,
  );
  terminal.line(`  ${countsText(counts)}`);
  const sizes = `${sizeText(bytesOf(manifest))}, of which ${sizeText(writtenBytes)} are new`;
  terminal.line(`  ${sizes}, in ${formatSeconds(seconds)}`);
  if (removed.length > 0) terminal.line(`  removed: ${removed.join(', ')}`);
}
