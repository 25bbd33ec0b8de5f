/** Buttons that copy the requests of a form, for a shell and for a program. */
import { useState } from 'react';
import { useCopied } from '../parts/copy.ts';
import { Failure } from '../parts/states.tsx';
import { clientText, curlText, type FormRequest } from './copy-as.ts';

interface CopyAsProps {
  requests(): Promise<readonly FormRequest[]>;
}

export function CopyAs({ requests }: CopyAsProps) {
  return (
    <>
      <CopyButton label="Copy as curl" requests={requests} write={curlText} />
      <CopyButton label="Copy as TypeScript" requests={requests} write={clientText} />
    </>
  );
}

interface CopyButtonProps extends CopyAsProps {
  readonly label: string;
  write(requests: readonly FormRequest[], origin: string): string;
}

function CopyButton({ label, requests, write }: CopyButtonProps) {
  const { isCopied, copy } = useCopied();
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    try {
      setError(null);
      await copy(write(await requests(), window.location.origin));
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <button type="button" data-kind="plain" aria-live="polite" onClick={() => void run()}>
        {isCopied ? 'Copied' : label}
      </button>
      {error === null ? null : <Failure error={error} />}
    </>
  );
}
