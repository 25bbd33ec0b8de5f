import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  cardTermsDocument,
  contractChangesDocument,
  contractTermsDocument,
  contractVersionDocument,
  packageHeaderDocument,
  packageTermsDocument,
} from '../../../src/store/stored-documents/document-kinds.ts';
import {
  createDocument,
  DocumentError,
  type DocumentKind,
} from '../../../src/store/stored-documents/documents.ts';
import { frozenStates, readFrozenRows } from '../../support/frozen-state.ts';

/** The text of a stored document that PostgreSQL returns. */
const stored = (document: unknown): unknown => JSON.parse(JSON.stringify(document));

describe('a kind of document that has changed twice', () => {
  const person = createDocument({
    name: 'a person',
    schema: z.object({ names: z.array(z.string()), age: z.int().nullable() }),
    steps: [
      ({ name, ...rest }) => ({ ...rest, names: String(name).split(' ') }),
      (document) => ({ ...document, age: null }),
    ],
  });
  const ada = { names: ['Ada', 'Lovelace'], age: null };

  test('a kind of document that has changed twice is read through the steps from the version that wrote it', () => {
    expect(person.read({ name: 'Ada Lovelace' })).toEqual(ada);
    expect(person.read({ documentVersion: 1, name: 'Ada Lovelace' })).toEqual(ada);
    expect(person.read({ documentVersion: 2, names: ['Ada', 'Lovelace'] })).toEqual(ada);
    expect(person.read({ documentVersion: 3, names: ['Ada', 'Lovelace'], age: 36 })).toEqual({
      ...ada,
      age: 36,
    });
  });

  test('a kind of document that has changed twice is written with its present version', () => {
    expect(person.write(ada)).toEqual({ documentVersion: 3, ...ada });
  });

  test('a kind of document that has changed twice is refused where a later version has written it', () => {
    const fromTheFuture = () => person.read({ documentVersion: 4, ...ada });
    expect(fromTheFuture).toThrow(DocumentError);
    expect(fromTheFuture).toThrow(
      'a person has version 4, and this version of tallyhouse reads versions 1 to 3',
    );
  });

  test.each([[0], [1.5], ['1'], [null]])(
    'a kind of document that has changed twice is refused with a version of %j',
    (documentVersion) => {
      expect(() => person.read({ documentVersion, ...ada })).toThrow();
    },
  );

  test('a stored document is read as it was written, whatever is in it', () => {
    const people = fc.record({
      names: fc.array(fc.string()),
      age: fc.option(fc.integer(), { nil: null }),
    });
    fc.assert(
      fc.property(people, (value) => {
        expect(person.read(stored(person.write(value)))).toEqual(value);
      }),
    );
  });
});

/** Reads a document, and reads again what is written of it. */
const reader =
  <Value>(kind: DocumentKind<Value>) =>
  (document: unknown): { readonly value: unknown; readonly again: unknown } => {
    const value = kind.read(document);
    return { value, again: kind.read(stored(kind.write(value))) };
  };

const KINDS = [
  { table: 'contract_versions', column: 'document', readers: [reader(contractVersionDocument)] },
  { table: 'contract_edits', column: 'changes', readers: [reader(contractChangesDocument)] },
  { table: 'packages', column: 'header', readers: [reader(packageHeaderDocument)] },
  { table: 'packages', column: 'terms', readers: [reader(packageTermsDocument)] },
  {
    table: 'invoice_terms',
    column: 'terms',
    readers: [reader(cardTermsDocument), reader(contractTermsDocument)],
  },
];

/** The documents in a column of a frozen state. */
async function frozenDocuments(state: string, table: string, column: string): Promise<unknown[]> {
  const found = (await readFrozenRows(state, 'postgres')).find((one) => one.table === table);
  if (found === undefined) throw new Error(`${state} has no ${table}`);
  return found.rows.map((row) => {
    const values = z.array(z.string().nullable()).parse(JSON.parse(row));
    return JSON.parse(values[found.columns.indexOf(column)] ?? '');
  });
}

describe.each(await frozenStates())('in the frozen state %s', (state) => {
  test.each(KINDS)('each $column of $table is read and written back unchanged', async (one) => {
    const documents = await frozenDocuments(state, one.table, one.column);
    const reads = documents.map((document) => one.readers.map((read) => attempt(read, document)));
    for (const kinds of reads) expect(kinds.filter((read) => read !== null)).toHaveLength(1);
    for (const [index] of one.readers.entries()) expect(reads.some((kinds) => kinds[index])).toBe(true);
    for (const read of reads.flat()) expect(read?.again).toEqual(read?.value);
  });
});

/** Null for a document of another kind in the same column. */
function attempt<Read>(read: (document: unknown) => Read, document: unknown): Read | null {
  try {
    return read(document);
  } catch (error) {
    if (error instanceof z.ZodError) return null;
    throw error;
  }
}
