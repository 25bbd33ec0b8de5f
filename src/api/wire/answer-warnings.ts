/** Warnings of an answer to a write: it is done, and has an effect that its author may not expect. */
import { z } from 'zod';

const warning = z
  .object({
    code: z.string().meta({ description: 'What it is about, for programs.' }),
    message: z.string().meta({ description: 'What to do about it.' }),
  })
  .meta({ id: 'AnswerWarning' });

export const answerWarnings = z
  .array(warning)
  .optional()
  .meta({ description: 'Effects to know of; absent without one.' });

/** The member of an answer; none without a warning. */
export function warningsToWire(warnings: readonly z.input<typeof warning>[]): {
  warnings?: z.input<typeof warning>[];
} {
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
}
