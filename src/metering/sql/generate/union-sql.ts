/** Concatenates the rows of several queries. */

import { unionColumn } from '../syntax/parse-source.ts';
import type { SelectQuery } from '../syntax/query-syntax.ts';
import { createDefinitions } from '../values/definitions.ts';
import { commonType, convert } from '../values/value.ts';
import { named, type Relation, relationOf, type StatementContext } from './relation.ts';

/** The columns have the names of the first query's, and a common type. */
export function writeUnion(
  context: StatementContext,
  queries: readonly SelectQuery[],
  write: (context: StatementContext, query: SelectQuery) => Relation,
): Relation {
  const { names, parameters } = context;
  const relations = queries.map((query) => write(context, query));
  const part = names.fresh('p');
  const columns = (queries[0]?.items ?? []).map(({ name }, index) => ({
    name: unionColumn(name, index),
    sql: names.fresh('c'),
    type: commonType(
      relations.map((relation) => relation.columns[index]?.type ?? 'null'),
      queries.at(-1)?.items[index]?.expression.position ?? 0,
    ),
  }));
  const selects = relations.map((relation) => {
    const definitions = createDefinitions(names);
    const values = columns.map(({ type, sql }, index) => {
      const column = relation.columns[index];
      if (column === undefined) throw new Error('the queries of a UNION have as many columns');
      return named(
        convert({ parameters, definitions }, { sql: column.sql, type: column.type }, type, 0),
        sql,
      );
    });
    const clause = definitions.list().length === 0 ? '' : `WITH ${definitions.list().join(', ')}\n`;
    return `${clause}SELECT ${[named(relation.part, part), ...values].join(', ')}\nFROM ${relation.from}`;
  });
  return relationOf(selects.join('\nUNION ALL\n'), columns, { part, until: null, eventOrder: null });
}
