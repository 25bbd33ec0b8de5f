/**
 * Historical invoices: usage invoices for the time before an import, computed from the client's quantities
 * (docs/explanation/invoices.md, "Historical invoices").
 *
 * As in finalize.ts, hours are written to ClickHouse without a transaction, and the invoices are issued if PostgreSQL
 * still has exactly their input.
 */

import { type FieldPath, invalid, Refusal } from '../../../core/errors.ts';
import type { Invoice } from '../../../core/invoice.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import { inSnapshot, snapshotInstant, type Transaction } from '../../../store/base/database.ts';
import { type Contract, loadContracts, lockContract } from '../../../store/contracts/contracts.ts';
import { usageInvoiceIn } from '../../../store/invoices/issued-periods.ts';
import type { BillingContext } from '../../billing-context.ts';
import { missingContract } from '../../contracts/find-contract.ts';
import { storeCustomFields } from '../../custom-fields/store-fields.ts';
import type { InvoiceTarget } from '../../invoice-queue/usage-periods.ts';
import { inputFingerprints } from '../compute/input-fingerprints.ts';
import type { PlannedInvoices } from '../compute/plan-invoices.ts';
import { freezeHours, freezeInvoices } from '../freeze/freeze.ts';
import { NO_SCHEDULES } from '../scheduled/drawing.ts';
import { loadInvoiceContext } from '../terms/invoice-context.ts';
import { computeHistorical } from './compute-historical.ts';
import { type HistoricalInvoiceInput, requireInterval } from './historical-input.ts';

/** The maximum computations of invoices whose input keeps changing. */
const PREPARATIONS_MAX = 5;

/**
 * The invoices as they would be issued, as drafts. Nothing is stored. Refuses an unknown customer or contract
 * (`not_found`), and the first invalid field (`invalid`).
 */
export async function previewHistorical(
  billing: BillingContext,
  inputs: readonly HistoricalInvoiceInput[],
): Promise<Invoice[]> {
  const plan = await inSnapshot(billing.db, (tx) => planOf(tx, inputs, billing.clock.now()));
  return (await computeHistorical(billing, inputs, plan)).map(({ invoice }) => invoice);
}

/** Issues all of them or none. Refuses the same as `previewHistorical`. */
export async function createHistorical(
  billing: BillingContext,
  inputs: readonly HistoricalInvoiceInput[],
): Promise<Invoice[]> {
  for (let preparation = 1; preparation <= PREPARATIONS_MAX; preparation += 1) {
    const issued = await issue(billing, inputs);
    if (issued !== null) return issued;
  }
  throw new Refusal('unavailable', 'the terms of the contracts keep changing: try again later');
}

/** Null if something has changed since the invoices were computed. */
async function issue(
  billing: BillingContext,
  inputs: readonly HistoricalInvoiceInput[],
): Promise<Invoice[] | null> {
  const now = billing.clock.now();
  const { plan, termsReadAt } = await inSnapshot(billing.db, async (tx) => ({
    plan: await planOf(tx, inputs, now),
    termsReadAt: await snapshotInstant(tx),
  }));
  const frozen = await freezeHours(billing.clickhouse, await computeHistorical(billing, inputs, plan));
  return billing.db.transaction(async (tx) => {
    await lockContracts(tx, plan.targets);
    if (!(await isSame(await planOf(tx, inputs, now), plan))) return null;
    await storeCustomFields(
      tx,
      frozen.map(({ invoice }, index) => ({
        entity: 'invoice',
        entityId: invoice.id,
        fields: inputs[index]?.customFields ?? {},
        path: ['invoices', index],
      })),
    );
    await freezeInvoices(tx, frozen, termsReadAt);
    return frozen.map(({ invoice }) => ({ ...invoice, status: 'FINALIZED' }));
  });
}

/** In the order in which all transactions lock contracts. */
async function lockContracts(tx: Transaction, targets: readonly InvoiceTarget[]): Promise<void> {
  const contracts = new Map(targets.map(({ contract }) => [contract.id, contract]));
  const inOrder = [...contracts.values()].sort(
    (a, b) => a.startingAt - b.startingAt || (a.id < b.id ? -1 : 1),
  );
  for (const { id } of inOrder) await lockContract(tx, id);
}

async function isSame(a: PlannedInvoices, b: PlannedInvoices): Promise<boolean> {
  const [now, before] = [await inputFingerprints(a), await inputFingerprints(b)];
  return [...now].every(([id, fingerprint]) => before.get(id) === fingerprint);
}

/** The invoices with their prices, without scheduled items. Checks contracts and periods. */
async function planOf(
  tx: Transaction,
  inputs: readonly HistoricalInvoiceInput[],
  now: Instant,
): Promise<PlannedInvoices> {
  const loaded = await loadContracts(tx, {
    ids: inputs.map(({ contractId }) => contractId),
    includeArchived: true,
  });
  const contracts = new Map(loaded.map((contract) => [contract.id, contract]));
  const targets: InvoiceTarget[] = [];
  for (const [index, input] of inputs.entries()) {
    const path = ['invoices', index];
    const contract = contracts.get(input.contractId);
    if (contract === undefined || contract.customerId !== input.customerId) {
      throw await missingContract(tx, input.customerId, input.contractId);
    }
    const target = { contract, period: periodOf(input, path, contract, now) };
    await requireFree(tx, target, targets, path);
    targets.push(target);
  }
  const context = await loadInvoiceContext(tx, targets, now);
  return { targets, earlier: [], scheduled: NO_SCHEDULES, context: { ...context, joined: new Map() } };
}

function periodOf(
  input: HistoricalInvoiceInput,
  path: FieldPath,
  contract: Contract,
  now: Instant,
): InvoiceTarget['period'] {
  const { rateCardId, startingAt, endingBefore, invoiceGenerationStartingAt } = contract;
  const field = [...path, 'contractId'];
  if (contract.archivedAt !== null) throw invalid(field, `contract ${contract.id} is archived`);
  if (rateCardId === null) throw invalid(field, `contract ${contract.id} has no rate card`);
  if (invoiceGenerationStartingAt === null) {
    throw invalid(
      field,
      `contract ${contract.id} has no start of invoice generation: all its usage is invoiced from events`,
    );
  }
  const ends = [endingBefore ?? now, invoiceGenerationStartingAt, now];
  const within = { start: startingAt, end: Math.min(...ends) };
  const period = requireInterval(input, path, within, 'the time before invoices are computed from events');
  if (input.issueDate > now) {
    throw invalid([...path, 'issueDate'], `must not be after the present, ${formatInstant(now)}`);
  }
  return { ...period, countedFrom: period.start };
}

/**
 * Any time of a contract is on one usage invoice: refuses overlaps with stored ones and earlier ones of the request.
 */
async function requireFree(
  tx: Transaction,
  { contract, period }: InvoiceTarget,
  earlier: readonly InvoiceTarget[],
  path: FieldPath,
): Promise<void> {
  const field = [...path, 'inclusiveStartDate'];
  const other = earlier.findIndex(
    (one) =>
      one.contract.id === contract.id && one.period.start < period.end && period.start < one.period.end,
  );
  if (other >= 0) throw invalid(field, `its time overlaps that of invoices[${other}]`);
  const stored = await usageInvoiceIn(tx, contract.id, period);
  if (stored !== null) throw invalid(field, `its time overlaps that of invoice ${stored}`);
}
