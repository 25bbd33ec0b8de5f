/**
 * The grammar of a SQL metric: one SELECT, or several with UNION, over `events`, subqueries and queries named in WITH,
 * joined or concatenated. Throws a `QueryProblem` for everything else.
 */
import { QueryProblem } from '../values/query-refusal.ts';
import { build } from './expression-weight.ts';
import { refuseReservedName } from './parse-alias.ts';
import { parseExpression } from './parse-expression.ts';
import { expandItems, parseItems } from './parse-items.ts';
import { type Place, parseFrom, type QuerySize, unionColumn } from './parse-source.ts';
import { parseOrder } from './parse-window.ts';
import {
  type Expression,
  isGrouped,
  type OrderItem,
  queriesIn,
  type SelectItem,
  type SelectQuery,
  type Source,
} from './query-syntax.ts';
import { TokenReader } from './token-reader.ts';
import { tokenize } from './tokens.ts';

const SUBQUERY_DEPTH_MAX = 10;
/** Maximum reads of the events in a query: through joins, UNION and subqueries in expressions. */
const READS_MAX = 8;
const ROWS_MAX = 1_000_000;
/** The weight of an aggregate for each aggregate below it: by hours, each level is planned in several. */
const GROUPING_WEIGHT = 7;

/** `isAcross`: over the views of all customers, instead of the events of one. */
export function parseQuery(sql: string, isAcross = false): SelectQuery {
  const reader = new TokenReader(tokenize(sql));
  reader.hasClock = isAcross;
  if (!reader.isWord('SELECT') && !reader.isWord('WITH')) {
    throw reader.unexpected(`SELECT or WITH: a ${isAcross ? 'query' : 'SQL metric'} is one SELECT statement`);
  }
  const query = parseWith({ reader, named: new Map(), depth: 0, sizes: new Map(), isAcross });
  const { position } = reader.next;
  const isEnded = reader.takeSymbol(';');
  if (reader.next.kind === 'end') return query;
  throw isEnded ? new QueryProblem(position, 'one statement only') : unavailable(reader);
}

/** `[WITH name AS (…), …] SELECT … [UNION ALL SELECT …]` */
function parseWith(place: Place): SelectQuery {
  const { reader, depth, sizes, isAcross } = place;
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
      const before = reader.weighed;
      const query = parseWith({ reader, named, sizes, depth: depth + 1, isAcross });
      closeSubquery(reader);
      named.set(name.text.toLowerCase(), { query, weight: reader.weighed - before, uses: 0 });
    } while (reader.takeSymbol(','));
  }
  return parseUnion({ reader, named, depth, sizes, isAcross });
}

function parseUnion(place: Place): SelectQuery {
  const { reader } = place;
  const { position } = reader.next;
  const first = parseSelect(place);
  const queries = [first];
  let distinct = false;
  while (reader.isWord('UNION')) {
    if (first.limit !== null || queries.at(-1)?.limit != null) throw orderedMember(reader);
    reader.take();
    const isAll = reader.takeWords('ALL');
    if (!isAll) reader.takeWords('DISTINCT');
    if (queries.length > 1 && distinct === isAll) {
      throw new QueryProblem(reader.next.position, 'UNION and UNION ALL cannot be mixed: use a subquery');
    }
    distinct = !isAll;
    const member = parseSelect(place);
    if (member.items.length !== first.items.length) {
      throw new QueryProblem(
        member.position,
        `the queries of a UNION have as many columns as the first one, ${first.items.length}`,
      );
    }
    queries.push(member);
  }
  if (queries.length === 1) return first;
  if (queries.at(-1)?.limit != null) throw orderedMember(reader);
  return measured(place, unionOf(reader, position, queries, distinct));
}

function orderedMember(reader: TokenReader): QueryProblem {
  return new QueryProblem(reader.next.position, 'LIMIT in a UNION: put the query in brackets after FROM');
}

