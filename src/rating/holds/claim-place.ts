/** The place of a claim among the claims of all drafts of customers who share balances. Pure. */
import { type Claim, compareServed } from '../balances/draw-down.ts';

/** A draft, and the order of a claim within it. Without ids: two claims may have the same place. */
export interface ClaimPlace
  extends Pick<Claim, 'productType' | 'unitPrice' | 'name' | 'groupValues' | 'interval'> {
  /** The position of the draft in the order of drawdown. */
  readonly draft: number;
}

export function comparePlaces(a: ClaimPlace, b: ClaimPlace): number {
  return a.draft - b.draft || compareServed(a, b);
}

export function claimPlace(
  draft: number,
  { productType, unitPrice, name, groupValues, interval }: Omit<ClaimPlace, 'draft'>,
): ClaimPlace {
  return { draft, productType, unitPrice, name, groupValues, interval };
}
