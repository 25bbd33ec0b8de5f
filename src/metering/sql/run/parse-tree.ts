/**
 * The second check: ClickHouse's own parse tree of a statement, before it runs.
 *
 * Statements are written by this folder from a checked query and contain no text of the user. If that ever fails, this
 * check stops the statement: ClickHouse parses the statement (`EXPLAIN AST`, which resolves nothing and reads nothing),
 * and every node of its tree must be on the list below. A statement reads only `usage_events`, through no table
 * function, each time as the only source of a SELECT; unless the rows of all customers are read, its WHERE names the
 * customers. Only such SELECTs are joined. It calls only functions that the writers use.
 */
import { z } from 'zod';
import { assert } from '../../../core/errors.ts';
import { NO_EVENTS } from '../../client/around.ts';
import type { ClickHouse, QueryParams } from '../../client/clickhouse.ts';

export interface ParseNode {
  readonly kind: string;
  /** The rest of the line: a name or a literal. */
  readonly detail: string;
  readonly children: ParseNode[];
}

/** The table that ClickHouse uses for a SELECT without FROM. */
const NO_TABLE = 'system.one';

/** Nodes without separate rules. */
const PLAIN_KINDS = new Set([
  'ExpressionList',
  'Identifier',
  'Literal',
  'OrderByElement',
  'SelectQuery',
  'SelectWithUnionQuery',
  'Subquery',
  'TableJoin',
  'WindowDefinition',
]);

/** Maximum reads of the events in a statement. */
const READS_MAX = 8;

/** The tables that a statement may read. */
export interface TreeRules {
  /** Each table, with the column by which every read of it names its rows; null for a table sent with the statement. */
  readonly tables: ReadonlyMap<string, string | null>;
  /** Whether rows of all customers are read, so that reads need not name any. */
  readonly ofAllCustomers?: boolean;
  /** The minimum number of table reads. */
  readonly readsMin: number;
}

/** For a SQL metric: the events of one customer. */
const METRIC_RULES: TreeRules = { tables: new Map([['usage_events', 'customer_ref']]), readsMin: 1 };

const FUNCTIONS = new Set(
  `_CAST abs addDays addHours addMinutes addMonths addQuarters addSeconds addWeeks addYears and any argMax
  argMaxMerge argMaxState argMin argMinMerge argMinState array arrayConcat arrayCumSum arrayElement arrayFilter
  arrayFirst arrayJoin arrayMap arrayPopFront arrayPushBack arrayResize arraySort arrayStringConcat arrayZip
  assumeNotNull CAST ceil coalesce concat count countMerge countState dateDiff dense_rank empty endsWith
  equals exp extract extractGroups first_value_respect_nulls floor formatDateTime fromUnixTimestamp64Micro
  fromUnixTimestamp64Milli globalIn greater greaterOrEquals greatest groupArray groupArrayMerge groupArrayState groupBitAnd groupBitAndMerge
  groupBitAndState groupBitOr groupBitOrMerge groupBitOrState groupBitXor groupBitXorMerge groupBitXorState
  has hex if ifNull ilike in intDiv isNotNull isNull JSONExtract lag lambda last_value_respect_nulls lead
  least left leftUTF8 length lengthUTF8 less lessOrEquals like log log10 log2 lowerUTF8 makeDate32
  mapContains match max maxMerge maxState min minMerge minState minus modulo multiIf multiply negate not
  notEquals nullIf or overlay parseDateTime64BestEffortOrNull plus positionUTF8 positiveModulo pow printf
  quantileExactLow rank reinterpret repeat replaceAll replaceOne replaceRegexpAll rightUTF8 round row_number
  SHA256 sign sipHash64 splitByString sqrt startsWith substringUTF8 sum sumMerge sumState throwIf
  timeZoneOffset toDateTime64 toDayOfMonth toDayOfWeek toDayOfYear toDecimal128OrNull toDecimal256
  toDecimal256OrNull toFloat64 toHour toInt16OrZero toInt256 toInt64 toInt64OrNull toISOWeek toJSONString
  toMinute toMonth toNullable toQuarter toSecond toString toTimeZone toUInt8 toUnixTimestamp64Micro
  toUnixTimestamp64Milli toYear transform trimBoth trimLeft trimRight trunc tuple tupleElement uniqExact
  uniqExactMerge uniqExactState upperUTF8`.split(/\s+/),
);

/** Throws a plain error, because it would be our bug, if the tree of `sql` is not on the list. */
export async function verifyStatement(
  clickhouse: ClickHouse,
  sql: string,
  params: QueryParams,
  rules: TreeRules = METRIC_RULES,
): Promise<void> {
  const rows = await clickhouse.query({
    sql: `SELECT explain FROM (EXPLAIN AST ${sql})`,
    params: withoutContent(params),
    lane: 'verification',
    eventsOf: NO_EVENTS,
    schema: z.object({ explain: z.string() }),
  });
  verifyTree(readTree(rows.map(({ explain }) => explain)), rules);
}

/** The values do not affect the tree; user input should not appear in it. */
function withoutContent(params: QueryParams): QueryParams {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? [] : emptyValue(value)]),
  );
}

function emptyValue(value: unknown): unknown {
  return typeof value === 'string' ? '0' : 0;
}

const LINE = /^( *)([A-Za-z]+)(?: (.*?))??(?: \(children (\d+)\))?$/s;

