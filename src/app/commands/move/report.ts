/** The result of a move, as text and as JSON. */
import type { MoveRecord } from '../../../embedded/move-record.ts';
import type { CopiedRows } from '../../../metering/copies/copy-tables.ts';
import { countsText } from '../backup/report.ts';
import { formatSeconds } from '../terminal/number-format.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { MovedRows } from './move-postgres.ts';

export interface EndedMove {
  readonly record: MoveRecord;
  readonly events: readonly CopiedRows[];
  readonly rows: MovedRows;
  /** `held`: the time in which nothing was accepted. */
  readonly seconds: { readonly all: number; readonly held: number };
  readonly isRunning: boolean;
}

export function reportMove(moved: EndedMove, json: boolean, terminal: Terminal): void {
  const { record, events, rows, seconds, isRunning } = moved;
  const rowsOf = (name: string) => rows.tables.get(name) ?? 0;
  const counts = {
    events: events.find(({ table }) => table === 'usage_events')?.rows ?? 0,
    customers: rowsOf('customers'),
    contracts: rowsOf('contracts'),
    invoices: rowsOf('invoices'),
    ledgerEntries: rowsOf('balance_deductions') + rowsOf('manual_balance_entries'),
  };
  if (json) {
    const document = {
      to: record.to,
      event_count: counts.events,
      customer_count: counts.customers,
      contract_count: counts.contracts,
      invoice_count: counts.invoices,
      ledger_entry_count: counts.ledgerEntries,
      seconds: Number(seconds.all.toFixed(3)),
      read_only_seconds: Number(seconds.held.toFixed(3)),
    };
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return;
  }
  const without = isRunning ? `, ${formatSeconds(seconds.held)} of it without changes` : '';
  terminal.line(`Moved in ${formatSeconds(seconds.all)}${without}.`);
  terminal.line(`  ${countsText(counts)}: the same on both sides`);
  terminal.line(
    'Start the service with DATABASE_URL, CLICKHOUSE_URL and its other settings, SECRETS_KEY among them.',
  );
}
