/**
 * Warnings of an answer to a write: it is done, and has an effect that its author may not expect, or a part of the request
 * has none.
 */
import { z } from 'zod';

const warning = z
  .object({
    field: z
      .string()
      .optional()
      .meta({ description: 'The field of the request that the warning is about, if any.' }),
    code: z.string().optional().meta({ description: 'A code for programs; absent for an ignored field.' }),
    message: z.string().meta({ description: 'The problem, and how to fix it.' }),
  })
  .meta({ id: 'AnswerWarning' });

export type AnswerWarning = z.input<typeof warning>;

export const answerWarnings = z
  .array(warning)
  .optional()
  .meta({
    description:
      'Effects to know of, with a `code`, and fields of the request that are accepted and ignored, with `field`; absent ' +
      'without one.',
  });

/** The member of an answer; none without a warning. */
export function warningsToWire(warnings: readonly AnswerWarning[]): { warnings?: AnswerWarning[] } {
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
}

/** The answer with these warnings after its own. */
export function withMoreWarnings(answer: object, more: readonly AnswerWarning[]): object {
  const own = 'warnings' in answer && Array.isArray(answer.warnings) ? answer.warnings : [];
  return { ...answer, ...warningsToWire([...own, ...more]) };
}
