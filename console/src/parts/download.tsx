/** Files of the API: CSV of the shown data, and PDFs. */
import { useState } from 'react';
import { callFile, type InputOf, type OperationKey } from '../api/client.ts';
import { Failure } from './states.tsx';

interface DownloadProps<Key extends OperationKey> {
  readonly operation: Key;
  readonly input: InputOf<Key>;
  readonly mediaType: string;
  /** The name under which the browser saves it. */
  readonly fileName: string;
  readonly children: string;
}

/** A button that requests the answer in another format and saves it. */
export function Download<Key extends OperationKey>(props: DownloadProps<Key>) {
  const [state, setState] = useState<'idle' | 'running' | Error>('idle');
  const run = async () => {
    setState('running');
    try {
      save(await callFile(props.operation, props.input, props.mediaType), props.fileName);
      setState('idle');
    } catch (error) {
      setState(error instanceof Error ? error : new Error(String(error)));
    }
  };
  if (state instanceof Error) return <Failure error={state} again={() => void run()} />;
  return (
    <button
      type="button"
      disabled={state === 'running'}
      aria-busy={state === 'running'}
      onClick={() => void run()}
    >
      {props.children}
    </button>
  );
}

/** Has the browser save a file. */
export function save(content: Blob, fileName: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** First characters that make a spreadsheet read a text as a formula. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** Rows assembled by a page, as CSV (RFC 4180). Texts are never formulas. */
export function csvOf(header: readonly string[], rows: readonly (readonly CsvCell[])[]): Blob {
  const lines = [header, ...rows].map((cells) => cells.map(cellText).join(','));
  return new Blob([`${lines.join('\r\n')}\r\n`], { type: 'text/csv' });
}

/** `number`: digits, which stay a number in a spreadsheet. */
export type CsvCell = string | { readonly number: string };

function cellText(cell: CsvCell): string {
  if (typeof cell !== 'string') return cell.number;
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
