/** Which units a line charges, and the balance that pays for them. */
import { z } from 'zod';
import { BURN_DOWN_CRITERIA } from '../../../core/invoice-balances.ts';
import { RATE_TARGETS } from '../../../core/terms/applicability.ts';
import { COMMIT_TYPES } from '../../../core/terms/commits.ts';
import { scheduleSegmentId } from '../../../rating/balances/buckets.ts';
import type { ExplainedPayer, ExplainedShare } from '../../../rating/explain/explanation.ts';
import { exactValue, uuid } from '../../wire/fields.ts';

export const shareSchema = z
  .object({
    balance: z
      .object({
        id: uuid.meta({ description: 'The commit or credit.' }),
        segment_id: uuid,
        name: z.string(),
        type: z.enum(COMMIT_TYPES),
        rate_type: z.enum(RATE_TARGETS),
        position: z.int().meta({ description: 'In the order of drawdown, from 1.' }),
        balance_count: z.int().meta({ description: 'Balances that could pay for something on the invoice.' }),
        decided_by: z
          .enum(BURN_DOWN_CRITERIA)
          .optional()
          .meta({ description: 'The reason for coming after the previous balance; absent for the first.' }),
        before_invoice: exactValue.meta({ description: 'The balance before this invoice.' }),
        other_lines: exactValue.meta({
          description: 'The amount that it pays for other lines of the invoice.',
        }),
        after_invoice: exactValue,
      })
      .optional()
      .meta({ description: 'The paying balance; absent for units that no balance covers.' }),
    ranges: z
      .array(z.object({ above: exactValue, up_to: exactValue, amount: exactValue }))
      .meta({ description: 'The range of the quantity, base or units that is charged here.' }),
  })
  .meta({ id: 'ExplainedShare' });

export function shareToWire({ payer, stretches }: ExplainedShare): z.input<typeof shareSchema> {
  return {
    ...(payer === null ? {} : { balance: payerToWire(payer) }),
    ranges: stretches.map(({ from, to, amount }) => ({ above: from, up_to: to, amount })),
  };
}

function payerToWire({ balance, place, placeCount, takenByOthers, left }: ExplainedPayer) {
  const { id, name, commitType, rateType, decidedBy } = balance;
  return {
    ...{ id, segment_id: scheduleSegmentId(balance), name, type: commitType, rate_type: rateType },
    position: place,
    balance_count: placeCount,
    ...(decidedBy === null ? {} : { decided_by: decidedBy }),
    before_invoice: balance.left,
    other_lines: takenByOthers,
    after_invoice: left,
  };
}
