/**
 * The quantities of a subscription in one billing period that are not billed yet (docs/explanation/subscriptions.md,
 * "Quantities"). Pure.
 *
 * Only the highest quantity so far counts in a period: a decrease gives nothing back, and an increase owes the units
 * above that maximum. Each billed charge covers a quantity for some time. The owed quantity that is not covered is cut
 * into charges, one for each increase, so that any change in a time that is billed already charges only the difference.
 */
import { type Decimal, maximum, minimum, sum, ZERO } from '../../core/decimal.ts';
import { type Instant, type Interval, intersect } from '../../core/time.ts';
import type { QuantityStep } from '../quantities/subscription-quantities.ts';

/** A quantity for some time, above `level` units that are already covered. */
export interface OpenQuantity {
  readonly interval: Interval;
  readonly level: Decimal;
  readonly quantity: Decimal;
}

interface CoveredQuantity {
  readonly interval: Interval;
  readonly quantity: Decimal;
}

export interface PeriodQuantities {
  readonly period: Interval;
  /** The steps of the subscription, ascending. */
  readonly steps: readonly QuantityStep[];
  /** The billed charges of the period. */
  readonly covered: readonly CoveredQuantity[];
  /** Units that are not billed in the period. */
  readonly exempt: Decimal;
  /** Without proration a unit is charged for the whole period, whenever it was added. */
  readonly isProrated: boolean;
}

/** Ordered by start; with the same start the longer one first. */
export function openQuantities(input: PeriodQuantities): OpenQuantity[] {
  const { period } = input;
  const stack = createStack();
  let highest = ZERO;
  for (const cell of cellsOf(input)) {
    highest = maximum(highest, quantityAt(input.steps, cell.start));
    const paid = input.exempt.plus(coveredAt(input, cell.start));
    stack.raiseTo(maximum(highest.minus(paid), ZERO), highest, cell.start);
  }
  return stack
    .closeAll(period.end)
    .sort((a, b) => a.interval.start - b.interval.start || b.interval.end - a.interval.end);
}

/** The quantity from the last step at or before `at`, found by binary search: a subscription may have thousands. */
export function quantityAt(steps: readonly QuantityStep[], at: Instant): Decimal {
  let [known, later] = [-1, steps.length];
  while (later - known > 1) {
    const middle = (known + later) >> 1;
    if ((steps[middle]?.at ?? at) <= at) known = middle;
    else later = middle;
  }
  return steps[known]?.quantity ?? ZERO;
}

/** The highest quantity in the interval. */
export function highestQuantity(steps: readonly QuantityStep[], { start, end }: Interval): Decimal {
  const inside = steps.filter(({ at }) => start < at && at < end).map(({ quantity }) => quantity);
  return inside.reduce(maximum, quantityAt(steps, start));
}

/** The period, cut wherever the quantity or the coverage changes. */
function cellsOf({ period, steps, covered }: PeriodQuantities): Interval[] {
  const changes = [
    ...steps.map(({ at }) => at),
    ...covered.flatMap(({ interval }) => [interval.start, interval.end]),
  ];
  const inside = changes.filter((at) => period.start < at && at < period.end);
  const starts = [...new Set([period.start, ...inside])].sort((a, b) => a - b);
  return starts.map((start, index) => ({ start, end: starts[index + 1] ?? period.end }));
}

function coveredAt({ covered, isProrated }: PeriodQuantities, at: Instant): Decimal {
  const moment = { start: at, end: at + 1 };
  const inForce = covered.filter(({ interval }) => !isProrated || intersect(moment, interval) !== null);
  return sum(inForce.map(({ quantity }) => quantity));
}

/** Units that are currently owed, each with its start. The last added are the first removed. */
function createStack() {
  let open: { readonly start: Instant; readonly level: Decimal; readonly quantity: Decimal }[] = [];
  const closed: OpenQuantity[] = [];
  const height = () => sum(open.map(({ quantity }) => quantity));
  const lowerBy = (excess: Decimal, at: Instant) => {
    let left = excess;
    for (let top = open.at(-1); top !== undefined && left.gt(ZERO); top = open.at(-1)) {
      const gone = minimum(left, top.quantity);
      const rest = top.quantity.minus(gone);
      closed.push({
        interval: { start: top.start, end: at },
        level: top.level.plus(rest),
        quantity: gone,
      });
      open = open.slice(0, -1);
      if (rest.gt(ZERO)) open.push({ ...top, quantity: rest });
      left = left.minus(gone);
    }
  };
  return {
    /** `top` is the number of all units, `owed` the number of unpaid units. */
    raiseTo(owed: Decimal, top: Decimal, at: Instant): void {
      const more = owed.minus(height());
      if (more.gt(ZERO)) open.push({ start: at, level: top.minus(more), quantity: more });
      else lowerBy(ZERO.minus(more), at);
    },
    closeAll(at: Instant): OpenQuantity[] {
      lowerBy(height(), at);
      return closed;
    },
  };
}
