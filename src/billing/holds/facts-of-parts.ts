/** Facts of the parts of a hold. */

import type { ChargeClass } from '../../rating/holds/charged-slot.ts';
import type { HoldPart } from '../../rating/holds/hold-book.ts';

/** Of more nobody needs to know which: each hold is written with them. */
const PAYERS_MAX = 50;

/** The unit in which they are charged: they all have the same. */

export function unitOf([part]: readonly HoldPart[]): string {
  if (part === undefined) throw new Error('a hold takes something');
  return chargeOf(part).creditTypeId;
}

/** The segments of balances that may pay for one of them; null: they are many. */
export function payersOf(parts: readonly HoldPart[]): string[] | null {
  const payers = new Set(parts.flatMap((part) => chargeOf(part).segmentIds));
  return payers.size > PAYERS_MAX ? null : [...payers];
}

function chargeOf(part: HoldPart): ChargeClass {
  return 'slot' in part ? part.slot.charge : part.charge;
}
