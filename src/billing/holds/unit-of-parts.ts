/** The unit in which parts of a hold are charged: they all have the same. */
import type { HoldPart } from '../../rating/holds/hold-book.ts';

export function unitOf([part]: readonly HoldPart[]): string {
  if (part === undefined) throw new Error('a hold takes something');
  return ('slot' in part ? part.slot.charge : part.charge).creditTypeId;
}
