/**
 * The grammar of a SQL metric: one SELECT over `events`, over a subquery, or over a query named in WITH.
 * Throws a `QueryProblem` for everything else.
 */
import { UNUSABLE_NAME } from '../../core/own-value.ts';
import { parseExpression } from './parse-expression.ts';
import { QueryProblem } from './query-refusal.ts';
import {
  type Expression,
  isGrouped,
  type SelectItem,
  type SelectQuery,
  type Source,
} from './query-syntax.ts';
import { TokenReader } from './token-reader.ts';
import { tokenize } from './tokens.ts';

const SUBQUERY_DEPTH_MAX = 10;
const COLUMNS_MAX = 12;
/** Of an aggregate over an aggregate, for each that is below it: by hours, each level is planned in several. */
const GROUPING_WEIGHT = 7;

/** Queries named in WITH that can be seen from here, by their name in lower case. */
type NamedQueries = ReadonlyMap<string, SelectQuery>;

interface Place {
  readonly reader: TokenReader;
  readonly named: NamedQueries;
  readonly depth: number;
}

export function parseQuery(sql: string): SelectQuery {
  const reader = new TokenReader(tokenize(sql));
  if (!reader.isWord('SELECT') && !reader.isWord('WITH')) {
    throw reader.unexpected('SELECT or WITH: a SQL metric is one SELECT statement');
  }
  const query = parseWith({ reader, named: new Map(), depth: 0 });
  const { position } = reader.next;
  const isEnded = reader.takeSymbol(';');
  if (reader.next.kind === 'end') return query;
  throw isEnded ? new QueryProblem(position, 'one statement only') : unavailable(reader);
}

/** `[WITH name AS (…), …] SELECT …` */
function parseWith(place: Place): SelectQuery {
  const { reader, depth } = place;
  if (depth > SUBQUERY_DEPTH_MAX) {
    throw new QueryProblem(reader.next.position, `at most ${SUBQUERY_DEPTH_MAX} queries inside each other`);
  }
  const named = new Map(place.named);
  if (reader.takeWords('WITH')) {
    if (reader.isWord('RECURSIVE')) throw unavailable(reader);
    do {
      const name = reader.expectName('a name for the query');
      refuseReservedName(name.text, name.position);
      if (named.has(name.text.toLowerCase())) {
        throw new QueryProblem(name.position, `the name ${name.text} is given twice`);
      }
      reader.expectWord('AS');
      reader.expectSymbol('(');
      const query = parseWith({ reader, named, depth: depth + 1 });
      closeSubquery(reader);
      named.set(name.text.toLowerCase(), query);
    } while (reader.takeSymbol(','));
  }
  return parseSelect({ reader, named, depth });
}

function parseSelect(place: Place): SelectQuery {
  const { reader } = place;
  const { position } = reader.next;
  reader.expectWord('SELECT');
  const distinct = reader.takeWords('DISTINCT');
  const items = parseItems(reader);
  const source = parseSource(place);
  const where = reader.takeWords('WHERE') ? parseExpression(reader) : null;
  const groupBy = reader.takeWords('GROUP', 'BY') ? parseGroupBy(reader, items) : [];
  const having = reader.takeWords('HAVING') ? parseExpression(reader) : null;
  const query = { position, distinct, items, source, where, groupBy, having };
  if (isGrouped(query)) reader.addWeight(position, GROUPING_WEIGHT * groupingsIn(source));
  return query;
}

/** How many of the queries that are read one through another aggregate. */
function groupingsIn(source: Source): number {
  if (source.kind === 'events') return 0;
  return (isGrouped(source.query) ? 1 : 0) + groupingsIn(source.query.source);
}

function parseItems(reader: TokenReader): SelectItem[] {
  const items: SelectItem[] = [];
  const names = new Set<string>();
  do {
    const { position } = reader.next;
    const expression = parseExpression(reader);
    const name = parseAlias(reader) ?? nameOf(expression);
    if (name === UNUSABLE_NAME) {
      throw new QueryProblem(position, `a column must not be named ${UNUSABLE_NAME}: name it with AS`);
    }
    if (name !== null && names.has(name.toLowerCase())) {
      throw new QueryProblem(position, `two columns are named ${name}`);
    }
    if (name !== null) names.add(name.toLowerCase());
    items.push({ expression, name });
    if (items.length > COLUMNS_MAX) {
      throw new QueryProblem(position, `a query has at most ${COLUMNS_MAX} columns`);
    }
  } while (reader.takeSymbol(','));
  return items;
}

/** `AS name`, or a name alone. */
function parseAlias(reader: TokenReader): string | null {
  const isExplicit = reader.takeWords('AS');
  if (!isExplicit && !reader.isName()) return null;
  const { text, position } = reader.expectName('a name for the column');
  refuseReservedName(text, position);
  return text;
}

