/** On the wire: how the price of a line is computed, from the rate of the card to the tier. */
import { z } from 'zod';
import { formatInstant } from '../../../core/time.ts';
import type { ExplainedPrice } from '../../../rating/explain/explanation.ts';
import { exactValue, given, timestamp, uuid } from '../../wire/fields.ts';
import { rateSchema, rateToWire } from '../rate-cards/rate-schemas.ts';
import { creditTypeOf, type InvoiceView } from './invoice-view.ts';

export const priceSchema = z
  .object({
    list_rate: z
      .object({
        rate_card_id: uuid,
        rate_id: uuid,
        starting_at: timestamp,
        ending_before: timestamp.optional(),
        rate: rateSchema,
      })
      .optional()
      .meta({ description: 'The rate of the card in force; absent if only an override sets the price.' }),
    list_price: exactValue.optional().meta({ description: 'The price in the tier of this line.' }),
    override: z
      .object({
        id: uuid,
        type: z.enum(['OVERWRITE', 'MULTIPLIER', 'TIERED']).optional(),
        rule: z.string(),
        multiplier: exactValue.optional(),
        starting_at: timestamp,
        ending_before: timestamp.optional(),
      })
      .optional(),
    is_commit_rate: z.literal(true).optional().meta({
      description: 'A balance counts at the commit rate of the card, which `list_rate` shows then.',
    }),
    rate: rateSchema.meta({ description: 'The rate that is charged.' }),
    tier: z.object({ level: z.int(), above: exactValue, up_to: exactValue.optional() }),
  })
  .meta({ id: 'ExplainedPrice' });

export function priceToWire(
  { listed, listPrice, applied, rate, band, isCommitRate }: ExplainedPrice,
  creditTypeId: string,
  view: InvoiceView,
): z.input<typeof priceSchema> {
  return {
    list_rate: given(listed, (one) => ({
      rate_card_id: one.rateCardId,
      rate_id: one.id,
      starting_at: formatInstant(one.startingAt),
      ending_before: given(one.endingBefore, formatInstant),
      rate: rateToWire(one.rate, one.pricingGroupValues, creditTypeOf(one.creditTypeId, view)),
    })),
    list_price: listPrice ?? undefined,
    override: given(applied, overrideToWire),
    is_commit_rate: isCommitRate || undefined,
    rate: rateToWire(rate, {}, creditTypeOf(creditTypeId, view)),
    tier: {
      level: band.level,
      above: band.startingAt,
      up_to: band.end ?? undefined,
    },
  };
}

const RULES = {
  OVERWRITE: 'replaces the list price; of several in force the one added last',
  MULTIPLIER:
    'multiplies the list price; of several in force the one with the highest priority, then the smallest',
  TIERED: 'multiplies the list price in ranges of the quantity; above its last range the list price applies',
} as const;

function overrideToWire({
  override: { id, type, startingAt, endingBefore },
  multiplier,
}: NonNullable<ExplainedPrice['applied']>): NonNullable<z.input<typeof priceSchema>['override']> {
  return {
    id,
    type: type ?? undefined,
    rule: RULES[type ?? 'OVERWRITE'],
    multiplier: multiplier ?? undefined,
    starting_at: formatInstant(startingAt),
    ending_before: given(endingBefore, formatInstant),
  };
}
