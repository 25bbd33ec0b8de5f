/** Runs the statements of SQL metrics: verified, within limits, and with failures that an analyst understands. */
import { ClickHouseError } from '@clickhouse/client';
import { z } from 'zod';
import { invalid, Refusal } from '../../../core/errors.ts';
import type { ClickHouse, QuerySettings } from '../../client/clickhouse.ts';
import {
  BILLING_EXECUTION_SECONDS,
  GIBIBYTE,
  limitRefusal,
  limitSettings,
  type QueryLimits,
} from '../../query/query-limits.ts';
import type { CompiledStatement } from '../generate/statement-sql.ts';
import { SEVERAL_ROWS_MESSAGE } from '../generate/subqueries.ts';
import { OVERFLOW_MESSAGE } from '../values/exact-sql.ts';
import { verifyStatement } from './parse-tree.ts';

/** For the creation of a metric, over no events: only planning takes time. */
export const DEFINITION_LIMITS: QueryLimits = {
  lane: 'analysis',
  executionSeconds: 10,
  memoryBytes: GIBIBYTE,
  rowsRead: 1_000,
  resultRows: 1_000,
  threads: 1,
};

/** An invoice has to be computed, even if it takes long: these limits only protect the machine. */
export const BILLING_LIMITS: QueryLimits = {
  lane: null,
  executionSeconds: BILLING_EXECUTION_SECONDS,
  memoryBytes: 4 * GIBIBYTE,
  rowsRead: 10_000_000_000,
  resultRows: 1_000_000,
  threads: null,
};

/** A query has at most ten levels, and each becomes at most four. */
const SUBQUERY_DEPTH_MAX = 100;

const statementRow = z.object({
  /** Unix seconds in the row. */
  part: z.string().transform(Number),
  group_values: z.array(z.string().nullable()),
  value: z.string().nullable(),
});
export type StatementRow = z.infer<typeof statementRow>;

/** Runs statements one after another; verifies each text once. */
export interface StatementRunner {
  /** Throws an `invalid` refusal that names the exceeded limit. */
  run<Row>(statement: CompiledStatement, schema: z.ZodType<Row>): Promise<Row[]>;
  /** Rows of a statement over a query. */
  runQuery(statement: CompiledStatement): Promise<StatementRow[]>;
}

/**
 * Runs statements over the events of one customer, whose references are `refs`, its id first; over no events if empty.
 */
export function createStatementRunner(
  clickhouse: ClickHouse,
  limits: QueryLimits,
  refs: readonly string[],
  verified: Set<string> = new Set(),
): StatementRunner {
  const lane = limits.lane === null ? {} : { lane: limits.lane };
  const of = { customer: refs[0], eventsOf: refs };
  const run = async <Row>({ sql, parameters }: CompiledStatement, schema: z.ZodType<Row>): Promise<Row[]> => {
    const params = parameters.values();
    try {
      if (!verified.has(sql)) await verifyStatement(clickhouse, sql, params);
      verified.add(sql);
      return await clickhouse.query({ sql, params, schema, ...lane, ...of, settings: settingsOf(limits) });
    } catch (error) {
      throw error instanceof ClickHouseError ? (refusalOf(error, limits) ?? error) : error;
    }
  };
  return { run, runQuery: (statement) => run(statement, statementRow) };
}

export function settingsOf(limits: QueryLimits): QuerySettings {
  return {
    do_not_merge_across_partitions_select_final: 1,
    decimal_check_overflow: 1,
    least_greatest_legacy_null_behavior: 0,
    // A row without a match on the other side of a join has NULL there.
    join_use_nulls: 1,
    max_subquery_depth: SUBQUERY_DEPTH_MAX,
    ...limitSettings(limits),
  };
}

/** The engine's errors that a query can cause; null for all others, which are our bugs. */
export function refusalOf(error: ClickHouseError, limits: QueryLimits): Refusal | null {
  switch (error.type) {
    case 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO':
      return refuse(error.message.includes(SEVERAL_ROWS_MESSAGE) ? SEVERAL_ROWS_MESSAGE : OVERFLOW_MESSAGE);
    case 'DECIMAL_OVERFLOW':
      return refuse(OVERFLOW_MESSAGE);
    case 'CANNOT_COMPILE_REGEXP':
    case 'CANNOT_PARSE_ESCAPE_SEQUENCE':
      return refuse(`a pattern cannot be read: ${patternProblem(error.message)}`);
    case 'BAD_ARGUMENTS':
      // For metrics created before patterns were checked.
      return /^(The pattern argument|Substitution)/.test(error.message)
        ? refuse(`a pattern or its replacement cannot be read: ${patternProblem(error.message)}`)
        : null;
    case 'SET_SIZE_LIMIT_EXCEEDED':
      return refuse('a join of the query has too many rows');
    case 'TOO_BIG_AST':
    case 'TOO_DEEP_AST':
    case 'TOO_DEEP_SUBQUERIES':
    case 'TOO_DEEP_RECURSION':
      return refuse('the query is too complicated');
    case 'TOO_MANY_ROWS_OR_BYTES':
      // Usage of an invoice that is too much for one answer is read in parts, and so are rows read ahead.
      if (limits.lane === null || limits.resultBytes !== undefined)
        return new Refusal('too_large', `more than ${limits.resultRows} values`);
      return limitRefusal(error, limits, refuse);
    default:
      if (error.message.includes('Query tree is too big')) return refuse('the query is too complicated');
      return limitRefusal(error, limits, refuse);
  }
}

/** RE2's error about a pattern: "missing )". */
export function patternProblem(message: string): string {
  return /(?:error|valid re2 pattern): ([^:\n]{1,100}):/.exec(message)?.[1] ?? 'invalid pattern';
}

function refuse(problem: string): Refusal {
  return invalid(['sql'], problem);
}

/** Whether a query failed because a number is too large, which depends on the events. */
export function isOverflow(error: unknown): boolean {
  return error instanceof Refusal && error.problem === OVERFLOW_MESSAGE;
}
