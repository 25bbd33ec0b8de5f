/** The memory that the process may have: of the machine, or of its container where that has less. */
import { totalmem } from 'node:os';

/** In bytes. */
export function memoryOfProcess(): number {
  const constrained = process.constrainedMemory();
  // Without a constraint it is 0, or more than any machine has.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** How many things of this size are held in memory at once, where the process has as much memory as here. */
export function countByMemory(bytesOfEach: number, { least, most }: { least: number; most: number }): number {
  return Math.min(most, Math.max(least, Math.floor(memoryOfProcess() / bytesOfEach)));
}
