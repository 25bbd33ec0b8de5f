/** The place of a claim among all that the drafts of customers who share balances make on them. Pure. */
import { type Claim, compareServed } from '../balances/draw-down.ts';

/** A draft, and in it what claims are served by. Without ids: two claims may have the same place. */
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
