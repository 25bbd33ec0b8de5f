/** The memory that the process may have: of the machine, or of its container where that has less. */
import { totalmem } from 'node:os';

/** In bytes. */
export function memoryOfProcess(): number {
  const constrained = process.constrainedMemory();
  // Without a constraint it is 0, or more than any machine has.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
