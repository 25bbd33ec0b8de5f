/** What a check of `tallyhouse doctor` has found. */

export interface Finding {
  /** What was looked at: one or two words. */
  readonly check: string;
  readonly isFine: boolean;
  /** What is there, or what is wrong and what to do, in one sentence. */
  readonly message: string;
}

export function fine(check: string, message: string): Finding {
  return { check, isFine: true, message };
}

export function wrong(check: string, message: string): Finding {
  return { check, isFine: false, message };
}

/** What a check could not find out is wrong too: nothing is passed over. */
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

/** What a driver says stands below what is said of its statement. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.name !== 'StoreFailure'
    ? reasonOf(error.cause)
    : error.message;
}
