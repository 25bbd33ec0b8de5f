/** The grammar of FROM: events, subqueries, queries named in WITH, joins and lists. */

import { QueryProblem } from '../values/query-refusal.ts';
import { VIEW_NAMES, viewNamed } from '../values/views.ts';
import { suggestion } from './did-you-mean.ts';
import { parseAlias } from './parse-alias.ts';
import { parseExpression } from './parse-expression.ts';
import type { Join, SelectQuery, Source } from './query-syntax.ts';
import type { TokenReader } from './token-reader.ts';

const JOINS_MAX = 5;

/** Queries named in WITH that are visible here, by their name in lower case. */
type NamedQueries = Map<string, { readonly query: SelectQuery; readonly weight: number; uses: number }>;

export interface QuerySize {
  /** How often it reads the events. */
  readonly reads: number;
  /** Maximum nesting depth of aggregates. */
  readonly groupings: number;
}

export interface Place {
  readonly reader: TokenReader;
  readonly named: NamedQueries;
  readonly depth: number;
  readonly sizes: Map<SelectQuery, QuerySize>;
  /** Whether the views over all customers are read, instead of the events of one. */
  readonly isAcross: boolean;
}

/** A place with the grammar of whole queries, which includes this one. */
interface SourcePlace extends Place {
  readonly parseWith: (place: Place) => SelectQuery;
  readonly closeSubquery: (reader: TokenReader) => void;
}

/** The inner name of a column of a UNION: as in the first query, or by its position. */
export function unionColumn(name: string | null, index: number): string {
  return name?.toLowerCase() ?? `column ${index + 1}`;
}

export function parseFrom(place: SourcePlace): { source: Source; joins: Join[] } {
  const { reader } = place;
  let source = parseTable(place);
  for (;;) {
    const list = parseArrayJoin(reader, source) ?? parseUnnest(reader, source);
    if (list === null) break;
    source = list;
  }
  const joins: Join[] = [];
  for (let join = parseJoin(place); join !== null; join = parseJoin(place)) {
    joins.push(join);
    if (joins.length > JOINS_MAX) throw new QueryProblem(join.position, `at most ${JOINS_MAX} joins`);
  }
  return { source, joins };
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one case for each form, as in the grammar.
function parseTable(place: SourcePlace): Source {
  const { reader, named, depth, isAcross } = place;
  const { position, text } = reader.next;
  let source: Extract<Source, { kind: 'events' | 'view' | 'query' }>;
  if (reader.takeSymbol('(')) {
    const query = place.parseWith({ ...place, depth: depth + 1 });
    place.closeSubquery(reader);
    source = { kind: 'query', query, qualifier: null };
  } else {
    const tables: readonly string[] = isAcross ? VIEW_NAMES : ['events'];
    reader.expectName(`${isAcross ? 'a view' : 'events'}, a query named in WITH, or a subquery in brackets`);
    refuseOtherSource(reader, text, position, tables);
    const name = text.toLowerCase();
    const query = named.get(name);
    if (!tables.includes(name) && query === undefined) {
      const near = suggestion(text, [...tables, ...named.keys()]) || `; ${only(tables)}`;
      throw new QueryProblem(position, `the table ${text} is not available${near}`);
    }
    if (query !== undefined) {
      // Its SQL is written once more for each use.
      if (query.uses > 0) reader.addWeight(position, query.weight);
      query.uses += 1;
    }
    if (query !== undefined) source = { kind: 'query', query: query.query, qualifier: name };
    else if (isAcross) source = { kind: 'view', view: viewNamed(name), qualifier: name };
    else source = { kind: 'events', qualifier: name };
  }
  const alias = parseAlias(reader);
  return alias === null ? source : { ...source, qualifier: alias.toLowerCase() };
}

/** The allowed sources, as text. */
function only(tables: readonly string[]): string {
  return tables.length === 1 ? `the only table is ${tables[0]}` : `the views are ${tables.join(', ')}`;
}

function refuseOtherSource(
  reader: TokenReader,
  text: string,
  position: number,
  tables: readonly string[],
): void {
  if (reader.isSymbol('(')) {
    const hint =
      text.toUpperCase() === 'UNNEST'
        ? ': a list stands after events, as in FROM events, UNNEST(…) AS x'
        : '';
    throw new QueryProblem(position, `the table function ${text} is not available; ${only(tables)}${hint}`);
  }
  if (reader.isSymbol('.')) {
    throw new QueryProblem(position, `a table of another database is not available; ${only(tables)}`);
  }
}

/** `[LEFT] ARRAY JOIN list AS name` */
function parseArrayJoin(reader: TokenReader, source: Source): Source | null {
  const isLeft = reader.isWord('LEFT', 'ARRAY', 'JOIN');
  if (!isLeft && !reader.isWord('ARRAY', 'JOIN')) return null;
  reader.takeWords(...(isLeft ? ['LEFT', 'ARRAY', 'JOIN'] : ['ARRAY', 'JOIN']));
  const list = parseExpression(reader);
  reader.expectWord('AS');
  const name = reader.expectName('a name for the element').text.toLowerCase();
  return { kind: 'unnest', source, list, name, isLeft, qualifier: source.qualifier };
}

/** `, UNNEST(list) AS name`, `CROSS JOIN UNNEST(list) AS t(name)` */
function parseUnnest(reader: TokenReader, source: Source): Source | null {
  const words = ['CROSS', 'JOIN', 'UNNEST'];
  const isComma =
    reader.isSymbol(',') &&
    reader.afterNext.kind === 'word' &&
    reader.afterNext.text.toUpperCase() === 'UNNEST';
  if (!isComma && !reader.isWord(...words)) return null;
  if (isComma) {
    reader.take();
    reader.take();
  } else {
    reader.takeWords(...words);
  }
  reader.expectSymbol('(');
  const list = parseExpression(reader);
  reader.expectSymbol(')');
  reader.takeWords('AS');
  let { text } = reader.expectName('a name for the element');
  if (reader.takeSymbol('(')) {
    text = reader.expectName('a name for the element').text;
    reader.expectSymbol(')');
  }
  return {
    kind: 'unnest',
    source,
    list,
    name: text.toLowerCase(),
    isLeft: false,
    qualifier: source.qualifier,
  };
}

function parseJoin(place: SourcePlace): Join | null {
  const { reader } = place;
  const { position } = reader.next;
  if (reader.isSymbol(',')) {
    throw new QueryProblem(position, 'tables are not joined by a comma: use JOIN … ON');
  }
  if (reader.takeWords('CROSS', 'JOIN')) {
    return { kind: 'inner', source: parseTable(place), on: null, using: [], position };
  }
  const isLeft = reader.takeWords('LEFT', 'JOIN') || reader.takeWords('LEFT', 'OUTER', 'JOIN');
  if (!isLeft && !reader.takeWords('JOIN') && !reader.takeWords('INNER', 'JOIN')) return null;
  const kind = isLeft ? 'left' : 'inner';
  const source = parseTable(place);
  if (reader.takeWords('ON')) {
    return { kind, source, on: parseExpression(reader), using: [], position };
  }
  if (!reader.takeWords('USING')) throw reader.unexpected('ON or USING');
  reader.expectSymbol('(');
  const using: string[] = [];
  do using.push(reader.expectColumnName('a column').text.toLowerCase());
  while (reader.takeSymbol(','));
  reader.expectSymbol(')');
  return { kind, source, on: null, using, position };
}
