/** The order of a card's products, in which invoices list them. */
import { type FieldPath, invalid, notFound } from '../../core/errors.ts';
import type { Transaction } from '../../store/base/database.ts';
import { lockRateCard, rateCardProductOrder, setProductOrder } from '../../store/rate-cards/rate-cards.ts';
import type { RowContext } from '../billing-context.ts';

/**
 * Puts the named products first, in this order; the others follow in the order they had. Refuses an
 * unknown card (`not_found`), products that have no rates on it and repeats (`invalid`, naming the field).
 */
export async function setRateCardProductsOrder(
  context: Pick<RowContext, 'db'>,
  rateCardId: string,
  productIds: readonly string[],
): Promise<void> {
  await changeOrder(context, rateCardId, (current) => {
    const onCard = new Set(current);
    const named = new Set<string>();
    for (const [index, id] of productIds.entries()) {
      checkProduct(onCard, id, named.has(id), ['productIds', index]);
      named.add(id);
    }
    return [...productIds, ...current.filter((id) => !named.has(id))];
  });
}

export interface ProductMove {
  readonly productId: string;
  /** The position of the product after all moves, from 0. */
  readonly position: number;
}

/**
 * Moves single products; the others keep their order around them. Refuses an unknown card (`not_found`),
 * products that have no rates on it, repeats, and places that do not exist or are given twice (`invalid`).
 */
export async function moveRateCardProducts(
  context: Pick<RowContext, 'db'>,
  rateCardId: string,
  moves: readonly ProductMove[],
): Promise<void> {
  await changeOrder(context, rateCardId, (current) => {
    const onCard = new Set(current);
    const moved = new Set<string>();
    const placed = new Map<number, string>();
    for (const [index, { productId, position }] of moves.entries()) {
      const field = ['moves', index];
      checkProduct(onCard, productId, moved.has(productId), [...field, 'productId']);
      if (position >= current.length) {
        throw invalid([...field, 'position'], `must be less than ${current.length}, the number of products`);
      }
      if (placed.has(position)) throw invalid([...field, 'position'], `is given twice: ${position}`);
      moved.add(productId);
      placed.set(position, productId);
    }
    return around(
      placed,
      current.filter((id) => !moved.has(id)),
    );
  });
}

/** The placed products at their positions, the others in their order around them. */
function around(placed: ReadonlyMap<number, string>, others: readonly string[]): string[] {
  const order: string[] = [];
  for (const id of others) {
    addPlaced(order, placed);
    order.push(id);
  }
  addPlaced(order, placed);
  return order;
}

function addPlaced(order: string[], placed: ReadonlyMap<number, string>): void {
  for (let next = placed.get(order.length); next !== undefined; next = placed.get(order.length)) {
    order.push(next);
  }
}

async function changeOrder(
  context: Pick<RowContext, 'db'>,
  rateCardId: string,
  change: (current: readonly string[]) => readonly string[],
): Promise<void> {
  await context.db.transaction(async (tx) => {
    const card = await lockRateCard(tx, rateCardId);
    if (card === null) throw notFound('rate card', rateCardId);
    await setProductOrder(tx, card.id, change(await currentOrder(tx, card.id)));
  });
}

async function currentOrder(tx: Transaction, rateCardId: string): Promise<readonly string[]> {
  return (await rateCardProductOrder(tx, [rateCardId])).get(rateCardId) ?? [];
}

function checkProduct(onCard: ReadonlySet<string>, id: string, repeated: boolean, field: FieldPath): void {
  if (!onCard.has(id)) throw invalid(field, `product ${id} has no rates on this rate card`);
  if (repeated) throw invalid(field, `repeats product ${id}`);
}
