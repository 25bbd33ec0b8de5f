/** The finding of a check of `tallyhouse doctor`. */

export interface Finding {
  /** The subject of the check: one or two words. */
  readonly check: string;
  readonly isFine: boolean;
  /** No problem was found, but the check could not be completed. */
  readonly isUnknown?: boolean;
  /** The state that was found, or the problem and its remedy, in one sentence. */
  readonly message: string;
}

export function fine(check: string, message: string): Finding {
  return { check, isFine: true, message };
}

/** A check that the settings do not permit: not a failure, but needs attention. */
export function unknown(check: string, message: string): Finding {
  return { check, isFine: true, isUnknown: true, message };
}

export function wrong(check: string, message: string): Finding {
  return { check, isFine: false, message };
}

/** A check that fails is a finding too: nothing is skipped. */
export async function looked(
  check: string,
  work: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await work();
  } catch (error) {
    return [wrong(check, reasonOf(error).split('\n', 1).join(''))];
  }
}

/** The message of a driver is in the cause of the statement's error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.name !== 'StoreFailure'
    ? reasonOf(error.cause)
    : error.message;
}
