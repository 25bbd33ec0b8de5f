/** Drafts of forms survive a reload: they are in the storage of the browser. No form has a secret among its fields. */
import type { Values } from './field.ts';

const PREFIX = 'tallyhouse form ';

/** The draft of a form; null without one, or if the browser keeps nothing. */
export function draftOf(name: string): Values | null {
  try {
    const text = localStorage.getItem(PREFIX + name);
    const draft: unknown = text === null ? null : JSON.parse(text);
    return typeof draft === 'object' ? (draft as Values | null) : null;
  } catch {
    return null;
  }
}

/** Keeps the draft; null forgets it. */
export function keepDraft(name: string, values: Values | null): void {
  try {
    if (values === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(values));
  } catch {
    // A browser without storage, or with a full one: the form works, its draft is lost with the page.
  }
}