/** What a column is called that was given no name. */
function nameOf(expression: Expression): string | null {
  return expression.kind === 'column' || expression.kind === 'property' ? expression.name : null;
}

function parseSource(place: Place): Source {
  const { reader, named, depth } = place;
  reader.expectWord('FROM');
  const { position, text } = reader.next;
  let source: Source;
  if (reader.takeSymbol('(')) {
    const query = parseWith({ ...place, depth: depth + 1 });
    closeSubquery(reader);
    source = { kind: 'query', query, qualifier: null };
  } else {
    reader.expectName('events, a query named in WITH, or a subquery in brackets');
    refuseOtherSource(reader, text, position);
    const name = text.toLowerCase();
    const query = named.get(name);
    if (name !== 'events' && query === undefined) {
      throw new QueryProblem(position, `the table ${text} is not available; the only table is events`);
    }
    source =
      query === undefined ? { kind: 'events', qualifier: name } : { kind: 'query', query, qualifier: name };
  }
  const alias = parseAlias(reader);
  refuseJoin(reader);
  return alias === null ? source : { ...source, qualifier: alias.toLowerCase() };
}

function refuseOtherSource(reader: TokenReader, text: string, position: number): void {
  if (reader.isSymbol('(')) {
    throw new QueryProblem(position, `the table function ${text} is not available; the only table is events`);
  }
  if (reader.isSymbol('.')) {
    throw new QueryProblem(
      position,
      'a table of another database is not available; the only table is events',
    );
  }
}

function refuseJoin(reader: TokenReader): void {
  const isJoin = [
    'JOIN',
    'INNER',
    'LEFT',
    'RIGHT',
    'FULL',
    'CROSS',
    'NATURAL',
    'SEMI',
    'ANTI',
    'ASOF',
    'GLOBAL',
    'ARRAY',
  ].some((word) => reader.isWord(word));
  if (isJoin || reader.isSymbol(',')) {
    throw new QueryProblem(
      reader.next.position,
      'joins are not available; a query reads events or one subquery',
    );
  }
}

/** A name stands for the column of that name, a whole number for the column at that place. */
function parseGroupBy(reader: TokenReader, items: readonly SelectItem[]): Expression[] {
  const keys: Expression[] = [];
  do {
    const written = parseExpression(reader);
    const key = standsFor(written, items);
    if (key.aggregateAt !== null) {
      throw new QueryProblem(written.position, 'GROUP BY cannot contain an aggregate function');
    }
    keys.push(key);
  } while (reader.takeSymbol(','));
  return keys;
}

function standsFor(key: Expression, items: readonly SelectItem[]): Expression {
  if (key.kind === 'number') {
    const item = /^\d{1,2}$/.test(key.digits) ? items[Number(key.digits) - 1] : undefined;
    if (item === undefined) throw new QueryProblem(key.position, `there is no column ${key.digits}`);
    return item.expression;
  }
  if (key.kind !== 'column' || key.qualifier !== null) return key;
  const item = items.find(({ name }) => name?.toLowerCase() === key.name);
  // A name that a sum was given may also be that of the column which is summed.
  return item === undefined || item.expression.aggregateAt !== null ? key : item.expression;
}

function closeSubquery(reader: TokenReader): void {
  if (!reader.takeSymbol(')')) throw unavailable(reader);
}

/** Names that have a meaning of their own everywhere in a query. */
function refuseReservedName(name: string, position: number): void {
  if (['events', 'properties'].includes(name.toLowerCase())) {
    throw new QueryProblem(position, `the name ${name} is taken: choose another`);
  }
}

const UNAVAILABLE: ReadonlyArray<readonly [words: readonly string[], problem: string]> = [
  [['UNION', 'INTERSECT', 'EXCEPT'], 'one SELECT only: UNION, INTERSECT and EXCEPT are not available'],
  [['ORDER'], 'ORDER BY is not available: rows have no order, they are summed'],
  [['LIMIT', 'OFFSET', 'FETCH'], 'LIMIT is not available: every row counts'],
  [['SETTINGS', 'FORMAT', 'INTO'], 'SETTINGS, FORMAT and INTO are not available'],
  [['RECURSIVE'], 'WITH RECURSIVE is not available'],
  [['LIKE', 'ILIKE'], 'LIKE is not available: use = or IN'],
  [['OVER', 'WINDOW', 'QUALIFY'], 'window functions are not available'],
];

/** The problem with a token that the grammar has no place for. */
function unavailable(reader: TokenReader): QueryProblem {
  const { kind, text, position } = reader.next;
  const word = kind === 'word' ? text.toUpperCase() : '';
  const known = UNAVAILABLE.find(([words]) => words.includes(word));
  if (known !== undefined) return new QueryProblem(position, known[1]);
  return reader.unexpected('an operator, WHERE, GROUP BY, HAVING or the end of the query');
}
