import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../../../src/core/time.ts';
import {
  compileHours,
  compileWhole,
  type EventScope,
} from '../../../../src/metering/sql/generate/statement-sql.ts';
import { readSqlMetric } from '../../../../src/metering/sql/read/read-metric.ts';

const SCOPE: EventScope = {
  refs: ['acme'],
  interval: { start: 0, end: 24 * HOUR_MS },
  usageFilter: { property: 'region', values: ['eu'] },
  ingestedUpTo: null,
};
const QUERY = `SELECT COUNT(DISTINCT properties.user) AS value, event_type FROM events
  WHERE event_type IN ('it''s') GROUP BY event_type`;

describe('the statement of a query', () => {
  it('the statement of a query over a whole period scans the events of the customer once, with everything written by the user as a parameter', () => {
    const { query } = readSqlMetric(QUERY);
    const { sql, parameters } = compileWhole(query, { value: 0, groups: [1] }, SCOPE);
    expect(sql).toMatchInlineSnapshot(`
      "WITH
        arrayElement(arrayMap((x11) -> if(throwIf(ifNull(abs(x11) >= toDecimal256('10000000000000000000000000000000000000000', 30), 0), 'a number has more than 36 digits before the point'), NULL, x11), [c8]), 1) AS d12
      SELECT '0' AS part, CAST([c9], 'Array(Nullable(String))') AS group_values, toString(sum(d12)) AS value
      FROM (
      SELECT p3, toDecimal256(g7, 30) AS c8, k2 AS c9
      FROM (
      SELECT p3, k2, uniqExact(a6) AS g7
      FROM (
      WITH
        in(event_type, {q_texts_2:Array(String)}) AS d10
      SELECT toInt64(0) AS p3, event_type AS k2, d5 AS a6
      FROM (
      WITH
        if(mapContains(properties, {q_property_1:String}), properties[{q_property_1:String}], NULL) AS d5
      SELECT event_type, timestamp, ingested_at, transaction_id, d5
      FROM usage_events FINAL
      WHERE customer_ref IN {refs:Array(String)}
        AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
        AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
        AND properties[{property:String}] IN {values:Array(String)}
      )
      WHERE d10
      )
      GROUP BY p3, k2
      )
      )
      WHERE isNotNull(c9)
      GROUP BY p3, c9
      ORDER BY c9"
    `);
    expect(parameters.values()).toEqual({
      ...{ refs: ['acme'], start: 0, end: 86_400_000, property: 'region', values: ['eu'] },
      ...{ q_property_1: 'user', q_texts_2: ["it's"] },
    });
  });

  it('the statement of a query by hours merges the states of the hours instead of scanning again', () => {
    const { query } = readSqlMetric(QUERY);
    const { sql } = compileHours(query, { value: 0, groups: [1] }, SCOPE, [HOUR_MS]);
    expect(sql).toMatchInlineSnapshot(`
      "SELECT toString(t16) AS part, CAST([c9], 'Array(Nullable(String))') AS group_values, toString(sum(v17)) AS value
      FROM (
      WITH
        arrayElement(arrayMap((x14) -> if(throwIf(ifNull(abs(x14) >= toDecimal256('10000000000000000000000000000000000000000', 30), 0), 'a number has more than 36 digits before the point'), NULL, x14), [c8]), 1) AS d15,
        ifNull(d15, toDecimal256(0, 30)) AS d18
      SELECT arrayJoin([tuple(p3, d18), tuple(u13, -d18)]) AS t16_v17, tupleElement(t16_v17, 1) AS t16, tupleElement(t16_v17, 2) AS v17, c9
      FROM (
      SELECT p3, if(n12 = 0, toInt64('9223372036854775807'), n12) AS u13, toDecimal256(g7, 30) AS c8, k2 AS c9
      FROM (
      SELECT p3, k2, uniqExactMerge(s11) OVER (PARTITION BY k2 ORDER BY p3) AS g7, any(p3) OVER (PARTITION BY k2 ORDER BY p3 ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS n12
      FROM (
      SELECT p3, k2, uniqExactState(a6) AS s11
      FROM (
      WITH
        in(event_type, {q_texts_2:Array(String)}) AS d10
      SELECT intDiv(toUnixTimestamp64Milli(timestamp), 3600000) * 3600 + 3600 AS p3, event_type AS k2, d5 AS a6
      FROM (
      WITH
        if(mapContains(properties, {q_property_1:String}), properties[{q_property_1:String}], NULL) AS d5
      SELECT event_type, timestamp, ingested_at, transaction_id, d5
      FROM usage_events FINAL
      WHERE customer_ref IN {refs:Array(String)}
        AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
        AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
        AND properties[{property:String}] IN {values:Array(String)}
      )
      WHERE d10
      )
      GROUP BY p3, k2
      )
      )
      )
      WHERE isNotNull(c9)
      )
      WHERE t16 < toInt64('9223372036854775807')
      GROUP BY t16, c9
      ORDER BY c9, t16"
    `);
  });
});
