import { describe, expect, it } from 'vitest';
import type { StreamingMetric } from '../../../../src/core/metric.ts';
import { compileUsageGroups, compileWatermark } from '../../../../src/metering/query/groups-sql.ts';
import { compileUsageSeries } from '../../../../src/metering/query/series-sql.ts';

const AUGUST = { start: Date.UTC(2026, 7, 1), end: Date.UTC(2026, 8, 1) };

function metric(change: Partial<StreamingMetric>): StreamingMetric {
  return {
    kind: 'streaming',
    id: 'm',
    name: 'Tokens',
    eventTypeFilter: { inValues: ['completion'], notInValues: null },
    propertyFilters: [
      { name: 'model', exists: true, inValues: null, notInValues: null },
      { name: 'tokens', exists: true, inValues: null, notInValues: null },
    ],
    aggregation: 'SUM',
    aggregationKey: 'tokens',
    groupKeys: [['model']],
    archivedAt: null,
    ...change,
  };
}

const acme = { customerId: 'acme', refs: ['acme', 'acme-alias'] };
const initech = { customerId: 'initech', refs: ['initech'] };

function shown({ sql, parameters }: { sql: string; parameters: { values(): unknown } }): string {
  return `${sql}\n-- ${JSON.stringify(parameters.values())}`;
}

