/** Texts for the clipboard. */
import { useEffect, useState } from 'react';

const SAID_MS = 1_500;

interface Copied {
  /** For a moment after a text was copied. */
  readonly isCopied: boolean;
  copy(text: string): Promise<void>;
}

export function useCopied(): Copied {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return { isCopied, copy: (text) => copyText(text).then(() => setCopied(true)) };
}

/** Browsers deny the clipboard to pages over plain HTTP; a selection is copied there. */
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return await navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
