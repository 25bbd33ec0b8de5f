/** The memory available to the process: that of the machine, or of its container if that has less. */
import { totalmem } from 'node:os';

/** In bytes. */
export function memoryOfProcess(): number {
  const constrained = process.constrainedMemory();
  // Without a constraint it is 0, or more than any machine has.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** How many objects of this size are held in memory at once, given the memory of the process. */
export function countByMemory(bytesOfEach: number, { least, most }: { least: number; most: number }): number {
  return Math.min(most, Math.max(least, Math.floor(memoryOfProcess() / bytesOfEach)));
}
