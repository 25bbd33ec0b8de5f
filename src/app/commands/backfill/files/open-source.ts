/**
 * Opens the source of a backfill: a file, the files of a folder, or those below an address of an S3-compatible store.
 */
import { realpath, stat } from 'node:fs/promises';
import { parseS3Address } from '../../../s3/s3-address.ts';
import { createS3Requests, s3Settings } from '../../../s3/s3-requests.ts';
import { BackfillFailure, EXIT } from '../failure.ts';
import { filesOfFolder } from './folder.ts';
import {
  type Format,
  formatOfName,
  type InputFile,
  openLocalFile,
  recognise,
  type StoredFile,
} from './input-file.ts';
import { objectsAt } from './s3-files.ts';

export interface Source {
  readonly name: string;
  /** The source is a single file. */
  readonly isFile: boolean;
  /** In the order of loading. */
  readonly files: readonly SourceFile[];
  /** Names of files with an unknown format. */
  readonly passedOver: readonly string[];
}

interface SourceFile {
  readonly name: string;
  open(): Promise<InputFile>;
}

/** `format` applies to all its files. Throws `BackfillFailure` if there is nothing to load. */
export async function openSource(
  argument: string,
  format: Format | null,
  env: NodeJS.ProcessEnv,
): Promise<Source> {
  const address = parseS3Address(argument);
  if (address !== null) {
    const objects = await objectsAt(createS3Requests(s3Settings(env), address.bucket), address);
    const isFile = objects.length === 1 && objects[0]?.name === argument;
    return chosen(
      argument,
      objects.map((object) => opened(object.name, format, async () => object)),
      isFile,
      format,
    );
  }
  const isFolder = (await stat(argument).catch(() => null))?.isDirectory() === true;
  const paths = isFolder ? await filesOfFolder(argument) : [argument];
  const files = paths.map((path) => opened(path, format, () => openLocalFile(path)));
  return chosen(isFolder ? await realpath(argument) : argument, files, !isFolder, format);
}

function opened(name: string, format: Format | null, open: () => Promise<StoredFile>): SourceFile {
  return { name, open: async () => await recognise(await open(), format) };
}

function chosen(name: string, all: readonly SourceFile[], isFile: boolean, format: Format | null): Source {
  if (isFile) return { name, isFile, files: all, passedOver: [] };
  const files = format === null ? all.filter((file) => formatOfName(file.name) !== null) : all;
  const passedOver = all.filter((file) => !files.includes(file)).map((file) => file.name);
  if (files.length === 0) {
    const others =
      passedOver.length === 0
        ? ''
        : `, but others, such as ${passedOver[0]}; say with --format what they are`;
    throw new BackfillFailure(
      `there are no files at ${name} whose names end in .jsonl, .ndjson, .json, .csv, .tsv or .parquet${others}`,
      EXIT.usage,
    );
  }
  return { name, isFile, files, passedOver };
}
