/** The invoice that a finalization job issues, by the current state of its contract. */
import { z } from 'zod';
import type { Instant } from '../../../core/time.ts';
import type { Transaction } from '../../../store/base/database.ts';
import { type Contract, loadContracts } from '../../../store/contracts/contracts.ts';
import { lastIssuedPeriodEnds } from '../../../store/invoices/issued-periods.ts';
import type { Job } from '../../../store/jobs/jobs.ts';
import {
  billsUsage,
  finalizationAt,
  type InvoiceTarget,
  nextUnissuedPeriod,
  periodFrom,
} from '../../invoice-queue/usage-periods.ts';

const payloadSchema = z.object({ contract_id: z.uuid(), period_start: z.int() });

export interface FinalizationTarget extends InvoiceTarget {
  /** False if the period now ends later than when the job was queued. */
  readonly isDue: boolean;
}

/**
 * The current targets of the jobs by their ids. A contract may have changed since its job was queued. A job whose
 * contract is archived, or ended before the period, has none. If an earlier period is not issued, such as one that an
 * older version did not bill, that is the target.
 */
export async function finalizationTargets(
  tx: Transaction,
  batch: readonly Job[],
  gracePeriodHours: number,
): Promise<Map<number, FinalizationTarget>> {
  const jobs = batch.map(({ id, runAt, payload }) => ({ id, runAt, ...payloadSchema.parse(payload) }));
  const contracts = new Map(
    (await loadContracts(tx, { ids: jobs.map((job) => job.contract_id) })).map((one) => [one.id, one]),
  );
  const issuedUntil = await lastIssuedPeriodEnds(tx, [...contracts.keys()]);
  const targets = jobs.flatMap(({ id, runAt, contract_id, period_start }) => {
    const contract = contracts.get(contract_id);
    if (contract === undefined) return [];
    const first = nextUnissuedPeriod(contract, issuedUntil.get(contract.id));
    const target = targetOf(contract, Math.min(period_start, first?.start ?? period_start));
    if (target === null) return [];
    const isDue = finalizationAt(target.period, gracePeriodHours) <= runAt;
    return [[id, { ...target, isDue }] as const];
  });
  return new Map(targets);
}

function targetOf(contract: Contract, periodStart: Instant): InvoiceTarget | null {
  const period = billsUsage(contract) ? periodFrom(contract, periodStart) : null;
  return period && { contract, period };
}
