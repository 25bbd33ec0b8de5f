/**
 * The base of a composite at volume percentages, hour by hour: its charge is the percentage of the tier that the whole
 * base reaches, so an hour in which the base enters another tier changes the charge of all hours before it. Pure.
 */
import { type Decimal, sum, ZERO } from '../../core/decimal.ts';
import { bandAt, hasVolumePrices } from '../rates/tiers.ts';
import type { PercentageSpan } from './percentage-spans.ts';

export class VolumeBase {
  /** The base counted in each span of volume percentages on one invoice. */
  private readonly parts = new Map<PercentageSpan, Decimal>();
  private charged = ZERO;

  /** Starts another invoice of the billing period: what the one before charged stays as it is. */
  startInvoice(): void {
    this.parts.clear();
    this.charged = ZERO;
  }

  /**
   * Counts an increment, after which the whole base is `position`. Returns by how much that changes the charge; the
   * increment itself only if its span has volume percentages.
   */
  add(span: PercentageSpan | undefined, increment: Decimal, position: Decimal): Decimal {
    if (span !== undefined && hasVolumePrices(span.rate)) {
      this.parts.set(span, (this.parts.get(span) ?? ZERO).plus(increment));
    }
    if (this.parts.size === 0) return ZERO;
    const now = sum([...this.parts].map(([{ bands }, base]) => base.times(bandAt(bands, position).price)));
    const change = now.minus(this.charged);
    this.charged = now;
    return change;
  }
}
