import { Decimal } from './decimal.ts';

/** Freezes plain values before they are shared: a write to one throws. Decimals never change. */
export function freezeDeeply<Value extends object>(value: Value): Value {
  for (const member of Object.values(value) as unknown[]) {
    if (typeof member === 'object' && member !== null && !(member instanceof Decimal)) freezeDeeply(member);
  }
  return Object.freeze(value);
}
