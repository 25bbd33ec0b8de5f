/** Price changes of AI providers that managed cards have not adopted. */
import { invalid, notFound } from '../../core/errors.ts';
import { cutPage, type Page, type PageRequest } from '../../core/paging.ts';
import {
  findManagedCard,
  loadManagedModels,
  type ManagedModel,
} from '../../store/token-billing/managed-rate-cards.ts';
import { loadTokenModels } from '../../store/token-billing/token-prices.ts';
import type { RowContext } from '../billing-context.ts';
import { getRateCard } from '../rate-cards/rate-cards.ts';
import { repricedModels } from './sync-cards.ts';

/** A model whose provider has another price than the card's rate is computed from. */
export interface PendingRepricing {
  readonly present: ManagedModel;
  readonly next: ManagedModel;
}

/**
 * A page of the price changes that a card has not adopted; a page starts after the product where the one before ended.
 * Refuses a card that is unknown or not managed (`not_found`), and a position of another card (`invalid`).
 */
export async function pendingRepricing(
  context: RowContext,
  rateCardId: string,
  { after, limit }: PageRequest<string>,
): Promise<Page<PendingRepricing, string>> {
  await getRateCard(context, rateCardId);
  const card = await findManagedCard(context.db, rateCardId);
  if (card === null) throw notFound('managed rate card', rateCardId);
  const models = await loadManagedModels(context.db, [card.rateCardId]);
  const last = models.findIndex(({ productId }) => productId === after);
  if (after !== null && last === -1) throw invalid(['nextPage'], 'must be of this rate card');
  const byProduct = new Map(models.map((row) => [row.productId, row]));
  const next = repricedModels(models.slice(last + 1), await loadTokenModels(context.db), context.clock.now());
  const rows = next.flatMap((row) => {
    const present = byProduct.get(row.productId);
    return present === undefined ? [] : [{ present, next: row }];
  });
  return cutPage(rows, limit, ({ present }) => present.productId);
}