/** The rows of all queries as one SELECT, whose columns have the names of the first one's. */
function unionOf(
  reader: TokenReader,
  position: number,
  queries: readonly SelectQuery[],
  distinct: boolean,
): SelectQuery {
  const items = (queries[0]?.items ?? []).map(({ name }, index): SelectItem => {
    const column = build(reader, position, {
      kind: 'column',
      qualifier: null,
      name: unionColumn(name, index),
    });
    return { expression: column, name };
  });
  const source: Source = { kind: 'union', queries, qualifier: null };
  return { ...EMPTY_SELECT, position, distinct, items, source };
}

const EMPTY_SELECT = {
  joins: [],
  where: null,
  groupBy: [],
  having: null,
  orderBy: [],
  limit: null,
  offset: 0,
} as const;

function parseSelect(place: Place): SelectQuery {
  const { reader } = place;
  const { position } = reader.next;
  const outer = reader.parseSubquery;
  reader.parseSubquery = (times) => {
    const query = parseWith({ ...place, depth: place.depth + 1 });
    closeSubquery(reader);
    inExpressions.push(...Array.from({ length: times }, () => query));
    return query;
  };
  const inExpressions: SelectQuery[] = [];
  reader.expectWord('SELECT');
  const distinct = reader.takeWords('DISTINCT');
  const written = parseItems(reader, place.isAcross);
  const { source, joins } = reader.takeWords('FROM')
    ? parseFrom({ ...place, parseWith, closeSubquery })
    : { source: withoutFrom(place, inExpressions.length > 0), joins: [] };
  const items = expandItems(reader, written, { source, joins });
  const where = reader.takeWords('WHERE') ? parseExpression(reader) : null;
  const groupBy = reader.takeWords('GROUP', 'BY') ? parseGroupBy(reader, items) : [];
  const having = reader.takeWords('HAVING') ? parseExpression(reader) : null;
  const orderBy = reader.takeWords('ORDER', 'BY') ? parseOrderBy(reader, items) : [];
  const limit = reader.takeWords('LIMIT') ? parseRowCount(reader) : null;
  const offset = limit !== null && reader.takeWords('OFFSET') ? parseRowCount(reader) : 0;
  reader.parseSubquery = outer;
  const query = { position, distinct, items, source, joins, where, groupBy, having, orderBy, limit, offset };
  return measured(place, query, inExpressions);
}

/** One row, for values of subqueries. In a metric it is the row of a count, which has one in every part. */
function withoutFrom({ reader, isAcross }: Place, hasQueries: boolean): Source {
  if (isAcross) return { kind: 'one', qualifier: null };
  // Reports that FROM is expected.
  if (!hasQueries) reader.expectWord('FROM');
  const { position } = reader.next;
  const count = { name: 'COUNT', distinct: false, operands: [], filter: null, level: null } as const;
  const item = { expression: build(reader, position, { kind: 'aggregate', ...count }), name: null };
  const source: Source = { kind: 'events', qualifier: 'events' };
  return {
    kind: 'query',
    query: { ...EMPTY_SELECT, position, distinct: false, items: [item], source },
    qualifier: null,
  };
}

/** Refuses a query that reads the events too often, and weighs one that aggregates the aggregates of others. */
function measured(place: Place, query: SelectQuery, inExpressions: readonly SelectQuery[] = []): SelectQuery {
  const { reader, sizes } = place;
  const sources = [query.source, ...query.joins.map(({ source }) => source)];
  const read = [...queriesIn(query), ...inExpressions].map((each) => sizes.get(each) ?? NO_SIZE);
  const reads = read.reduce((sum, each) => sum + each.reads, sources.filter(isOfEvents).length);
  if (reads > READS_MAX) {
    throw new QueryProblem(query.position, `the query reads the events more than ${READS_MAX} times`);
  }
  const below = Math.max(0, ...read.map((each) => each.groupings));
  const grouped = isGrouped(query);
  if (grouped) reader.addWeight(query.position, GROUPING_WEIGHT * below);
  sizes.set(query, { reads, groupings: below + (grouped ? 1 : 0) });
  return query;
}

