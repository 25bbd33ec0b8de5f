/**
 * The second check: ClickHouse's own parse tree of a statement, before it runs.
 *
 * Statements are written by this folder from a checked query and contain no text of the user. If that ever
 * fails, this check stops the statement: ClickHouse parses the statement (`EXPLAIN AST`, which resolves nothing and
 * reads nothing), and every node of its tree must be on the list below. A statement reads `usage_events`
 * once, through no table function and no join, and calls only functions that the writers use.
 */
import { z } from 'zod';
import { assert } from '../../core/errors.ts';
import type { ClickHouse, QueryParams } from '../client/clickhouse.ts';

export interface ParseNode {
  readonly kind: string;
  /** What the line says besides: a name or a literal. */
  readonly detail: string;
  readonly children: ParseNode[];
}

const EVENTS_TABLE = 'usage_events';
/** What ClickHouse writes for a SELECT without FROM. */
const NO_TABLE = 'system.one';

/** Nodes without rules of their own. */
const PLAIN_KINDS = new Set([
  'ExpressionList',
  'Identifier',
  'Literal',
  'OrderByElement',
  'SelectQuery',
  'SelectWithUnionQuery',
  'Subquery',
]);

const FUNCTIONS = new Set(
  `CAST _CAST abs and any argMax argMaxMerge argMaxState argMin argMinMerge argMinState array arrayElement
  arrayFilter arrayJoin arrayMap arrayPopFront arrayPushBack arrayStringConcat ceil coalesce concat count
  countMerge countState
  empty equals extract extractGroups floor fromUnixTimestamp64Micro fromUnixTimestamp64Milli greater greaterOrEquals
  greatest hex if ifNull in intDiv isNotNull isNull JSONExtract lambda least left length less
  lessOrEquals mapContains match max maxMerge maxState min minMerge minState minus modulo multiIf multiply negate
  not notEquals nullIf or overlay plus quantileExactLow reinterpret repeat replaceOne replaceRegexpAll round SHA256 sipHash64 sum
  sumMerge sumState
  throwIf toDecimal128OrNull toDecimal256 toDecimal256OrNull toInt16OrZero toInt256 toInt64 toInt64OrNull toString
  toUInt8 toUnixTimestamp64Micro toUnixTimestamp64Milli transform tuple tupleElement uniqExact uniqExactMerge
  uniqExactState`.split(/\s+/),
);

/** Throws a plain error, for it would be a fault of ours, when the tree of `sql` is not on the list. */
export async function verifyStatement(
  clickhouse: ClickHouse,
  sql: string,
  params: QueryParams,
): Promise<void> {
  const rows = await clickhouse.query({
    sql: `SELECT explain FROM (EXPLAIN AST ${sql})`,
    params: withoutContent(params),
    lane: 'verification',
    schema: z.object({ explain: z.string() }),
  });
  verifyTree(readTree(rows.map(({ explain }) => explain)));
}

/** The values do not matter to the tree; what a user wrote had better not appear in it. */
function withoutContent(params: QueryParams): QueryParams {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? [] : emptyValue(value)]),
  );
}

function emptyValue(value: unknown): unknown {
  return typeof value === 'string' ? '0' : 0;
}

const LINE = /^( *)([A-Za-z]+)(?: (.*?))??(?: \(children (\d+)\))?$/s;

/** Reads the lines of `EXPLAIN AST`. Throws where they do not add up to one tree. */
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

/** Throws when a node is not on the list, or the events are not read exactly once. */
export function verifyTree(root: ParseNode): void {
  assert(root.kind === 'SelectWithUnionQuery', `a statement is a SELECT, not ${root.kind}`);
  let reads = 0;
  const visit = (node: ParseNode) => {
    verifyNode(node);
    if (node.kind === 'TableIdentifier' && node.detail === EVENTS_TABLE) reads += 1;
    for (const child of node.children) visit(child);
  };
  visit(root);
  assert(reads === 1, `a statement reads the events once, not ${reads} times`);
}

function verifyNode(node: ParseNode): void {
  const { kind, detail, children } = node;
  const name = detail.replace(/ \(alias [a-z_]+\d*(?:_[a-z_]+\d*)?\)$/, '');
  switch (kind) {
    case 'Function':
      assert(FUNCTIONS.has(name), `the function ${name} is not among those that statements use`);
      if (name === 'in') verifyList(children);
      return;
    case 'TableIdentifier':
      assert(detail === EVENTS_TABLE || detail === NO_TABLE, `the table ${detail} is not for SQL metrics`);
      return;
    case 'TablesInSelectQuery':
      assert(children.length === 1, 'a SELECT reads from one place');
      return;
    case 'TablesInSelectQueryElement':
      verifyOnlyChild(node, ['TableExpression']);
      return;
    case 'TableExpression':
      verifyOnlyChild(node, ['TableIdentifier', 'Subquery']);
      return;
    default:
      assert(PLAIN_KINDS.has(kind), `${kind} is not among the parts of statements`);
  }
}

/** A name after IN could be that of a table. */
function verifyList([operands]: readonly ParseNode[]): void {
  const list = operands?.children[1];
  assert(
    list?.kind === 'Literal' || list?.kind === 'Function',
    `IN takes a list of values, not ${list?.kind}`,
  );
}

function verifyOnlyChild({ kind, children }: ParseNode, kinds: readonly string[]): void {
  const [child] = children;
  assert(
    children.length === 1 && child !== undefined && kinds.includes(child.kind),
    `${kind} holds ${children.map((each) => each.kind).join(', ')}`,
  );
}
