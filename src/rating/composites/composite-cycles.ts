/**
 * Finds cycles of composite products, which must not be part of their base. Pure.
 *
 * A composite counts the spend of products that it names by id or tag. It counts composites only if it opts in
 * (`include_composite_spend`).
 */
import type { CompositeTerms, ProductVersion } from '../../core/catalogue.ts';
import { countsProduct } from './composite-parts.ts';

/** The terms that decide which products a composite counts, and which composites count it. */
type CompositeVersion = Pick<ProductVersion, 'startingAt' | 'tags'> &
  Omit<CompositeTerms, 'excludeFreeUsage'>;

interface Composite {
  readonly id: string;
  /** The initial version first, then by `startingAt`. */
  readonly versions: readonly CompositeVersion[];
}

/**
 * The ids of a cycle through the product, at any time; null if there is none. `composites` are all composite
 * products, including that one.
 */
export function compositeCycle(composites: readonly Composite[], productId: string): string[] | null {
  const starts = new Set(composites.flatMap(({ versions }) => versions.map(startOf)));
  for (const at of starts) {
    const inForce = new Map(
      composites.map(({ id, versions }) => [id, versions.findLast((version) => startOf(version) <= at)]),
    );
    const cycle = wayBack(inForce, productId);
    if (cycle !== null) return cycle;
  }
  return null;
}

function startOf({ startingAt }: CompositeVersion): number {
  return startingAt ?? Number.NEGATIVE_INFINITY;
}

/** Breadth first, so the shortest cycle is found. */
function wayBack(
  inForce: ReadonlyMap<string, CompositeVersion | undefined>,
  productId: string,
): string[] | null {
  const ways: string[][] = [[productId]];
  const seen = new Set<string>();
  for (const way of ways) {
    const from = inForce.get(way.at(-1) ?? '');
    if (from === undefined) continue;
    for (const id of countedBy(from, inForce)) {
      if (id === productId) return way;
      if (seen.has(id)) continue;
      seen.add(id);
      ways.push([...way, id]);
    }
  }
  return null;
}

/** The composites that a composite counts. */
function countedBy(from: CompositeVersion, inForce: ReadonlyMap<string, CompositeVersion | undefined>) {
  return [...inForce].flatMap(([id, version]) =>
    version !== undefined && countsProduct(from, { id, ...version, isComposite: true }) ? [id] : [],
  );
}
