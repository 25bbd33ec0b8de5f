/**
 * The charges of usage at the prices of its payers on the invoice: by the drawdown of the invoice, of the claims of
 * drafts and of the usage since. Pure.
 */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { type BookedBucket, createBalanceBook } from '../balances/balance-book.ts';
import { type Claim, drawDown } from '../balances/draw-down.ts';
import { paidBands, walkPaidBands } from '../balances/paid-bands.ts';
import { compareText } from '../quantities/group-values.ts';
import { sameBands } from '../rates/tiers.ts';
import type { ChargedSlot, SlotTerms } from './charged-slot.ts';
import { type ClaimPlace, comparePlaces } from './claim-place.ts';
import type { DrawnClaim } from './drawn-runs.ts';
import { volumeTiers } from './volume-cost.ts';

interface PlacedClaim {
  readonly place: ClaimPlace;
  readonly claim: Claim;
}

export class BilledUsage {
  private readonly buckets: readonly BookedBucket[];
  private readonly drawn: readonly DrawnClaim[];
  private readonly isDrawnAlike: boolean;

  /** `drawn`: everything that drafts take of `buckets`. */
  constructor(buckets: readonly BookedBucket[], drawn: readonly DrawnClaim[]) {
    this.buckets = buckets;
    this.drawn = drawn;
    this.isDrawnAlike = drawn.every(({ claim }) => hasOnePrice(claim));
  }

  /**
   * A number that grows by the amount that usage in the slots of `own` adds to the charges of their drafts. `used`: all
   * slots, with the usage since the drafts. Null if unknown.
   */
  costOf(own: readonly SlotTerms[], used: readonly ChargedSlot[]): Decimal | null {
    if (own.some(({ billing }) => billing.prices === 'unknown')) return null;
    const all = [...own, ...used.map(({ terms }) => terms)];
    const isAlike = this.isDrawnAlike && all.every(({ billing }) => billing.prices === 'alike');
    const isDrawn = ({ place, billing }: SlotTerms) => !isAlike && place !== null && billing.claim !== null;
    const drawn = new Set(own.filter(isDrawn).map(({ key }) => key));
    const keys = new Set(own.map(({ key }) => key));
    const plain = used.filter(({ terms }) => keys.has(terms.key) && !drawn.has(terms.key));
    const cost = sum(plain.map((slot) => slot.cost));
    if (drawn.size === 0) return cost;
    const drafts = new Set(own.flatMap(({ place }) => place?.draft ?? []));
    if (this.haveVolumePrices(drafts, used)) return null;
    return cost.plus(this.chargesOf(drafts, used));
  }

  /** Whether usage elsewhere on the drafts may change the price of earlier units, by the payer that it gets. */
  private haveVolumePrices(drafts: ReadonlySet<number>, used: readonly ChargedSlot[]): boolean {
    const isVolume = ({ list, claimants }: Claim) =>
      [list, ...claimants.map(({ bands }) => bands)].some((bands) => volumeTiers(bands) !== null);
    return (
      this.drawn.some(({ place, claim }) => drafts.has(place.draft) && isVolume(claim)) ||
      // Usage at volume prices has no known place among the claims.
      used.some(({ terms: { billing } }) => billing.claim !== null && isVolume(billing.claim))
    );
  }

  /** The charges of the claims of these drafts. */
  private chargesOf(drafts: ReadonlySet<number>, used: readonly ChargedSlot[]): Decimal {
    const claims: PlacedClaim[] = [...this.drawn];
    for (const slot of used) {
      const { place, billing } = slot.terms;
      if (place === null || billing.claim === null) continue;
      claims.push({ place, claim: { ...billing.claim, ...slot.range, overshoots: false } });
    }
    // Within one counter, claims of the draft precede later usage: the sort is stable.
    claims.sort((a, b) => comparePlaces(a.place, b.place) || compareText(a.claim.key, b.claim.key));
    const book = createBalanceBook(this.buckets);
    let charges = ZERO;
    for (const { place, claim } of claims) {
      const coverings = drawDown([claim], book)[0]?.coverings ?? [];
      if (!drafts.has(place.draft)) continue;
      const walked = walkPaidBands(paidBands(claim.list, coverings), claim.from, claim.to);
      charges = charges.plus(sum(walked.map(({ amount }) => amount)));
    }
    return charges;
  }
}

function hasOnePrice({ claimants, list }: Claim): boolean {
  return claimants.every(({ bands }) => sameBands(bands, list));
}
