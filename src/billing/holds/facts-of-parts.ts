/** Facts of the parts of a hold. */

import type { ChargeClass } from '../../rating/holds/charged-slot.ts';
import type { HoldPart } from '../../rating/holds/hold-book.ts';

/** With more payers a hold stores none: every hold would be written with the whole list. */
const PAYERS_MAX = 50;

/** The unit of all parts, which is the same. */

export function unitOf([part]: readonly HoldPart[]): string {
  if (part === undefined) throw new Error('a hold takes something');
  return chargeOf(part).creditTypeId;
}

/** The segments of balances that may pay for a part; null: too many to store. */
export function payersOf(parts: readonly HoldPart[]): string[] | null {
  const payers = new Set(parts.flatMap((part) => chargeOf(part).segmentIds));
  return payers.size > PAYERS_MAX ? null : [...payers];
}

function chargeOf(part: HoldPart): ChargeClass {
  return 'slot' in part ? part.slot.charge : part.charge;
}
