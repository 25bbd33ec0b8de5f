/** The options of a query. */
import { extname } from 'node:path';
import { PARQUET_TYPE } from '../../../api/http/answer-form.ts';
import type { ServiceArguments } from '../running-service.ts';

export interface SqlOptions extends ServiceArguments {
  readonly sql: string;
  /** Null: on the terminal. */
  readonly output: OutputFile | null;
  /** The service's answer as JSON instead of a table. */
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

/** By its extension; null if that is unknown. */
export function outputFile(path: string): OutputFile | null {
  const accept = MEDIA_TYPES[extname(path).toLowerCase()];
  return accept === undefined ? null : { path, accept };
}
