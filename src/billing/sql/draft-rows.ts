/**
 * The rows of the view `drafts`: drafts of all customers, or of some, computed when they are read
 * (docs/reference/sql.md).
 */
import { invalid } from '../../core/errors.ts';
import { monthOfInvoice } from '../../core/invoice-month.ts';
import type { ViewRow } from '../../metering/sql/generate/view-sql.ts';
import { dueAt } from '../../rating/invoices/payable.ts';
import { loadCreditTypes } from '../../store/credit-types/credit-types.ts';
import type { BillingContext } from '../billing-context.ts';
import type { InvoiceWithWarnings } from '../invoices/drafts/unbilled-usage.ts';
import { type DraftPosition, listDrafts } from '../invoices/read/list-drafts.ts';
import { previousInvoicesOf } from '../invoices/read/previous-invoices.ts';
import { exact, time } from './cells.ts';

export interface DraftRowLimits {
  /** Drafts that one query may compute. */
  readonly drafts: number;
  /** Time for all of them. */
  readonly milliseconds: number;
}

const DRAFT_ROW_LIMITS: DraftRowLimits = { drafts: 200_000, milliseconds: 20_000 };
const PER_PAGE = 1_000;

/** `customerIds` null: of all customers. Consolidated ones, which repeat others, are left out. Refuses too many (`invalid`, field `sql`). */
export async function draftRows(
  context: BillingContext,
  customerIds: readonly string[] | null,
  limits: DraftRowLimits = DRAFT_ROW_LIMITS,
): Promise<ViewRow[]> {
  const end = performance.now() + limits.milliseconds;
  const rows: ViewRow[] = [];
  let after: DraftPosition | null = null;
  do {
    const request = { after, limit: PER_PAGE, order: 'ascending' } as const;
    const page: Awaited<ReturnType<typeof listDrafts>> = await listDrafts(
      context,
      { customerIds: customerIds ?? undefined, withoutConsolidated: true },
      request,
    );
    rows.push(...(await rowsOf(context, page.rows)));
    after = page.next;
    if (rows.length > limits.drafts) throw tooMany(`${limits.drafts} drafts`);
    if (after !== null && performance.now() > end)
      throw tooMany(`${limits.milliseconds / 1_000} s for drafts`);
  } while (after !== null);
  return rows;
}

function tooMany(what: string) {
  return invalid(
    ['sql'],
    `the query would take more than ${what}: name customers by customer_id = '…' or IN in the WHERE of every view`,
  );
}

async function rowsOf(context: BillingContext, drafts: readonly InvoiceWithWarnings[]): Promise<ViewRow[]> {
  const previous = await previousInvoicesOf(context, drafts);
  const ids = [...new Set(drafts.map(({ creditTypeId }) => creditTypeId))];
  const units = await loadCreditTypes(context.db, ids);
  return drafts.map((draft) => {
    const { id, customerId, contractId, type, period, creditTypeId } = draft;
    const [start, end] = type === 'USAGE' ? [time(period.start), time(period.end)] : [null, null];
    const before = previous.get(id);
    return [
      ...[id, customerId, contractId, draft.status, type, start, end, time(draft.issuedAt)],
      ...[time(monthOfInvoice(draft)), time(dueAt(draft)), null],
      ...[creditTypeId, units.get(creditTypeId)?.name ?? null, exact(draft.total)],
      ...[String(draft.warnings.count), before === undefined ? null : exact(before.total)],
    ];
  });
}