/** Parses the lines of `EXPLAIN AST`. Throws if they do not form one tree. */
export function readTree(lines: readonly string[]): ParseNode {
  const path: Array<{ node: ParseNode; announced: number }> = [];
  const all: Array<{ node: ParseNode; announced: number }> = [];
  for (const line of lines) {
    const match = LINE.exec(line);
    assert(match !== null, `a line of the parse tree reads ${line}`);
    const [, indent = '', kind = '', detail = '', announced = '0'] = match;
    const entry = { node: { kind, detail, children: [] }, announced: Number(announced) };
    assert(
      indent.length <= path.length && (indent.length > 0 || all.length === 0),
      'a parse tree has one root',
    );
    path.length = indent.length;
    path.at(-1)?.node.children.push(entry.node);
    path.push(entry);
    all.push(entry);
  }
  for (const { node, announced } of all) {
    assert(node.children.length === announced, `${node.kind} has ${announced} parts in the parse tree`);
  }
  const [root] = all;
  assert(root !== undefined, 'a parse tree is not empty');
  return root.node;
}

/** Throws if a node is not on the list, if events are not read, or if they are read without naming a customer. */
export function verifyTree(root: ParseNode, rules: TreeRules = METRIC_RULES): void {
  assert(root.kind === 'SelectWithUnionQuery', `a statement is a SELECT, not ${root.kind}`);
  let reads = 0;
  const visit = (node: ParseNode) => {
    verifyNode(node, rules);
    const key = node.kind === 'SelectQuery' ? keyOfTable(node, rules) : null;
    if (key !== null) {
      reads += 1;
      if (!rules.ofAllCustomers) verifyKey(node, key);
    }
    for (const child of node.children) visit(child);
  };
  visit(root);
  assert(
    reads >= rules.readsMin && reads <= READS_MAX,
    `a statement reads the events ${rules.readsMin} to ${READS_MAX} times, not ${reads} times`,
  );
}

/** The key column of the table that a SELECT itself reads; null if it reads another SELECT. */
function keyOfTable({ children }: ParseNode, { tables }: TreeRules): string | null {
  const names = children
    .filter(({ kind }) => kind === 'TablesInSelectQuery')
    .flatMap((from) => from.children.flatMap((element) => element.children))
    .flatMap((table) => table.children)
    .filter(({ kind }) => kind === 'TableIdentifier')
    .map(({ detail }) => tables.get(detail));
  return names.find((key) => key != null) ?? null;
}

/**
 * The first node after the tables of a SELECT is its WHERE: one of its conditions names the customers, or another key.
 */
function verifyKey({ children }: ParseNode, key: string): void {
  const tables = children.findIndex(({ kind }) => kind === 'TablesInSelectQuery');
  const where = children[tables + 1];
  const conditions = where?.kind === 'Function' && where.detail === 'and' ? partsOf(where) : [where];
  const names = conditions.some(
    (condition) =>
      condition?.kind === 'Function' &&
      (condition.detail === 'in' || condition.detail === 'globalIn') &&
      partsOf(condition)[0]?.kind === 'Identifier' &&
      partsOf(condition)[0]?.detail === key,
  );
  assert(names, key === 'customer_ref' ? 'a SELECT of events names their customer' : `a SELECT names ${key}`);
}

/** The arguments of a function. */
function partsOf({ children }: ParseNode): readonly ParseNode[] {
  return children[0]?.children ?? [];
}

function verifyNode(node: ParseNode, { tables }: TreeRules): void {
  const { kind, detail, children } = node;
  const name = detail.replace(/ \(alias [a-z_]+\d*(?:_[a-z_]+\d*)?\)$/, '');
  switch (kind) {
    case 'Function':
      assert(FUNCTIONS.has(name), `the function ${name} is not among those that statements use`);
      if (name === 'in') verifyList(children, ['Literal', 'Function']);
      if (name === 'globalIn') verifyList(children, ['Subquery']);
      return;
    case 'TableIdentifier':
      assert(tables.has(detail) || detail === NO_TABLE, `the table ${detail} is not for SQL metrics`);
      return;
    case 'TablesInSelectQuery':
      verifyTables(children);
      return;
    case 'TablesInSelectQueryElement':
      verifyOnlyChild({ ...node, children: withoutJoin(children) }, ['TableExpression']);
      return;
    case 'TableExpression':
      verifyOnlyChild(node, ['TableIdentifier', 'Subquery']);
      return;
    default:
      assert(PLAIN_KINDS.has(kind), `${kind} is not among the parts of statements`);
  }
}

/** Joined inputs are SELECTs: the events are the only source of the SELECT that reads them. */
function verifyTables(elements: readonly ParseNode[]): void {
  const tables = elements.map(({ children }) => withoutJoin(children)[0]);
  assert(
    tables.length === 1 || tables.every((table) => table?.children[0]?.kind === 'Subquery'),
    'a SELECT that reads from several places reads from SELECTs',
  );
  const joins = elements.map(({ children }) => children.filter(({ kind }) => kind === 'TableJoin').length);
  assert(
    joins.every((count, index) => count === (index === 0 ? 0 : 1)),
    'every place but the first one is joined',
  );
}

function withoutJoin(children: readonly ParseNode[]): ParseNode[] {
  return children.filter(({ kind }) => kind !== 'TableJoin');
}

/** A name after IN could be that of a table. A subquery is checked like every SELECT. */
function verifyList([operands]: readonly ParseNode[], kinds: readonly string[]): void {
  const list = operands?.children[1];
  assert(list !== undefined && kinds.includes(list.kind), `IN takes a list of values, not ${list?.kind}`);
}

function verifyOnlyChild({ kind, children }: ParseNode, kinds: readonly string[]): void {
  const [child] = children;
  assert(
    children.length === 1 && child !== undefined && kinds.includes(child.kind),
    `${kind} holds ${children.map((each) => each.kind).join(', ')}`,
  );
}
