/** Exit codes and failures of a backfill; docs/how-to/backfill.md describes the codes. */
import { CommandFailure } from '../../failures/command-failure.ts';

export const EXIT = {
  complete: 0,
  failed: 1,
  usage: 2,
  invalidLine: 3,
  completeWithSkipped: 4,
  interrupted: 130,
} as const;

/** A backfill that cannot start or continue. The message is for the operator, without a stack. */
export class BackfillFailure extends CommandFailure {
  override readonly name = 'BackfillFailure';

  constructor(message: string, exitCode: number = EXIT.failed) {
    super(message, { exitCode });
  }
}

/** The file cannot be read beyond the preceding batches. */
export class InputFailure extends BackfillFailure {}
