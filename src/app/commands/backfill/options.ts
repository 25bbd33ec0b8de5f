/** The options of a backfill, and the combinations that are refused. */
import { readFile } from 'node:fs/promises';
import { messageOf } from '../../../core/failures.ts';
import { BackfillFailure, EXIT } from './failure.ts';
import type { Format } from './files/input-file.ts';
import { type Mapping, MappingProblem, mappingOfArguments, mappingOfFile } from './rows/mapping.ts';

export interface BackfillOptions {
  /** A file, a folder, or an address of an S3-compatible store. */
  readonly source: string;
  /** Null: detected from content or name. */
  readonly format: Format | null;
  readonly mapping: Mapping | { readonly file: string } | null;
  /** Null: a comma, or a tab in .tsv. */
  readonly delimiter: string | null;
  /** The report of invalid lines; null: the first one ends the run. */
  readonly reportFile: string | null;
  /** Starts at the first line, ignoring earlier progress. */
  readonly restart: boolean;
}

/** The arguments on the command line. */
export interface BackfillArguments {
  readonly map?: string | undefined;
  readonly mapping?: string | undefined;
  readonly eventType?: string | undefined;
  readonly properties?: string | undefined;
  readonly timestamps?: string | undefined;
  readonly format?: Format | undefined;
  readonly delimiter?: string | undefined;
  readonly skipInvalid?: string | undefined;
  readonly restart?: boolean | undefined;
}

/** Throws `BackfillFailure`, which names the conflicting options. */
export function backfillOptions(source: string, given: BackfillArguments): BackfillOptions {
  const reportFile = given.skipInvalid ?? null;
  if (reportFile === '') throw usage('--skip-invalid needs the name of a file');
  return {
    source,
    format: given.format ?? null,
    mapping: mappingOf(given),
    delimiter: delimiterOf(given.delimiter),
    reportFile,
    restart: given.restart === true,
  };
}

/** The given mapping, read from its file. Throws `BackfillFailure`. */
export async function readMapping({ mapping }: BackfillOptions): Promise<Mapping | null> {
  if (mapping === null || !('file' in mapping)) return mapping;
  const text = await readFile(mapping.file, 'utf8').catch((error: unknown) => {
    throw new BackfillFailure(`cannot read ${mapping.file}: ${messageOf(error)}`, EXIT.usage);
  });
  try {
    return mappingOfFile(text);
  } catch (error) {
    throw error instanceof MappingProblem
      ? new BackfillFailure(`${mapping.file}: ${error.message}`, EXIT.usage)
      : error;
  }
}

function mappingOf({
  mapping: file,
  map,
  eventType,
  properties,
  timestamps,
}: BackfillArguments): BackfillOptions['mapping'] {
  try {
    const mapping = mappingOfArguments({ map, eventType, properties, timestamps });
    if (file === undefined) return mapping;
    if (mapping !== null) throw new MappingProblem('--mapping says all of it: leave --map and its like out');
    return { file };
  } catch (error) {
    throw error instanceof MappingProblem ? usage(error.message) : error;
  }
}

function delimiterOf(given: string | undefined): string | null {
  if (given === undefined) return null;
  const delimiter = given === 'tab' ? '\t' : given;
  if (!/^[\t -~]$/.test(delimiter) || delimiter === '"')
    throw usage('--delimiter must be one character, or tab');
  return delimiter;
}

function usage(problem: string): BackfillFailure {
  return new BackfillFailure(`${problem}\nSee: tallyhouse backfill --help`, EXIT.usage);
}
