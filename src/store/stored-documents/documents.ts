/**
 * JSON documents in the database: each kind has a version, and one function for each step to the next. A document of an
 * earlier version is upgraded step by step when it is read; rows are not rewritten.
 *
 * docs/explanation/upgrades.md describes how to add a step, and which JSON columns are not documents.
 */
import { z } from 'zod';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Upgrades a document to the next version. Pure; works on the raw JSON of the column. */
export type DocumentStep = (document: JsonObject) => JsonObject;

export interface DocumentKind<Value> {
  /** The input that `read` parses: the JSON of the current version. Throws like `read` for a later one. */
  upgraded(column: unknown): JsonObject;
  /** The value of a column written by any earlier version. Throws a `DocumentError` for one of a later version. */
  read(column: unknown): Value;
  /** The stored form of a value: the value with the current version. */
  write(value: Value): JsonObject;
}

/** A column holds a document that this version of the service cannot read. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
}

/** Documents older than versioning have no version, and are version 1. */
const stored = z.looseObject({ documentVersion: z.int().min(1).default(1) });

/**
 * `schema` parses the current version, which is the one after the last of `steps`: the first step leads from version 1
 * to 2. `schema` must accept the result of `JSON.stringify` of a value.
 */
export function createDocument<Schema extends z.ZodType<object>>(definition: {
  /** The name in messages. */
  readonly name: string;
  readonly schema: Schema;
  readonly steps: readonly DocumentStep[];
}): DocumentKind<z.output<Schema>> {
  const { name, schema, steps } = definition;
  const version = steps.length + 1;
  const upgraded = (column: unknown): JsonObject => {
    const { documentVersion, ...document } = stored.parse(column);
    if (documentVersion > version) {
      throw new DocumentError(
        `${name} has version ${documentVersion}, and this version of tallyhouse reads versions 1 to ${version}`,
      );
    }
    return steps.slice(documentVersion - 1).reduce<JsonObject>((from, step) => step(from), document);
  };
  return {
    upgraded,
    read: (column) => schema.parse(upgraded(column)),
    write: (value) => ({ documentVersion: version, ...value }),
  };
}
