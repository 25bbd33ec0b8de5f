/** Refuses invoices from events that were removed. */
import { Refusal } from '../../core/errors.ts';
import type { BilledPeriod } from '../../core/invoice.ts';
import { formatInstant, type Instant } from '../../core/time.ts';
import { eventsRemoved } from '../../metering/client/kept-events.ts';
import type { Transaction } from '../../store/base/database.ts';
import { holdEventRetention } from '../../store/erasure/event-retention.ts';

/**
 * Refuses (`invalid`) usage invoices of contracts for time whose events were removed. No more events are removed until
 * the transaction ends.
 */
export async function requireEventsOf(
  tx: Transaction,
  targets: readonly { readonly contract: { readonly id: string }; readonly period: BilledPeriod }[],
): Promise<void> {
  if (targets.length === 0) return;
  const keptFrom = (await holdEventRetention(tx))?.keptFrom ?? null;
  for (const { contract, period } of targets) {
    if (keptFrom === null || period.countedFrom >= keptFrom) continue;
    throw new Refusal(
      'invalid',
      `contract ${contract.id} would be invoiced from ${formatInstant(period.start)} on, but ${eventsRemoved(keptFrom)}. ` +
        'Let its invoices begin later (usage_statement_schedule.invoice_generation_starting_at)',
    );
  }
}

/** Refuses (`invalid`) to void an invoice that could not be regenerated, because its events were removed. */
export async function requireEventsOfInvoice(
  tx: Transaction,
  invoice: { readonly id: string; readonly countedFrom: Instant },
): Promise<void> {
  const keptFrom = (await holdEventRetention(tx))?.keptFrom ?? null;
  if (keptFrom === null || invoice.countedFrom >= keptFrom) return;
  throw new Refusal(
    'invalid',
    `invoice ${invoice.id} could not be regenerated: ${eventsRemoved(keptFrom)}. Correct it with a charge or a credit`,
  );
}
