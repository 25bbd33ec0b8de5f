/**
 * The usage of one invoice, by groups of needs: the needs of a line key have the same group keys, so a group can be
 * rated alone. Usage that was read with that of other invoices is used as it is; usage that is too large for that is
 * read here, in slices of line keys.
 */

import { groupBy } from '../../../core/group-by.ts';
import type { UsageSeries } from '../../../core/usage-series.ts';
import type { UsageSource } from '../../../metering/usage/usage-source.ts';
import { sortedKeys } from '../../../rating/quantities/group-values.ts';
import { needKey } from '../../../rating/quantities/product-spans.ts';
import type { UsageNeed } from '../../../rating/quantities/usage-need.ts';
import { type InvoiceContext, needsOf, termsOf, type UsageTarget } from '../terms/invoice-context.ts';
import { seriesRequest, type UsageAnswers } from './usage-answers.ts';
import { readSlices, type SlicedAnswer } from './usage-slices.ts';

/** The distinct needs by their group keys; those of a line key have the same. */
export function needGroups(target: UsageTarget, context: InvoiceContext): UsageNeed[][] {
  const needs = new Map(needsOf(context, target).map((need) => [needKey(need), need]));
  return [...groupBy(needs.values(), ({ groupKeys }) => JSON.stringify(sortedKeys(groupKeys))).values()];
}

/** All usage of the target; no part may be too large. */
export function seriesOf(
  groups: readonly (readonly UsageNeed[])[],
  target: UsageTarget,
  usage: UsageAnswers,
): UsageSeries[] {
  return groups.flat().flatMap((need) => answerTo(need, target, usage)?.series ?? []);
}

function answerTo(need: UsageNeed, { contract, period }: UsageTarget, usage: UsageAnswers) {
  return usage.answerOf({ need, period, customerId: contract.customerId });
}

/** Whether it does not fit in memory, and has to be read in slices. */
export function isTooLarge(needs: readonly UsageNeed[], target: UsageTarget, usage: UsageAnswers): boolean {
  return needs.some((need) => answerTo(need, target, usage) === null);
}

/** Answers to all needs of a group: everything, or a slice of line keys. */
interface GroupUsage {
  readonly groupKeys: readonly string[];
  readonly answers: readonly SlicedAnswer[];
}

/** All usage of the target, group by group: the answers read before first, the rest in slices. */
export async function* readGroups(
  usageSource: UsageSource,
  target: UsageTarget,
  context: InvoiceContext,
  usage: UsageAnswers,
  groups: readonly (readonly UsageNeed[])[],
): AsyncGenerator<GroupUsage, void, undefined> {
  const { customerId } = target.contract;
  const owner = { customerId, refs: termsOf(context, target.contract).customerRefs };
  for (const needs of groups) {
    const groupKeys = needs[0]?.groupKeys ?? [];
    if (isTooLarge(needs, target, usage)) {
      const questions = needs.map((need) => ({
        need,
        request: seriesRequest(context, { need, period: target.period }, [owner], usage.ingestedUpTo),
      }));
      for await (const answers of readSlices(usageSource, questions)) yield { groupKeys, answers };
    } else {
      const answers = needs.map((need) => ({ need, answer: answerTo(need, target, usage) ?? NOTHING_USED }));
      yield { groupKeys, answers };
    }
  }
}

/** A customer without metered usage used nothing. */
const NOTHING_USED = { series: [], uncounted: null, problem: null };
