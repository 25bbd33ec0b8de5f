/** How commands end: their exit codes, and failures that the operator can fix. */

/** Exit codes of every command. A command with more codes lists them in its help. */
export const EXIT = { done: 0, failed: 1, wrongCall: 2 } as const;

/** The command cannot do its work. The message is for the operator, without a stack. */
export class CommandFailure extends Error {
  override readonly name: string = 'CommandFailure';
  readonly exitCode: number;

  constructor(message: string, options: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options);
    this.exitCode = options.exitCode ?? EXIT.failed;
  }
}

/** An invalid argument; the message names it. */
export class WrongCall extends CommandFailure {
  override readonly name = 'WrongCall';

  constructor(message: string) {
    super(message, { exitCode: EXIT.wrongCall });
  }
}

type ErrorClass = abstract new (...args: never[]) => Error;

/** Errors of these classes become failures with their message. */
export async function failingWith<Result>(
  expected: readonly ErrorClass[],
  work: () => Promise<Result>,
  exitCode: number = EXIT.failed,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const isKnown = error instanceof Error && expected.some((known) => error instanceof known);
    throw isKnown ? new CommandFailure(error.message, { cause: error, exitCode }) : error;
  }
}
