/**
 * Enough for a function to reach its first statement, unless it waits for another answer before. They end before
 * anything is sent, so they cost no additional time.
 */
const MICROTASKS = 10;

/**
 * Does work of one transaction whose parts do not wait for one another. They begin in the order given, each before the
 * next one, and their first statements are sent in one message: PostgreSQL carries them out in that order, so the order
 * of locks is the same as if each part was awaited. Rejects with the first refusal in the order given, whichever came
 * first.
 */
export async function sentTogether<Answers extends readonly unknown[]>(
  ...work: { readonly [Place in keyof Answers]: () => PromiseLike<Answers[Place]> }
): Promise<Answers> {
  const begun: Promise<unknown>[] = [];
  for (const begin of work) {
    const one = Promise.resolve(begin());
    // Statements after a refusal are not waited for, and their transaction is rolled back.
    one.catch(() => undefined);
    begun.push(one);
    for (let turn = 0; turn < MICROTASKS; turn += 1) await undefined;
  }
  const answers: unknown[] = [];
  for (const one of begun) answers.push(await one);
  return answers as unknown as Answers;
}
