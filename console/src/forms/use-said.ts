/** An answer about what a form has now: a change of the form forgets it. */
import { useState } from 'react';

export type Said<Answer> =
  | { readonly state: 'asking' }
  | { readonly state: 'shown'; readonly answer: Answer }
  | { readonly state: 'refused'; readonly error: unknown };

interface Asking<Answer> {
  /** Null: nothing was asked about this text. */
  readonly said: Said<Answer> | null;
  ask(run: () => Promise<Answer>): Promise<void>;
  refuse(error: unknown): void;
}

/** `text` has all that the answer depends on. */
export function useSaid<Answer>(text: string): Asking<Answer> {
  const [last, setLast] = useState<{ readonly text: string; readonly said: Said<Answer> } | null>(null);
  const say = (said: Said<Answer>) => setLast({ text, said });
  return {
    said: last?.text === text ? last.said : null,
    async ask(run) {
      say({ state: 'asking' });
      try {
        say({ state: 'shown', answer: await run() });
      } catch (error) {
        say({ state: 'refused', error });
      }
    },
    refuse: (error) => say({ state: 'refused', error }),
  };
}
