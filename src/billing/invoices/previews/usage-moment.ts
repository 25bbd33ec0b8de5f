/** The stored events that planned invoices can count. */

import type { Interval } from '../../../core/time.ts';
import type { UsageSource } from '../../../metering/usage/usage-source.ts';
import type { PlannedInvoices } from '../compute/plan-invoices.ts';
import { termsOf } from '../terms/invoice-context.ts';

export interface UsageMoment {
  /** The names under which the events come. */
  readonly refs: readonly string[];
  readonly interval: Interval;
  /** When the last of them was ingested: epoch microseconds, '0' if there is none. */
  readonly ingestedUpTo: string;
}

/** With the drafts that draw on balances before the targets. Null for plans without any invoice. */
export async function usageMoment(
  usageSource: UsageSource,
  ...plans: readonly Pick<PlannedInvoices, 'targets' | 'earlier' | 'context'>[]
): Promise<UsageMoment | null> {
  const drafts = plans.flatMap(({ targets, earlier, context }) =>
    [...targets, ...earlier].map(({ contract, period }) => ({
      period,
      refs: termsOf(context, contract).customerRefs,
    })),
  );
  const periods = drafts.map(({ period }) => period);
  if (periods.length === 0) return null;
  const refs = new Set(drafts.flatMap((draft) => draft.refs));
  const interval = {
    start: Math.min(...periods.map(({ countedFrom }) => countedFrom)),
    end: Math.max(...periods.map(({ end }) => end)),
  };
  const ingestedUpTo = await usageSource.lastIngested([...refs], interval);
  return { refs: [...refs], interval, ingestedUpTo };
}
