/** Writes the SELECTs of a query, innermost first. Those that aggregate are in `grouped-sql.ts`. */
import { renderStatement } from '../query/usage-relation.ts';
import { createDefinitions } from './definitions.ts';
import { writeExpression } from './expression-sql.ts';
import { writeGroupedSelect } from './grouped-sql.ts';
import { type Input, inputScope, whereConditions } from './input-scope.ts';
import { isGrouped, type SelectQuery, type Source } from './query-syntax.ts';
import { eventsRelation, named, type Relation, relationOf, type StatementContext } from './relation.ts';

export function writeSelect(context: StatementContext, query: SelectQuery): Relation {
  const input = readSource(context, query.source);
  return isGrouped(query) ? writeGroupedSelect(context, query, input) : writeRows(context, query, input);
}

function readSource(context: StatementContext, source: Source): Input {
  const { qualifier } = source;
  if (source.kind === 'events') return { ...eventsRelation(context), qualifier };
  return { ...writeSelect(context, source.query), qualifier };
}

/** One row for each row of the input. */
function writeRows(context: StatementContext, query: SelectQuery, input: Input): Relation {
  const { names } = context;
  const definitions = createDefinitions(names);
  const scope = inputScope(context, definitions, input);
  const columns = query.items.map(({ expression, name }) => {
    const { sql, type } = writeExpression(scope, expression);
    return { name, type, sql: names.fresh('c'), expression: sql };
  });
  const where = whereConditions(scope, query.where);
  const part = names.fresh('p');
  const until = input.until === null ? null : names.fresh('u');
  const eventOrder = input.eventOrder === null ? null : names.fresh('o');
  const source = scope.source();
  const sql = renderStatement({
    definitions: definitions.list(),
    columns: [
      named(input.part, part),
      ...(input.until === null || until === null ? [] : [named(input.until, until)]),
      ...(input.eventOrder === null || eventOrder === null ? [] : [named(input.eventOrder, eventOrder)]),
      ...columns.map((column) => named(column.expression, column.sql)),
    ],
    from: source.from,
    conditions: [...source.conditions, ...where],
    groupBy: [],
  });
  return relationOf(sql, columns, { part, until, eventOrder });
}
