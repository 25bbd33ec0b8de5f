/** The values of a form, which are its draft in the browser from the first change on. */
import { useState } from 'react';
import { draftOf, keepDraft } from './drafts.ts';
import type { Values } from './field.ts';

interface Draft {
  readonly values: Values;
  /** Whether the draft was kept from an earlier visit. */
  readonly isKept: boolean;
  change(next: (before: Values) => Values): void;
  discard(): void;
}

export function useDraft(name: string, start: Values): Draft {
  const [kept] = useState(() => draftOf(name));
  const [values, setValues] = useState<Values>(() => ({ ...start, ...kept }));
  const [isKept, setKept] = useState(kept !== null);
  const change = (next: (before: Values) => Values) =>
    setValues((before) => {
      const after = next(before);
      keepDraft(name, after);
      return after;
    });
  const discard = () => {
    keepDraft(name, null);
    setValues(start);
    setKept(false);
  };
  return { values, isKept, change, discard };
}
