import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../../../src/core/time.ts';
import { readSqlMetric } from '../../../../src/metering/sql-metric/sql-metric.ts';
import {
  compileHours,
  compileWhole,
  type EventScope,
} from '../../../../src/metering/sql-metric/statement-sql.ts';

const SCOPE: EventScope = {
  refs: ['acme'],
  interval: { start: 0, end: 24 * HOUR_MS },
  usageFilter: { property: 'region', values: ['eu'] },
  ingestedUpTo: null,
};
const QUERY = `SELECT COUNT(DISTINCT properties.user) AS value, event_type FROM events
  WHERE event_type IN ('it''s') GROUP BY event_type`;

describe('the statement of a query', () => {
  it('over a whole period scans the events of the customer once, with everything written by the user as a parameter', () => {
    const { query } = readSqlMetric(QUERY);
    const { sql, parameters } = compileWhole(query, { value: 0, groups: [1] }, SCOPE);
    expect(sql).toMatchInlineSnapshot(`
      "WITH
        arrayElement(arrayMap((x10) -> if(throwIf(ifNull(abs(x10) >= toDecimal256('10000000000000000000000000000000000000000', 30), 0), 'a number has more than 36 digits before the point'), NULL, x10), [c7]), 1) AS d11
      SELECT '0' AS part, CAST([c8], 'Array(Nullable(String))') AS group_values, toString(sum(d11)) AS value
      FROM (
      SELECT p2, toDecimal256(g6, 30) AS c7, k1 AS c8
      FROM (
      SELECT p2, k1, uniqExact(a5) AS g6
      FROM (
      WITH
        in(event_type, {texts:Array(String)}) AS d9
      SELECT toInt64(0) AS p2, event_type AS k1, d4 AS a5
      FROM (
      WITH
        if(mapContains(properties, {property_2:String}), properties[{property_2:String}], NULL) AS d4
      SELECT event_type, timestamp, ingested_at, transaction_id, d4
      FROM usage_events FINAL
      WHERE customer_ref IN {refs:Array(String)}
        AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
        AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
        AND properties[{property:String}] IN {values:Array(String)}
      )
      WHERE d9
      )
      GROUP BY p2, k1
      )
      )
      WHERE isNotNull(c8)
      GROUP BY p2, c8
      ORDER BY c8"
    `);
    expect(parameters.values()).toEqual({
      ...{ refs: ['acme'], start: 0, end: 86_400_000, property: 'region', values: ['eu'] },
      ...{ property_2: 'user', texts: ["it's"] },
    });
  });

  it('by hours merges the states of the hours instead of scanning again', () => {
    const { query } = readSqlMetric(QUERY);
    const { sql } = compileHours(query, { value: 0, groups: [1] }, SCOPE, [HOUR_MS]);
    expect(sql).toMatchInlineSnapshot(`
      "SELECT toString(t15) AS part, CAST([c8], 'Array(Nullable(String))') AS group_values, toString(sum(v16)) AS value
      FROM (
      WITH
        arrayElement(arrayMap((x13) -> if(throwIf(ifNull(abs(x13) >= toDecimal256('10000000000000000000000000000000000000000', 30), 0), 'a number has more than 36 digits before the point'), NULL, x13), [c7]), 1) AS d14,
        ifNull(d14, toDecimal256(0, 30)) AS d17
      SELECT arrayJoin([tuple(p2, d17), tuple(u12, -d17)]) AS t15_v16, tupleElement(t15_v16, 1) AS t15, tupleElement(t15_v16, 2) AS v16, c8
      FROM (
      SELECT p2, if(n11 = 0, toInt64('9223372036854775807'), n11) AS u12, toDecimal256(g6, 30) AS c7, k1 AS c8
      FROM (
      SELECT p2, k1, uniqExactMerge(s10) OVER (PARTITION BY k1 ORDER BY p2) AS g6, any(p2) OVER (PARTITION BY k1 ORDER BY p2 ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS n11
      FROM (
      SELECT p2, k1, uniqExactState(a5) AS s10
      FROM (
      WITH
        in(event_type, {texts:Array(String)}) AS d9
      SELECT intDiv(toUnixTimestamp64Milli(timestamp), 3600000) * 3600 + 3600 AS p2, event_type AS k1, d4 AS a5
      FROM (
      WITH
        if(mapContains(properties, {property_2:String}), properties[{property_2:String}], NULL) AS d4
      SELECT event_type, timestamp, ingested_at, transaction_id, d4
      FROM usage_events FINAL
      WHERE customer_ref IN {refs:Array(String)}
        AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
        AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
        AND properties[{property:String}] IN {values:Array(String)}
      )
      WHERE d9
      )
      GROUP BY p2, k1
      )
      )
      )
      WHERE isNotNull(c8)
      )
      WHERE t15 < toInt64('9223372036854775807')
      GROUP BY t15, c8
      ORDER BY c8, t15"
    `);
  });
});
