/** The order of drawdown in answers, with the reason for each place as a sentence. */
import { z } from 'zod';
import type { OrderedBalance } from '../../../billing/balance-queries/drawdown-order.ts';
import { BURN_DOWN_CRITERIA, type BurnDownCriterion } from '../../../core/invoice-balances.ts';
import { formatInstant } from '../../../core/time.ts';
import type { BalanceClass, RankedBalance } from '../../../rating/balances/burn-down-order.ts';
import { exactValue, timestamp, uuid } from '../../wire/fields.ts';

export const orderedBalance = z
  .object({
    position: z.int().meta({ description: 'From 1.' }),
    id: uuid.meta({ description: 'The commit or credit.' }),
    type: z.enum(['PREPAID', 'POSTPAID', 'CREDIT']),
    name: z.string().optional(),
    contract: z.object({ id: uuid }).optional(),
    segment_id: uuid,
    starting_at: timestamp,
    ending_before: timestamp.meta({
      description: 'The end of the segment, or of its contract if that is earlier.',
    }),
    credit_type_id: uuid,
    balance: exactValue.meta({ description: 'The current remainder of the segment.' }),
    decided_by: z
      .enum(BURN_DOWN_CRITERIA)
      .optional()
      .meta({ description: 'The reason for coming after the previous balance; absent for the first.' }),
    reason: z.string(),
  })
  .meta({ id: 'OrderedBalance' });

export function orderToWire(order: readonly OrderedBalance[]): z.input<typeof orderedBalance>[] {
  return order.map(({ commit, segment, ranked, balance, decidedBy }, index) => ({
    position: index + 1,
    id: commit.id,
    type: commit.type,
    ...(commit.name === null ? {} : { name: commit.name }),
    ...(commit.contractId === null ? {} : { contract: { id: commit.contractId } }),
    segment_id: segment.id,
    starting_at: formatInstant(segment.startingAt),
    ending_before: formatInstant(ranked.endingBefore),
    credit_type_id: commit.accessSchedule.creditTypeId,
    balance,
    ...(decidedBy === null ? {} : { decided_by: decidedBy }),
    reason: reasonOf(ranked, order[index - 1]?.ranked, decidedBy),
  }));
}

function reasonOf(
  own: RankedBalance,
  before: RankedBalance | undefined,
  decidedBy: BurnDownCriterion | null,
): string {
  if (before === undefined || decidedBy === null) return 'nothing comes before it';
  const say = TEXT[decidedBy];
  return `after the one before it: ${say(own)} comes after ${say(before)}`;
}

const CLASSES: Readonly<Record<BalanceClass, string>> = {
  ROLLED_OVER_POSTPAID: 'a rolled-over postpaid commit',
  ROLLED_OVER: 'a rolled-over commit or credit',
  PREPAID_OR_CREDIT: 'a prepaid commit or credit',
  POSTPAID: 'a postpaid commit',
};

const TEXT: Readonly<Record<BurnDownCriterion, (one: RankedBalance) => string>> = {
  CLASS: ({ balanceClass }) => CLASSES[balanceClass],
  PRIORITY: ({ priority }) => `priority ${priority.toString()}`,
  COST_BASIS: ({ isFree }) => (isFree ? 'what was free' : 'what was paid'),
  PRODUCT_APPLICABILITY: ({ productCount }) => counted(productCount, 'product'),
  USAGE_APPLICABILITY: ({ usageSpecifierCount }) =>
    Number.isFinite(usageSpecifierCount)
      ? counted(usageSpecifierCount, 'specifier of group values')
      : 'usage of any group values',
  ACCESS_END: ({ endingBefore }) => `access until ${formatInstant(endingBefore)}`,
  ACCESS_START: ({ startingAt }) => `access from ${formatInstant(startingAt)}`,
  CONTRACT_COUNT: ({ contractCount }) => counted(contractCount, 'contract'),
  CONTRACT_LEVEL: ({ isOfContract }) => (isOfContract ? 'one of the contract' : 'one of the customer'),
  CREATED_AT: ({ createdAt }) => `creation at ${formatInstant(createdAt)}`,
  ID: ({ commitId, segmentId }) => `id ${commitId}, segment ${segmentId}`,
};

function counted(count: number, what: string): string {
  return Number.isFinite(count) ? `${count} ${what}${count === 1 ? '' : 's'}` : `any ${what}`;
}
