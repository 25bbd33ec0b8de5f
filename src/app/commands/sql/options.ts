/** The options of a query. */
import { extname } from 'node:path';
import { PARQUET_TYPE } from '../../../api/http/answer-form.ts';
import type { ServiceArguments } from '../running-service.ts';

export interface SqlOptions extends ServiceArguments {
  readonly sql: string;
  /** Null: on the terminal. */
  readonly output: OutputFile | null;
  /** The answer as the service gives it instead of a table. */
  readonly json: boolean;
}

interface OutputFile {
  readonly path: string;
  readonly accept: string;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.parquet': PARQUET_TYPE,
};

/** By the end of its name; null where that is none of the known ones. */
export function outputFile(path: string): OutputFile | null {
  const accept = MEDIA_TYPES[extname(path).toLowerCase()];
  return accept === undefined ? null : { path, accept };
}