describe('the SQL of usage series', () => {
  it('the SQL of usage series sums exact numbers by hour and group for one customer', () => {
    const compiled = compileUsageSeries(
      {
        metric: metric({}),
        customers: [acme],
        period: AUGUST,
        boundaries: 'hour',
        groupBy: ['model'],
      },
      1_000_000,
      'exact',
    );
    expect(shown(compiled)).toMatchInlineSnapshot(`
      "WITH
        arraySort(groupArray((window_offset, value))) AS windows
      SELECT 0 AS owner, CAST([group_0], 'Array(String)') AS group_values, toUInt32(length(windows)) AS window_count, arrayStringConcat(windows.1, ' ') AS window_offsets, arrayStringConcat(windows.2, ' ') AS window_values
      FROM (
      WITH
        properties[{property:String}] AS group_0,
        properties[{property_2:String}] AS value_text,
        toInt64OrNull(value_text) AS value_whole,
        extractGroups(value_text, '^([+-]?)([0-9]+)(?:[.]([0-9]+))?[eE]([+-]?[0-9]{1,2})$') AS value_parts,
        if(empty(value_parts), value_text, concat(value_parts[1], overlay(
            concat(repeat('0', 100), value_parts[2], value_parts[3], repeat('0', 100)),
            '.', 101 + length(value_parts[2]) + toInt16OrZero(value_parts[4]), 0
          ))) AS value_plain,
        (isNotNull(value_whole) OR (length(value_text) <= 19 AND match(value_text, '^-?[0-9]+[.][0-9]+$')) OR match(value_plain, '^[+-]?0*[0-9]{1,36}(?:[.][0-9]{1,30}0*)?$')) AS value_is_number,
        multiIf(
            isNotNull(value_whole), toDecimal256(value_whole, 30),
            length(value_text) <= 19 AND match(value_text, '^-?[0-9]+[.][0-9]+$'), toDecimal256(toDecimal128OrNull(value_text, 18), 30),
            toDecimal256OrNull(extract(value_plain, '^[+-]?0*[0-9]{1,36}(?:[.][0-9]{1,30}0*)?$'), 30)
          ) AS value_number,
        intDiv(toUnixTimestamp64Milli(timestamp), 3600000) * 3600 AS window_seconds
      SELECT group_0, toUInt32(window_seconds - {period_seconds:Int64}) AS window_offset, toString(sum(value_number)) AS value
      FROM usage_events FINAL
      WHERE customer_ref IN {refs:Array(String)}
        AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
        AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
        AND event_type IN {event_types:Array(String)}
        AND mapContains(properties, {property:String})
        AND isNotNull(value_number)
      GROUP BY group_0, window_seconds
      LIMIT 1000001
      )
      GROUP BY group_0
      HAVING notEmpty(windows)
      ORDER BY group_0
      -- {"refs":["acme","acme-alias"],"start":1785542400000,"end":1788220800000,"property":"model","property_2":"tokens","event_types":["completion"],"period_seconds":1785542400}"
    `);
  });

  it('the SQL of usage series counts distinct values where they were first seen, for many customers, between given instants', () => {
    const compiled = compileUsageSeries(
      {
        metric: metric({ aggregation: 'UNIQUE', aggregationKey: 'user', propertyFilters: [] }),
        customers: [acme, initech],
        period: AUGUST,
        boundaries: [Date.UTC(2026, 7, 11), AUGUST.end],
        groupBy: ['region'],
      },
      1_000_000,
      'exact',
    );
    expect(shown(compiled)).toMatchInlineSnapshot(`
      "WITH
        arraySort(groupArray((window_offset, value))) AS windows
      SELECT owner, CAST([group_0], 'Array(String)') AS group_values, toUInt32(length(windows)) AS window_count, arrayStringConcat(windows.1, ' ') AS window_offsets, arrayStringConcat(windows.2, ' ') AS window_values
      FROM (
      SELECT owner, group_0, toUInt32(window_seconds - {period_seconds:Int64}) AS window_offset, toString(count()) AS value
      FROM (
      WITH
        transform(customer_ref, {refs:Array(String)}, {owners:Array(UInt32)}, toUInt32(0)) AS owner,
        properties[{property:String}] AS group_0,
        properties[{property_2:String}] AS value_text
      SELECT owner, group_0, min(roundDown(intDiv(toUnixTimestamp64Milli(timestamp), 1000), {window_starts:Array(Int64)})) AS window_seconds
      FROM usage_events FINAL
      WHERE customer_ref IN {refs:Array(String)}
        AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
        AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
        AND event_type IN {event_types:Array(String)}
        AND mapContains(properties, {property_2:String})
        AND mapContains(properties, {property:String})
      GROUP BY owner, group_0, value_text
      )
      GROUP BY owner, group_0, window_seconds
      LIMIT 1000001
      )
      GROUP BY owner, group_0
      HAVING notEmpty(windows)
      ORDER BY owner, group_0
      -- {"window_starts":[1785542400,1786406400],"refs":["acme","acme-alias","initech"],"start":1785542400000,"end":1788220800000,"owners":[0,0,1],"property":"region","property_2":"user","event_types":["completion"],"period_seconds":1785542400}"
    `);
  });

  it('the SQL of usage series takes the latest value of the period, with nested names and every kind of filter', () => {
    const compiled = compileUsageSeries(
      {
        metric: metric({
          aggregation: 'LATEST',
          aggregationKey: 'disk.gigabytes',
          eventTypeFilter: { inValues: null, notInValues: ['test'] },
          propertyFilters: [
            { name: 'region', exists: null, inValues: ['eu', ''], notInValues: null },
            { name: 'zone', exists: null, inValues: null, notInValues: ['', "it's"] },
            { name: 'internal', exists: false, inValues: null, notInValues: null },
          ],
        }),
        customers: [initech],
        period: AUGUST,
        boundaries: [],
        groupBy: [],
      },
      1_000_000,
      'exact',
    );
    expect(shown(compiled)).toMatchInlineSnapshot(`
      "WITH
        arraySort(groupArray((window_offset, value))) AS windows
      SELECT 0 AS owner, CAST([], 'Array(String)') AS group_values, toUInt32(length(windows)) AS window_count, arrayStringConcat(windows.1, ' ') AS window_offsets, arrayStringConcat(windows.2, ' ') AS window_values
      FROM (
      WITH
        ifNull(if(mapContains(properties, {property:String}), properties[{property:String}], JSONExtract(if(match(properties[{property_3:String}], '(?s)^[ \\\\t\\\\r\\\\n]*[{](?:[^"0-9-]|"(?:[^"\\\\\\\\]|\\\\\\\\(?:[^u]|u0{0,3}[1-9a-fA-F]))*"|-?(?:0|[1-9][0-9]*)(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?[ \\\\t\\\\r\\\\n]*[],}])*$'), left(replaceRegexpAll(concat(properties[{property_3:String}], ' 0'), '(?s)((?:"(?:[^"\\\\\\\\]|\\\\\\\\.)*"|[^"0-9-])*)([0-9-][0-9.eE+-]*)', '\\\\1"\\\\2"'), -4), ''), {property_2:String}, 'Nullable(String)')), '') AS value_text,
        toInt64OrNull(value_text) AS value_whole,
        extractGroups(value_text, '^([+-]?)([0-9]+)(?:[.]([0-9]+))?[eE]([+-]?[0-9]{1,2})$') AS value_parts,
        if(empty(value_parts), value_text, concat(value_parts[1], overlay(
            concat(repeat('0', 100), value_parts[2], value_parts[3], repeat('0', 100)),
            '.', 101 + length(value_parts[2]) + toInt16OrZero(value_parts[4]), 0
          ))) AS value_plain,
        (isNotNull(value_whole) OR (length(value_text) <= 19 AND match(value_text, '^-?[0-9]+[.][0-9]+$')) OR match(value_plain, '^[+-]?0*[0-9]{1,36}(?:[.][0-9]{1,30}0*)?$')) AS value_is_number,
        multiIf(
            isNotNull(value_whole), toDecimal256(value_whole, 30),
            length(value_text) <= 19 AND match(value_text, '^-?[0-9]+[.][0-9]+$'), toDecimal256(toDecimal128OrNull(value_text, 18), 30),
            toDecimal256OrNull(extract(value_plain, '^[+-]?0*[0-9]{1,36}(?:[.][0-9]{1,30}0*)?$'), 30)
          ) AS value_number,
        {window_start:Int64} AS window_seconds
      SELECT toUInt32(window_seconds - {window_start:Int64}) AS window_offset, argMax(value_text, concat(
          reverse(reinterpretAsFixedString(
            bitShiftLeft(toUInt128(toUnixTimestamp64Milli(timestamp)), 64) + toUnixTimestamp64Micro(ingested_at)
          )),
          transaction_id
        )) AS value
      FROM usage_events FINAL
      WHERE customer_ref IN {refs:Array(String)}
        AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
        AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
        AND event_type NOT IN {event_types:Array(String)}
        AND (mapContains(properties, {property_4:String}) AND properties[{property_4:String}] IN {values:Array(String)})
        AND (NOT mapContains(properties, {property_5:String}) OR properties[{property_5:String}] NOT IN {values_2:Array(String)})
        AND NOT mapContains(properties, {property_6:String})
        AND value_is_number
      GROUP BY window_seconds
      LIMIT 1000001
      )
      HAVING notEmpty(windows)
      -- {"window_start":1785542400,"refs":["initech"],"start":1785542400000,"end":1788220800000,"property":"disk.gigabytes","property_2":"gigabytes","property_3":"disk","event_types":["test"],"property_4":"region","values":["eu",""],"property_5":"zone","values_2":["","it's"],"property_6":"internal"}"
    `);
  });
});

