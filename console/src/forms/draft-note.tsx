/** Says that a form shows the draft of an earlier visit. */
import { Note } from '../parts/states.tsx';

export function DraftNote({ isKept, discard }: { readonly isKept: boolean; discard(): void }) {
  if (!isKept) return null;
  return (
    <Note>
      This is a draft of before.{' '}
      <button type="button" data-kind="plain" onClick={discard}>
        Discard it
      </button>
    </Note>
  );
}
