/**
 * Parts of one transaction that do not wait for one another: each begins when the statement of the part before was sent,
 * instead of when it was answered. PostgreSQL carries statements out in the order in which they are sent, so the order
 * of locks is that of the parts.
 */
import { createScopeKey } from '../../runtime/request-scope.ts';

/** Called when a statement of the part is sent. */
const part = createScopeKey<() => void>('part of a transaction');

/** The connections of `database.ts` call this with each statement that they send. */
export function statementSent(): void {
  part.get()?.();
}

/**
 * Begins the parts in the order given, each when the one before has sent its first statement or has ended, and returns
 * their answers. First statements that follow one another in one turn of the event loop are sent in one message.
 * Rejects with the first refusal in the order given, whichever part is refused first.
 */
export async function sentTogether<Answers extends readonly unknown[]>(
  ...parts: { readonly [Place in keyof Answers]: () => PromiseLike<Answers[Place]> }
): Promise<Answers> {
  const begun: Promise<unknown>[] = [];
  for (const begin of parts) {
    const { answer, sentOrEnded } = beginPart(begin);
    begun.push(answer);
    await sentOrEnded;
  }
  const answers: unknown[] = [];
  for (const one of begun) answers.push(await one);
  return answers as unknown as Answers;
}

function beginPart(begin: () => PromiseLike<unknown>): {
  readonly answer: Promise<unknown>;
  readonly sentOrEnded: Promise<void>;
} {
  const outer = part.get();
  let resolve = () => {};
  const sentOrEnded = new Promise<void>((settle) => {
    resolve = settle;
  });
  // A statement of an inner part also counts as one of the outer part.
  const sent = () => {
    resolve();
    outer?.();
  };
  const run = async () => {
    try {
      return await begin();
    } finally {
      resolve();
    }
  };
  const answer = part.run(sent, run);
  // Refusals are read in order, above. Later statements are not awaited: their transaction is rolled back.
  answer.catch(() => undefined);
  return { answer, sentOrEnded };
}
