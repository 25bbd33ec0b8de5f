/** Waits with a timeout. */
import { Refusal } from '../core/errors.ts';

/**
 * The result of `work` if it arrives within `limitMs`. Otherwise refuses with `unavailable` and `message`; the work
 * itself is not stopped, and its later failure is ignored.
 */
export async function within<Result>(
  limitMs: number,
  work: Promise<Result>,
  message: string,
): Promise<Result> {
  work.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Refusal('unavailable', message)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