describe('the SQL of usage groups', () => {
  const request = {
    refs: acme.refs,
    range: AUGUST,
    windowSize: 'DAY' as const,
    groupFilters: {},
    place: null,
    ingestedUpTo: null,
    limit: 101,
  };

  it('the SQL of usage groups reads whole numbers alone where it is asked to', () => {
    const compiled = compileUsageGroups({ ...request, metric: metric({}), groupKey: ['model'] }, 'whole');
    expect(shown(compiled)).toMatchInlineSnapshot(`
      "WITH
        properties[{property:String}] AS group_0,
        properties[{property_2:String}] AS value_text,
        toInt64OrNull(value_text) AS value_whole,
        toDecimal128(assumeNotNull(value_whole) + throwIf(isNull(value_whole), 'not a whole number'), 0) AS value_number,
        intDiv(toUnixTimestamp64Milli(timestamp), 86400000) * 86400 AS window_seconds
      SELECT toString(window_seconds) AS window_start, CAST([group_0], 'Array(Nullable(String))') AS group_values, toString(sum(value_number)) AS value, toString(toUnixTimestamp64Micro(greatest(max(max(ingested_at)) OVER (), fromUnixTimestamp64Micro({corrected_at:Int64}, 'UTC')))) AS ingested_up_to
      FROM usage_events FINAL
      WHERE customer_ref IN {refs:Array(String)}
        AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
        AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
        AND event_type IN {event_types:Array(String)}
        AND mapContains(properties, {property:String})
        AND value_text != ''
      GROUP BY window_seconds, group_0
      ORDER BY window_seconds, group_0 ASC NULLS LAST
      LIMIT {limit:UInt32}
      -- {"refs":["acme","acme-alias"],"start":1785542400000,"end":1788220800000,"property":"model","property_2":"tokens","event_types":["completion"],"corrected_at":"0","limit":101}"
    `);
  });

  it('aggregates each window on its own and reads where the first page stands', () => {
    const compiled = compileUsageGroups(
      {
        ...request,
        metric: metric({ aggregation: 'COUNT', aggregationKey: null }),
        groupKey: ['model', 'region'],
        groupFilters: { region: ['eu'] },
      },
      'exact',
    );
    expect(shown(compiled)).toMatchInlineSnapshot(`
      "WITH
        properties[{property:String}] AS group_0,
        if(mapContains(properties, {property_2:String}), properties[{property_2:String}], NULL) AS group_1,
        intDiv(toUnixTimestamp64Milli(timestamp), 86400000) * 86400 AS window_seconds
      SELECT toString(window_seconds) AS window_start, CAST([group_0, group_1], 'Array(Nullable(String))') AS group_values, toString(count()) AS value, toString(toUnixTimestamp64Micro(greatest(max(max(ingested_at)) OVER (), fromUnixTimestamp64Micro({corrected_at:Int64}, 'UTC')))) AS ingested_up_to
      FROM usage_events FINAL
      WHERE customer_ref IN {refs:Array(String)}
        AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
        AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
        AND event_type IN {event_types:Array(String)}
        AND mapContains(properties, {property:String})
        AND mapContains(properties, {property_3:String})
        AND properties[{property_2:String}] IN {values:Array(String)}
      GROUP BY window_seconds, group_0, group_1
      ORDER BY window_seconds, group_0 ASC NULLS LAST, group_1 ASC NULLS LAST
      LIMIT {limit:UInt32}
      -- {"refs":["acme","acme-alias"],"start":1785542400000,"end":1788220800000,"property":"model","property_2":"region","event_types":["completion"],"property_3":"tokens","values":["eu"],"corrected_at":"0","limit":101}"
    `);
  });

  it('the SQL of usage groups continues after a cursor and leaves later events out', () => {
    const compiled = compileUsageGroups(
      {
        ...request,
        metric: metric({ aggregation: 'COUNT', aggregationKey: null }),
        groupKey: ['model', 'region'],
        range: { start: Date.UTC(2026, 7, 9), end: AUGUST.end },
        place: { behind: { windowStart: Date.UTC(2026, 7, 9), group: ['large', null] } },
        ingestedUpTo: '1786233600000000',
      },
      'exact',
    );
    expect(shown(compiled)).toMatchInlineSnapshot(`
      "WITH
        properties[{property:String}] AS group_0,
        if(mapContains(properties, {property_2:String}), properties[{property_2:String}], NULL) AS group_1,
        intDiv(toUnixTimestamp64Milli(timestamp), 86400000) * 86400 AS window_seconds
      SELECT toString(window_seconds) AS window_start, CAST([group_0, group_1], 'Array(Nullable(String))') AS group_values, toString(count()) AS value, toString(toUnixTimestamp64Micro(greatest(max(max(ingested_at)) OVER (), fromUnixTimestamp64Micro({corrected_at:Int64}, 'UTC')))) AS ingested_up_to
      FROM usage_events FINAL
      WHERE customer_ref IN {refs:Array(String)}
        AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
        AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
        AND event_type IN {event_types:Array(String)}
        AND mapContains(properties, {property:String})
        AND mapContains(properties, {property_3:String})
        AND ingested_at <= fromUnixTimestamp64Micro({ingested_up_to:Int64}, 'UTC')
      GROUP BY window_seconds, group_0, group_1
      HAVING tuple(window_seconds, isNull(group_0), ifNull(group_0, ''), isNull(group_1), ifNull(group_1, '')) > tuple({after_window:Int64}, {after_is_null:UInt8}, {after_group:String}, {after_is_null_2:UInt8}, {after_group_2:String})
      ORDER BY window_seconds, group_0 ASC NULLS LAST, group_1 ASC NULLS LAST
      LIMIT {limit:UInt32}
      -- {"refs":["acme","acme-alias"],"start":1786233600000,"end":1788220800000,"property":"model","property_2":"region","event_types":["completion"],"property_3":"tokens","corrected_at":"0","counted_up_to":"1786233600000000","ingested_up_to":"1786233600000000","after_window":1786233600,"after_is_null":0,"after_group":"large","after_is_null_2":1,"after_group_2":"","limit":101}"
    `);
  });

  it('the SQL of usage groups finds the one row of a window whose values have a hash', () => {
    const { sql, parameters } = compileUsageGroups(
      {
        ...request,
        metric: metric({ aggregation: 'COUNT', aggregationKey: null }),
        groupKey: ['model', 'region'],
        place: { only: { windowStart: Date.UTC(2026, 7, 9), groupHash: 'AB' } },
        limit: 1,
      },
      'exact',
    );
    expect(sql.split('\n').find((line) => line.startsWith('HAVING'))).toBe(
      'HAVING window_seconds = {only_window:Int64} AND ' +
        "hex(SHA256(concat('', ifNull(concat(toString(length(group_0)), ':', group_0), '-'), " +
        "ifNull(concat(toString(length(group_1)), ':', group_1), '-')))) = {only_hash:String}",
    );
    expect(parameters.values()).toMatchObject({ only_window: Date.UTC(2026, 7, 9) / 1000, only_hash: 'AB' });
  });

  it('the SQL of usage groups finds the moment that all pages of ungrouped windows show', () => {
    expect(shown(compileWatermark(acme.refs, AUGUST))).toMatchInlineSnapshot(`
      "SELECT toString(toUnixTimestamp64Micro(greatest(max(ingested_at), fromUnixTimestamp64Micro({corrected_at:Int64}, 'UTC')))) AS ingested_up_to
      FROM usage_events
      WHERE customer_ref IN {refs:Array(String)}
        AND timestamp >= fromUnixTimestamp64Milli({start:Int64}, 'UTC')
        AND timestamp < fromUnixTimestamp64Milli({end:Int64}, 'UTC')
      -- {"corrected_at":"0","refs":["acme","acme-alias"],"start":1785542400000,"end":1788220800000}"
    `);
  });
});