const NO_SIZE: QuerySize = { reads: 0, groupings: 0 };

function isOfEvents(source: Source): boolean {
  if (source.kind === 'unnest') return isOfEvents(source.source);
  return source.kind === 'events' || source.kind === 'view';
}

function parseOrderBy(reader: TokenReader, items: readonly SelectItem[]): OrderItem[] {
  return parseOrder(reader, (operand) => standsFor(parseExpression(operand), items, true));
}

function parseRowCount(reader: TokenReader): number {
  const { kind, text } = reader.next;
  if (kind !== 'number' || !/^\d{1,7}$/.test(text) || Number(text) > ROWS_MAX) {
    throw reader.unexpected(`a number of rows up to ${ROWS_MAX}`);
  }
  reader.take();
  return Number(text);
}

/** A name refers to the column of that name, an integer to the column at that position. */
function parseGroupBy(reader: TokenReader, items: readonly SelectItem[]): Expression[] {
  if (reader.takeWords('ALL')) {
    return items.flatMap(({ expression }) => (expression.aggregateAt === null ? [expression] : []));
  }
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

function standsFor(key: Expression, items: readonly SelectItem[], mayAggregate = false): Expression {
  if (key.kind === 'number') {
    const item = /^\d{1,2}$/.test(key.digits) ? items[Number(key.digits) - 1] : undefined;
    if (item === undefined) throw new QueryProblem(key.position, `there is no column ${key.digits}`);
    return item.expression;
  }
  if (key.kind !== 'column' || key.qualifier !== null) return key;
  const item = items.find(({ name }) => name?.toLowerCase() === key.name);
  // The alias of a sum may also be the name of the summed column.
  return item === undefined || (item.expression.aggregateAt !== null && !mayAggregate)
    ? key
    : item.expression;
}

function closeSubquery(reader: TokenReader): void {
  if (!reader.takeSymbol(')')) throw unavailable(reader);
}

const UNAVAILABLE: ReadonlyArray<readonly [words: readonly string[], problem: string]> = [
  [['INTERSECT', 'EXCEPT'], 'INTERSECT and EXCEPT are not available: use IN (SELECT …)'],
  [['FETCH', 'OFFSET'], 'FETCH is not available, nor OFFSET without LIMIT: use LIMIT n OFFSET m'],
  [['BY'], 'LIMIT … BY is not available: use ROW_NUMBER() OVER (PARTITION BY …)'],
  [['SETTINGS', 'FORMAT', 'INTO'], 'SETTINGS, FORMAT and INTO are not available'],
  [['RECURSIVE'], 'WITH RECURSIVE is not available'],
  [['QUALIFY'], 'QUALIFY is not available: use a subquery and WHERE'],
  [['WINDOW'], 'windows have no names: write OVER (…)'],
  [
    ['RIGHT', 'FULL'],
    'RIGHT and FULL JOIN are not available: put the query whose rows stay first, with LEFT JOIN',
  ],
  [
    ['SEMI', 'ANTI', 'ASOF', 'PASTE', 'GLOBAL', 'ANY', 'ALL', 'NATURAL'],
    'only [INNER] JOIN, LEFT JOIN and CROSS JOIN are available',
  ],
];

/** The problem with a token that the grammar does not accept. */
function unavailable(reader: TokenReader): QueryProblem {
  const { kind, text, position } = reader.next;
  const word = kind === 'word' ? text.toUpperCase() : '';
  const known = UNAVAILABLE.find(([words]) => words.includes(word));
  if (known !== undefined) return new QueryProblem(position, known[1]);
  return reader.unexpected('an operator, WHERE, GROUP BY, HAVING or the end of the query');
}
