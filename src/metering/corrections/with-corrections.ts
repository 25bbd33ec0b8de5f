/**
 * Every reader of events sees the applied corrections, because every statement does: `usage_events FINAL` is replaced
 * by a relation with the same columns, in which versions that were taken away are absent and those that count instead
 * are present. While no set is applied, statements stay as they are.
 *
 * A statement that counts ingestion up to an instant sees the sets of that instant: what a finalized invoice has
 * counted can be counted again.
 */
import { around } from '../client/around.ts';
import type { ClickHouse, QueryParams, SelectStatement } from '../client/clickhouse.ts';
import { type Corrections, standingAt } from './corrections.ts';
import { ANY_VERSION, CORRECTED_AT, CORRECTION_PARAMS, COUNTED_UP_TO } from './parameter-names.ts';

const COUNTED_EVENTS = /\busage_events FINAL\b/g;
const ALL_EVENTS = /\bFROM (usage_events(?: FINAL)?)\b/g;
/** References that a statement names as constants. More are found by the conditions of the statement itself. */
const REFS_MAX = 1_000;

export function withCorrections(clickhouse: ClickHouse, corrections: Corrections): ClickHouse {
  const changed = around(clickhouse, {
    change: (statement) =>
      corrections.lastTick() === 0 || statement.lane === 'verification'
        ? statement
        : corrected(statement, corrections),
  });
  return around(changed, {
    async run(call, work) {
      if (call.kind === 'select') await corrections.refresh();
      return await work();
    },
  });
}

function corrected<Statement extends SelectStatement>(
  statement: Statement,
  corrections: Corrections,
): Statement {
  const { params = {}, eventsOf } = statement;
  const sets = corrections.known();
  const upTo = params[COUNTED_UP_TO];
  const attempts = standingAt(sets, upTo === undefined ? null : Number(upTo));
  const facts: QueryParams = {
    [CORRECTED_AT]: String(corrections.lastTick()),
    [CORRECTION_PARAMS.standing]: attempts,
    [CORRECTION_PARAMS.attempts]: sets.map(({ attempt }) => attempt),
    [CORRECTION_PARAMS.ticks]: sets.map((set) => set.revertedTick ?? set.appliedTick),
  };
  const asked = Object.fromEntries(Object.entries(facts).filter(([name]) => name in params));
  const refs = eventsOf !== undefined && eventsOf.length <= REFS_MAX ? eventsOf : null;
  const relation = (events: string) => relationSql(events, refs !== null);
  const sql =
    ANY_VERSION in params
      ? statement.sql.replaceAll(ALL_EVENTS, (_, events: string) => `FROM ${relation(events)}`)
      : statement.sql.replaceAll(COUNTED_EVENTS, relation);
  if (attempts.length === 0 || sql === statement.sql) {
    return { ...statement, params: { ...params, ...asked } };
  }
  return {
    ...statement,
    sql,
    params: {
      ...params,
      ...asked,
      correction_sets: attempts,
      ...(refs === null ? {} : { correction_refs: [...refs] }),
    },
  };
}

const COLUMNS = 'transaction_id, customer_ref, event_type, timestamp, properties, ingested_at';
const KEY = 'customer_ref, event_type, timestamp, transaction_id';

/** The columns of an event, without those that only ingestion reads. */
function relationSql(events: string, hasRefs: boolean): string {
  const of = hasRefs ? 'customer_ref IN {correction_refs:Array(String)} AND ' : '';
  const standing = 'attempt IN {correction_sets:Array(String)}';
  return `(
SELECT ${COLUMNS}
FROM ${events}
WHERE ${of}(${KEY}) GLOBAL NOT IN (
  SELECT ${KEY} FROM corrected_events WHERE ${of}${standing} AND is_given = 0 AND of_attempt = ''
)
UNION ALL
SELECT ${COLUMNS}
FROM corrected_events
WHERE ${of}${standing} AND is_given = 1 AND (attempt, transaction_id) GLOBAL NOT IN (
  SELECT of_attempt, transaction_id FROM corrected_events WHERE ${of}${standing} AND is_given = 0 AND of_attempt != ''
)
)`;
}
