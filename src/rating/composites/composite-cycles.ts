/**
 * Composite products that would be part of their own base. Pure.
 *
 * A composite counts the spend of the products that it names by id or by tag; of composites only if it
 * opts in (`include_composite_spend`). A chain of such composites must not come back to its start.
 */
import type { ProductVersion } from '../../core/catalogue.ts';

/** What decides which products a composite counts, and which composites count it. */
interface CompositeVersion extends Pick<ProductVersion, 'startingAt' | 'tags'> {
  readonly compositeProductIds: readonly string[];
  readonly compositeTags: readonly string[];
  readonly includeCompositeSpend: boolean;
}

interface Composite {
  readonly id: string;
  /** The initial version first, then by `startingAt`. */
  readonly versions: readonly CompositeVersion[];
}

/**
 * The ids on the way from a product back to itself, at whatever time that happens; null where it never
 * does. `composites` are all composite products, that one among them.
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

/** Searches breadth first, so that the shortest way is told. */
function wayBack(
  inForce: ReadonlyMap<string, CompositeVersion | undefined>,
  productId: string,
): string[] | null {
  const ways: string[][] = [[productId]];
  const seen = new Set<string>();
  for (const way of ways) {
    const from = inForce.get(way.at(-1) ?? '');
    if (from === undefined) continue;
    for (const [id, version] of inForce) {
      if (version === undefined || !counts(from, id, version)) continue;
      if (id === productId) return way;
      if (seen.has(id)) continue;
      seen.add(id);
      ways.push([...way, id]);
    }
  }
  return null;
}

function counts(composite: CompositeVersion, id: string, version: CompositeVersion): boolean {
  if (!composite.includeCompositeSpend) return false;
  return (
    composite.compositeProductIds.includes(id) ||
    composite.compositeTags.some((tag) => version.tags.includes(tag))
  );
}
