/** The order of products on an invoice: in rate card order, then products not on the card by name. */
import { compareText } from '../quantities/group-values.ts';

export interface NamedProduct {
  readonly id: string;
  /** The name to sort by, the same for all lines of the product. */
  readonly name: string;
}

/** The products in invoice order. `productOrder` lists product ids. */
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
