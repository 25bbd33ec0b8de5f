/** Warnings of commits and credits whose rollover is empty. */
import { warningsToWire } from './answer-warnings.ts';

export function noRolloverToWire(messages: readonly string[]): ReturnType<typeof warningsToWire> {
  return warningsToWire(messages.map((message) => ({ code: 'no_rollover', message })));
}
