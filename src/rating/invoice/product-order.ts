/** The order of products on an invoice: that of the rate card, those missing from it afterwards by name. */
import { compareText } from '../usage/group-values.ts';

export interface NamedProduct {
  readonly id: string;
  /** The name that sorts the product, one for all its lines. */
  readonly name: string;
}

/** The products in the order in which their lines stand. `productOrder` lists product ids. */
export function sortProducts<P extends NamedProduct>(
  products: readonly P[],
  productOrder: readonly string[],
): P[] {
  const positions = new Map(productOrder.map((id, index) => [id, index]));
  const positionOf = (product: P) => positions.get(product.id) ?? productOrder.length;
  return [...products].sort(
    (a, b) => positionOf(a) - positionOf(b) || compareText(a.name, b.name) || compareText(a.id, b.id),
  );
}
