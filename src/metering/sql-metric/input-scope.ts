/** What a SELECT reads: the names it may use below GROUP BY, and the properties it asks for. */
import { numbersSql } from '../query/number-sql.ts';
import { documentSql, propertySql } from '../query/property-sql.ts';
import { renderStatement } from '../query/usage-relation.ts';
import { createDefinitions, type Definitions } from './definitions.ts';
import { type Scope, writeExpression } from './expression-sql.ts';
import { QueryProblem } from './query-refusal.ts';
import type { Expression } from './query-syntax.ts';
import type { Relation, StatementContext } from './relation.ts';
import { requireBoolean, type Value } from './value.ts';

/** What a SELECT reads, and how it may call it. */
export interface Input extends Relation {
  readonly qualifier: string | null;
}

/** Names as they are understood below GROUP BY: the columns of what is read. */
export interface InputScope extends Scope {
  /** What to read, once everything is written that reads it. */
  source(): Pick<Relation, 'from' | 'conditions'>;
}

/**
 * Properties and the numbers in them are read in a SELECT of their own below, where anything asks for them:
 * so each is written once, and is a plain column to everything that computes with it. The numbers are one
 * array, because what reads a number is long, and planning it anew for each would take most of the time.
 */
export function inputScope(context: StatementContext, definitions: Definitions, input: Input): InputScope {
  const requireQualifier = (qualifier: string | null, position: number) => {
    if (qualifier !== null && qualifier !== input.qualifier) {
      throw new QueryProblem(position, `${qualifier} is not what this query reads`);
    }
  };
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
    parameters: context.parameters,
    definitions,
    known: () => null,
    column: ({ qualifier, name, position }) => {
      requireQualifier(qualifier, position);
      const column = input.columns.find((candidate) => candidate.name?.toLowerCase() === name);
      if (column === undefined) throw unknownColumn(input, name, position);
      return column.type === 'property'
        ? propertyValue(column.sql)
        : { sql: column.sql, type: column.type, isPlain: true };
    },
    property: ({ qualifier, name, position }) => {
      requireQualifier(qualifier, position);
      if (!input.hasProperties) {
        throw new QueryProblem(
          position,
          `a subquery has only the columns it names: select properties.${name} in it`,
        );
      }
      return propertyValue(reading(below.define(propertySql(context.parameters, name, documentOf).value)));
    },
    aggregate: ({ position, name }) => {
      throw new QueryProblem(position, `${name} cannot stand in WHERE or GROUP BY: use HAVING or a subquery`);
    },
    source: () => {
      if (read.size === 0 && texts.length === 0) return input;
      const ofNumbers =
        texts.length === 0 ? [] : [`${numbersSql(texts.map((text) => `ifNull(${text}, '')`))} AS ${numbers}`];
      const sql = renderStatement({
        definitions: below.list(),
        columns: [...input.names, ...read, ...ofNumbers],
        ...withDocuments(context, input, documents),
        groupBy: [],
      });
      return { from: `(\n${sql}\n)`, conditions: [] };
    },
  };
}

/** What is read, with the nested values that paths lead into, each made ready once for all paths. */
function withDocuments(
  { parameters }: StatementContext,
  input: Input,
  documents: ReadonlyMap<string, string>,
): Pick<Relation, 'from' | 'conditions'> {
  const { from, conditions } = input;
  if (documents.size === 0) return { from, conditions };
  const sql = renderStatement({
    definitions: [],
    columns: [
      ...input.names,
      'properties',
      ...[...documents].map(([property, name]) => `${documentSql(parameters, property)} AS ${name}`),
    ],
    from,
    conditions,
    groupBy: [],
  });
  return { from: `(\n${sql}\n)`, conditions: [] };
}

function unknownColumn(input: Input, name: string, position: number): QueryProblem {
  const available = input.columns.flatMap((column) => (column.name === null ? [] : [column.name]));
  const list = input.hasProperties ? [...available, 'properties.<name>'] : available;
  return new QueryProblem(
    position,
    `the column ${name} is not available; available are ${list.join(', ')}. Text stands in 'single quotes'`,
  );
}

export function whereConditions(scope: Scope, where: Expression | null): string[] {
  return where === null ? [] : [requireBoolean(writeExpression(scope, where), where.position)];
}
