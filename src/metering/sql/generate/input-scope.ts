/** The input of a SELECT: the names that are valid below GROUP BY, its joins, and the lists it expands. */

import { suggestion } from '../syntax/did-you-mean.ts';
import type { Expression } from '../syntax/query-syntax.ts';
import { createDefinitions, type Definitions } from '../values/definitions.ts';
import { QueryProblem } from '../values/query-refusal.ts';
import { requireBoolean } from '../values/value.ts';
import { writeComparison } from './comparison-sql.ts';
import { type Scope, writeExpression } from './expression-sql.ts';
import type { Relation, StatementContext } from './relation.ts';
import { createSide, type Side, type SideInput } from './source-side.ts';
import type { Subqueries } from './subqueries.ts';

/** The input that is joined with the rows before it. */
interface JoinedInput {
  readonly kind: 'inner' | 'left';
  readonly input: SideInput;
  readonly on: Expression | null;
  readonly using: readonly string[];
  readonly position: number;
}

/** The input of a SELECT. Properties of the rows are those of the first side. */
export interface Input extends SideInput {
  readonly joins: readonly JoinedInput[];
}

/** The names that are valid below GROUP BY: the columns of the source. */
export interface InputScope extends Scope {
  /** The columns to read, after everything that reads them is written. */
  source(keep?: readonly string[]): Pick<Relation, 'from' | 'conditions'>;
}

export function inputScope(
  context: StatementContext,
  definitions: Definitions,
  input: Input,
  subqueries: Subqueries,
): InputScope {
  const sides = [input, ...input.joins.map((join) => join.input)].map((each) => createSide(context, each));
  const shared = new Set(input.joins.flatMap(({ using }) => using));
  const sidesOf = (qualifier: string | null, position: number) => {
    if (qualifier === null) return sides;
    const named = sides.filter((side) => side.input.qualifier === qualifier);
    if (named.length > 0) return named;
    throw new QueryProblem(position, `${qualifier} is not what this query reads`);
  };
  const names: Pick<Scope, 'column' | 'property'> = {
    column: ({ qualifier, name, position }) => {
      const asked = sidesOf(qualifier, position);
      const found = asked.flatMap((side) => side.column(name) ?? []);
      const [first, second] = found;
      if (first === undefined) throw unknownColumn(asked, name, position);
      if (second !== undefined && !shared.has(name)) {
        throw new QueryProblem(
          position,
          `${name} is a column of more than one side: write which, as in a.${name}`,
        );
      }
      return first;
    },
    property: ({ qualifier, name, position }) => {
      const [side, other] = sidesOf(qualifier, position).filter((each) => each.input.hasProperties);
      if (side === undefined) {
        throw new QueryProblem(
          position,
          `a subquery has only the columns it names: select properties.${name} in it`,
        );
      }
      if (other !== undefined) {
        throw new QueryProblem(position, `write whose properties.${name}, as in a.properties.${name}`);
      }
      return side.property(name);
    },
  };
  const aggregate: Scope['aggregate'] = ({ position, name }) => {
    throw new QueryProblem(position, `${name} cannot stand in WHERE or GROUP BY: use HAVING or a subquery`);
  };
  const scope: Scope = {
    parameters: context.parameters,
    definitions,
    known: () => null,
    ...names,
    aggregate,
    window: null,
    subqueries,
  };
  // A join condition has no WITH.
  const inline: Scope = { ...scope, definitions: inlineDefinitions(context), subqueries: null };
  const conditions = input.joins.map((join, index) => joinCondition(inline, sides, join, index + 1));
  return {
    ...scope,
    source: (keep) => joined(context, sides, input, conditions, subqueries.joins(input.part), keep),
  };
}

function joined(
  { names }: StatementContext,
  sides: readonly Side[],
  input: Input,
  conditions: readonly string[],
  further: readonly string[],
  keep?: readonly string[],
): Pick<Relation, 'from' | 'conditions'> {
  const [first, ...others] = sides.map((side, index) => side.source(index === 0 ? keep : undefined));
  if (first === undefined) throw new Error('a query reads something');
  if (others.length === 0 && further.length === 0) return first;
  const joins = others.map((other, index) => {
    const { kind = 'inner' } = input.joins[index] ?? {};
    return `${kind === 'left' ? 'LEFT' : 'INNER'} JOIN ${bracketed(other)} AS ${names.fresh('s')} ON ${conditions[index] ?? ''}`;
  });
  return {
    from: [`${bracketed(first)} AS ${names.fresh('s')}`, ...joins, ...further].join('\n'),
    conditions: [],
  };
}

/** Makes the relation joinable: the SELECT that reads the events has no other source. */
function bracketed({ from, conditions }: Pick<Relation, 'from' | 'conditions'>): string {
  if (conditions.length > 0) throw new Error('the conditions of a side that is joined are inside');
  return from;
}

function joinCondition(scope: Scope, sides: readonly Side[], join: JoinedInput, index: number): string {
  const [first] = sides;
  const right = sides[index];
  if (first === undefined || right === undefined) throw new Error('a join has two sides');
  const parts = [`equals(${first.input.part}, ${right.input.part})`];
  for (const name of join.using) {
    const left = sides.slice(0, index).flatMap((side) => side.column(name) ?? [])[0];
    const other = right.column(name);
    if (left === undefined || other === null) {
      throw new QueryProblem(join.position, `USING (${name}): both sides have a column of this name`);
    }
    parts.push(writeComparison(scope, { operator: '=', position: join.position }, left, other).sql);
  }
  if (join.on !== null) parts.push(requireBoolean(writeExpression(scope, join.on), join.on.position));
  return parts.length === 1 ? (parts[0] ?? '') : `and(${parts.join(', ')})`;
}

/** Writes every expression in full. */
function inlineDefinitions({ names }: StatementContext): Definitions {
  return { ...createDefinitions(names), define: (sql) => sql };
}

function unknownColumn(sides: readonly Side[], name: string, position: number): QueryProblem {
  const columns = sides.flatMap(({ input }) => input.columns);
  const available = [...new Set(columns.flatMap((column) => (column.name === null ? [] : [column.name])))];
  const hasProperties = sides.some(({ input }) => input.hasProperties);
  const place = [...new Set(sides.map(({ input }) => input.title))].join(' or ');
  const problem = (rest: string) => new QueryProblem(position, `${name} is not a column of ${place}${rest}`);
  const near = suggestion(name, available);
  if (near !== '') return problem(near);
  const others = `${available.join(', ')}. Text stands in 'single quotes'`;
  return problem(
    hasProperties ? `: did you mean properties.${name}? Columns are ${others}` : `; available are ${others}`,
  );
}

export function whereConditions(scope: Scope, where: Expression | null): string[] {
  return where === null ? [] : [requireBoolean(writeExpression(scope, where), where.position)];
}
