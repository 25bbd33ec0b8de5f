/** One side of the source of a SELECT: its columns and properties, and the SELECT below that prepares them. */
import { numbersSql } from '../../query/number-sql.ts';
import { documentSql, propertySql } from '../../query/property-sql.ts';
import { renderStatement } from '../../query/usage-relation.ts';
import { createDefinitions } from '../values/definitions.ts';
import type { Value } from '../values/value.ts';
import { named, type Relation, type StatementContext } from './relation.ts';

/** The input of a SELECT, and the names that it may use for it. */
export interface SideInput extends Relation {
  readonly qualifier: string | null;
  /** How refusals name it: a table, a query named in WITH, or a subquery. */
  readonly title: string;
}

export interface Side {
  readonly input: SideInput;
  /** The column of this name in lower case, or null. */
  column(name: string): Value | null;
  /** Only if the side has properties. */
  property(name: string): Value;
  /** The columns to read, after everything that reads them is written. `keep`: further columns of the input. */
  source(keep?: readonly string[]): Pick<Relation, 'from' | 'conditions'>;
}

/**
 * Properties and their numbers are read in a separate SELECT below if anything uses them, so that each is written once,
 * and is a plain column for all expressions. The numbers are one array, because the expression for a number is long,
 * and planning it for each would take most of the time.
 */
export function createSide(context: StatementContext, input: SideInput): Side {
  const below = createDefinitions(context.names);
  const read = new Set<string>();
  const reading = (name: string) => {
    read.add(name);
    return name;
  };
  const documents = new Map<string, string>();
  const documentOf = (property: string) => {
    const document = documents.get(property) ?? context.names.fresh('j');
    documents.set(property, document);
    return document;
  };
  const numbers = context.names.fresh('n');
  const texts: string[] = [];
  const numberOf = (text: string) => {
    if (!texts.includes(text)) texts.push(text);
    return `arrayElement(${numbers}, ${texts.indexOf(text) + 1})`;
  };
  const propertyValue = (text: string): Value => ({
    sql: text,
    type: 'property',
    isPlain: true,
    number: () => numberOf(text),
  });
  return {
    input,
    column: (name) => {
      const column = input.columns.find((candidate) => candidate.name?.toLowerCase() === name);
      if (column === undefined) return null;
      return column.type === 'property'
        ? propertyValue(column.sql)
        : { sql: column.sql, type: column.type, isPlain: true };
    },
    property: (name) =>
      propertyValue(reading(below.define(propertySql(context.parameters, name, documentOf).value))),
    source: (keep = []) => {
      const isReady = read.size === 0 && texts.length === 0 && keep.length === 0;
      if (isReady && input.partSql === null) return input;
      const ofNumbers =
        texts.length === 0 ? [] : [`${numbersSql(texts.map((text) => `ifNull(${text}, '')`))} AS ${numbers}`];
      const ofPart = input.partSql === null ? [] : [`${input.partSql} AS ${input.part}`];
      const sql = renderStatement({
        definitions: below.list(),
        columns: [
          ...input.names.map((name) => named(input.origins.get(name) ?? name, name)),
          ...keep,
          ...read,
          ...ofNumbers,
          ...ofPart,
        ],
        ...withDocuments(context, input, documents),
        groupBy: [],
      });
      return { from: `(\n${sql}\n)`, conditions: [] };
    },
  };
}

/** The columns that are read, with the nested values at the beginning of paths, each prepared once for all paths. */
function withDocuments(
  { parameters }: StatementContext,
  input: SideInput,
  documents: ReadonlyMap<string, string>,
): Pick<Relation, 'from' | 'conditions'> {
  const { from, conditions } = input;
  if (documents.size === 0) return { from, conditions };
  const sql = renderStatement({
    definitions: [],
    columns: [
      ...input.names.map((name) => input.origins.get(name) ?? name),
      'properties',
      ...[...documents].map(([property, name]) => `${documentSql(parameters, property)} AS ${name}`),
    ],
    from,
    conditions,
    groupBy: [],
  });
  return { from: `(\n${sql}\n)`, conditions: [] };
}
