/** Queries as analysts write them, with the results over `STUDIO_EVENTS`, computed by hand. */

const of = (rest: string) => `SELECT ${rest} FROM events`;
const where = (condition: string) => `SELECT COUNT(*) FROM events WHERE ${condition}`;

export type AnalystQuery = readonly [sql: string, rows: ReadonlyArray<string | null>];

/** tokens: 100, 50, 30, 7.5, 12; latency: 120, 80, 200, 400, 100; flags: 1, 2, 5. */
const AGGREGATES: readonly AnalystQuery[] = [
  [of('COUNT(*) FILTER (WHERE properties.tokens > 20)'), ['3']],
  [of('countIf(properties.tokens > 20)'), ['3']],
  [of('count()'), ['9']],
  [of("sumIf(properties.tokens, properties.model = 'claude')"), ['42']],
  [of("SUM(properties.tokens) FILTER (WHERE event_type = 'call' AND properties.user <> 'u1')"), ['69.5']],
  [of("AVG(properties.latency) FILTER (WHERE properties.model LIKE 'gpt%')"), ['100']],
  [of("maxIf(properties.latency, properties.user = 'u1')"), ['200']],
  [of("SUM(properties.tokens) FILTER (WHERE properties.user = 'nobody')"), [null]],
  [of('uniqExact(properties.user)'), ['3']],
  [of("uniqExactIf(properties.user, event_type = 'session.end')"), ['1']],
  [of('COUNT(DISTINCT properties.user, properties.model)'), ['5']],
  [of("COUNT(DISTINCT properties.user) FILTER (WHERE timestamp >= '2026-11-10')"), ['1']],
  [of('argMax(properties.latency, properties.tokens)'), ['120']],
  [of('argMin(properties.latency, timestamp)'), ['120']],
  [of('MAX_BY(properties.tokens, properties.latency)'), ['7.5']],
  [of('ANY_VALUE(properties.latency)'), ['80']],
  [of('BIT_OR(properties.flags)'), ['7']],
  [of('groupBitAnd(properties.flags)'), ['0']],
  [of('groupBitXor(properties.flags)'), ['6']],
  [of('VAR_POP(properties.flags)'), ['2.888888888888888888888888888889']],
  [of('VARIANCE(properties.flags)'), ['4.333333333333333333333333333333']],
  [of('STDDEV_POP(properties.flags)'), ['1.6996731712']],
  [of('STDDEV(properties.latency)'), ['131.148770486']],
  [of('STDDEV(properties.nothing)'), [null]],
  [of('BOOL_OR(properties.tokens > 99) AS big, COUNT(*) AS value'), ['true: 9']],
  [of('BOOL_AND(properties.tokens > 99) AS big, COUNT(*) AS value'), ['false: 9']],
  [
    'SELECT event_type, COUNT(*) AS value FROM events GROUP BY ALL',
    ['call: 5', 'session.end: 1', 'session.start: 3'],
  ],
];

const QUANTILES: readonly AnalystQuery[] = [
  [of('MEDIAN(properties.latency)'), ['120']],
  [of('median(properties.tokens)'), ['30']],
  [of('quantile(0.95)(properties.latency)'), ['360']],
  [of("quantile(0.5)(properties.latency) FILTER (WHERE properties.user = 'u1')"), ['160']],
  [of("quantileIf(0.5)(properties.latency, properties.user = 'u1')"), ['160']],
  [of('quantileExact(0.5)(properties.latency)'), ['120']],
  [of('PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY properties.latency)'), ['320']],
  [of('PERCENTILE_CONT(0) WITHIN GROUP (ORDER BY properties.latency)'), ['80']],
  [of('PERCENTILE_CONT(1) WITHIN GROUP (ORDER BY properties.latency)'), ['400']],
  [of('PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY properties.latency)'), ['400']],
  [of('PERCENTILE_DISC(0.4) WITHIN GROUP (ORDER BY properties.latency)'), ['100']],
  [of('PERCENTILE_DISC(0) WITHIN GROUP (ORDER BY properties.latency)'), ['80']],
  [of('quantileExactWeighted(0.5)(properties.latency, properties.tokens)'), ['120']],
  [of('quantileExactWeighted(1)(properties.latency, properties.tokens)'), ['400']],
  [of('MEDIAN(properties.nothing)'), [null]],
];

const NUMBERS: readonly AnalystQuery[] = [
  [of('SUM(ABS(properties.tokens - 50))'), ['150.5']],
  [of('SUM(properties.tokens % 7)'), ['10.5']],
  [of('SUM(MOD(-properties.tokens, 8))'), ['-23.5']],
  [of('SUM(properties.tokens % 0)'), [null]],
  [of('SUM(POWER(properties.flags, 2))'), ['30']],
  [of('POWER(COUNT(*), 0.5)'), ['3']],
  [of('SQRT(2 + COUNT(*) - 9)'), ['1.41421356237']],
  [of('SQRT(COUNT(*) - 10)'), [null]],
  [of('LN(COUNT(*))'), ['2.19722457734']],
  [of('LN(COUNT(*) - 9)'), [null]],
  [of('LOG10(COUNT(*) * 1000 / 9)'), ['3']],
  [of('LOG2(COUNT(*) - 1)'), ['3']],
  [of('EXP(COUNT(*) - 8)'), ['2.71828182846']],
  [of('SIGN(-SUM(properties.tokens)) + TRUNC(SUM(properties.tokens) / 100) * 10'), ['9']],
  [where('properties.latency::DECIMAL > 100'), ['3']],
  [of('SUM(multiIf(properties.tokens >= 100, 3, properties.tokens >= 30, 2, 1))'), ['13']],
];

const TEXTS: readonly AnalystQuery[] = [
  [where("properties.model LIKE 'gpt-4o%'"), ['2']],
  [where("properties.model ILIKE 'gpt-4o%'"), ['3']],
  [where("properties.model NOT LIKE 'gpt%'"), ['3']],
  [where("properties.model LIKE 'gpt-4_'"), ['1']],
  [where("properties.path LIKE '/v_/chat/%'"), ['3']],
  [of('COUNT(DISTINCT LOWER(properties.model))'), ['3']],
  [of('SUM(LENGTH(properties.model))'), ['35']],
  [where("UPPER(properties.user) = 'U1'"), ['4']],
  [where("CONCAT(properties.user, '-', properties.model) = 'u1-claude'"), ['1']],
  [where("properties.user || '/' || event_type = 'u1/call'"), ['2']],
  [of('COUNT(DISTINCT SUBSTRING(properties.model, 1, 3))'), ['3']],
  [where("SUBSTRING(properties.path FROM 2 FOR 2) = 'v1'"), ['3']],
  [where("SUBSTRING(properties.path, POSITION('chat' IN properties.path)) = 'chat/p1'"), ['1']],
  [where("SPLIT_PART(properties.path, '/', 3) = 'chat'"), ['3']],
  [where("SPLIT_PART(properties.path, '/', -1) = 'p1'"), ['2']],
  [of('SUM(CAST(SUBSTRING(properties.path, 3, 1) AS DECIMAL))'), ['5']],
  [where("STARTS_WITH(properties.model, 'gpt') AND NOT ENDS_WITH(properties.model, 'mini')"), ['1']],
  [where("REPLACE(properties.model, 'gpt-', '') = '4o'"), ['1']],
  [where("TRIM('  x ') = 'x' AND LTRIM(' x') = RTRIM('x ')"), ['9']],
  [where("LEFT(properties.path, 3) = '/v2' OR RIGHT(properties.path, 2) = 'p4'"), ['2']],
  [where("REGEXP_MATCHES(properties.model, '^(gpt|claude)')"), ['4']],
  [where("match(properties.path, 'p[13]$')"), ['2']],
  [of("SUM(REGEXP_EXTRACT(properties.path, '^/v([0-9]+)/'))"), ['5']],
  [of("COUNT(DISTINCT REGEXP_REPLACE(properties.path, '[0-9]+', 'N'))"), ['2']],
  [where("transaction_id = 'a9'"), ['1']],
  [
    'SELECT LOWER(properties.model) AS m, COUNT(*) AS value FROM events WHERE properties.model IS NOT NULL GROUP BY m',
    ['claude: 2', 'gpt-4o: 2', 'gpt-4o-mini: 1'],
  ],
];

const TIMES: readonly AnalystQuery[] = [
  [where('EXTRACT(hour FROM timestamp) >= 22'), ['3']],
  [where('toHour(timestamp) BETWEEN 8 AND 10'), ['5']],
  [where('EXTRACT(dow FROM timestamp) = 0'), ['2']],
  [where('toDayOfWeek(timestamp) = 7'), ['2']],
  [where("EXTRACT(hour FROM timestamp AT TIME ZONE 'Europe/Zurich') < 7"), ['3']],
  [of("COUNT(DISTINCT DATE_TRUNC('week', timestamp))"), ['4']],
  [of("COUNT(DISTINCT toStartOfDay(timestamp AT TIME ZONE 'America/New_York'))"), ['5']],
  [where("DATE_TRUNC('month', timestamp) = '2026-11-01'"), ['9']],
  [where("DATE_TRUNC('quarter', timestamp) = '2026-10-01' AND toYear(timestamp) = 2026"), ['9']],
  [where("toStartOfYear(timestamp) = '2026-01-01' AND toQuarter(timestamp) = 4"), ['9']],
  [where("toMonday(timestamp) = '2026-11-09'"), ['4']],
  [of("DATE_DIFF('minute', MIN(timestamp), MAX(timestamp))"), ['43189']],
  [of("dateDiff('day', MIN(timestamp), MAX(timestamp))"), ['29']],
  [where("timestamp < TIMESTAMP '2026-11-02' + INTERVAL '1 day'"), ['4']],
  [where("timestamp - INTERVAL 2 HOUR < DATE '2026-11-01'"), ['1']],
  [where("timestamp + INTERVAL '1 month' >= '2026-12-09T10:00:00Z'"), ['3']],
  [of("SUM(DATE_DIFF('second', CAST(properties.started AS TIMESTAMP), timestamp))"), ['300']],
  [where("formatDateTime(timestamp, '%Y-%m-%d') = '2026-11-09'"), ['4']],
  [of('MAX(toUnixTimestamp(timestamp)) - MIN(EXTRACT(epoch FROM timestamp))'), ['2591340']],
  [
    of(
      'SUM(CASE WHEN EXTRACT(hour FROM timestamp) < 8 THEN properties.tokens * 0.5 ELSE properties.tokens END)',
    ),
    ['149.5'],
  ],
  [where("EXTRACT(hour FROM properties.started::TIMESTAMP AT TIME ZONE 'Asia/Kolkata') = 5"), ['1']],
];

const LISTS: readonly AnalystQuery[] = [
  [where("HAS(properties.tags, 'beta')"), ['2']],
  [of('SUM(LENGTH(properties.tags))'), ['3']],
  [where("properties.tags[1] = 'beta' AND properties.tags[-1] = 'eu'"), ['1']],
  [where('properties.tags[5] IS NULL'), ['9']],
  [of('SUM(properties.seats[2])'), ['1.5']],
  [
    'SELECT COUNT(*) AS value, tag FROM events ARRAY JOIN properties.tags AS tag GROUP BY tag',
    ['beta: 2', 'eu: 1'],
  ],
  [
    'SELECT COUNT(*) AS value, tag FROM events, UNNEST(properties.tags) AS tag GROUP BY tag',
    ['beta: 2', 'eu: 1'],
  ],
  [
    "SELECT COUNT(*) AS value, tag FROM events e CROSS JOIN UNNEST(e.properties.tags) AS t(tag) WHERE properties.user = 'u1' GROUP BY tag",
    ['beta: 1', 'eu: 1'],
  ],
  [
    "SELECT COUNT(*) AS value, tag FROM events LEFT ARRAY JOIN properties.tags AS tag WHERE event_type = 'call' GROUP BY tag",
    ['beta: 2', 'eu: 1', ': 3'],
  ],
  ['SELECT SUM(seat) FROM events ARRAY JOIN properties.seats AS seat', ['4.5']],
  [of("SUM(properties.usage ->> 'out')"), ['5.5']],
  [of("SUM(JSONExtractInt(properties.usage, 'in'))"), ['30']],
  [of("SUM(JSONExtractFloat(properties.usage, 'by', 'cache'))"), ['2']],
  [of("SUM(JSON_VALUE(properties.usage, '$.by.cache'))"), ['2']],
  [of("COUNT(properties.usage ->> 'by')"), ['1']],
  [of('SUM(properties.usage.in)'), ['30']],
];

const SHAPES: readonly AnalystQuery[] = [
  [
    "SELECT COUNT(*) FROM (SELECT properties.user AS u FROM events WHERE event_type = 'call') c JOIN (SELECT properties.user AS u FROM events WHERE event_type = 'session.start') s ON c.u = s.u",
    ['5'],
  ],
  [
    'SELECT COUNT(*) FROM events e JOIN (SELECT properties.user, COUNT(*) AS n FROM events GROUP BY user) s ON e.properties.user = s.user WHERE s.n > 2',
    ['7'],
  ],
  [
    'SELECT COUNT(*) AS value, s.n AS n FROM events e LEFT JOIN (SELECT properties.model, COUNT(*) AS n FROM events GROUP BY model HAVING COUNT(*) > 1) s ON e.properties.model = s.model GROUP BY s.n',
    ['2: 2', ': 7'],
  ],
  [
    'SELECT SUM(a.t * b.t) FROM (SELECT properties.user, SUM(properties.tokens) AS t FROM events GROUP BY user) a JOIN (SELECT properties.user, COUNT(*) AS t FROM events GROUP BY user) b USING (user)',
    ['721'],
  ],
  [
    'SELECT COUNT(*) FROM events a JOIN events b ON a.properties.user = b.properties.user AND a.timestamp < b.timestamp',
    ['10'],
  ],
  [
    "SELECT COUNT(*) FROM events a LEFT JOIN events b ON a.properties.user = b.properties.user AND b.event_type = 'session.end' WHERE b.event_type IS NULL",
    ['5'],
  ],
  [
    "SELECT COUNT(*) FROM (SELECT properties.user FROM events) a CROSS JOIN (SELECT 1 AS one FROM events WHERE event_type = 'session.end') b",
    ['9'],
  ],
  [
    'SELECT SUM(x) FROM (SELECT properties.tokens AS x FROM events UNION ALL SELECT properties.latency FROM events)',
    ['1099.5'],
  ],
  ["SELECT COUNT(*) FROM (SELECT properties.user FROM events UNION SELECT 'u7' FROM events)", ['4']],
  [
    "SELECT SUM(properties.tokens) AS value, 'tokens' AS kind FROM events UNION ALL SELECT SUM(properties.latency), 'latency' FROM events",
    ['latency: 900', 'tokens: 199.5'],
  ],
  [of("SUM(properties.tokens) / (SELECT COUNT(*) FROM events WHERE event_type = 'call')"), ['39.9']],
  [where('properties.tokens > (SELECT AVG(properties.tokens) FROM events)'), ['2']],
  [where("properties.user IN (SELECT properties.user FROM events WHERE event_type = 'session.end')"), ['4']],
  [
    where("properties.user NOT IN (SELECT properties.user FROM events WHERE event_type = 'session.end')"),
    ['5'],
  ],
  // An unknown model leaves unknown whether a user is among them.
  [where('properties.user NOT IN (SELECT properties.model FROM events)'), [null]],
  [where('properties.model NOT IN (SELECT properties.model FROM events WHERE 1 = 2)'), ['9']],
  [where('properties.tokens IN (SELECT MAX(properties.tokens) FROM events GROUP BY properties.user)'), ['3']],
  [
    'SELECT SUM(t) FROM (SELECT properties.project, SUM(properties.tokens) AS t FROM events GROUP BY project ORDER BY t DESC LIMIT 2)',
    ['180'],
  ],
  [
    'SELECT SUM(t) AS value, project FROM (SELECT properties.project, SUM(properties.tokens) AS t FROM events WHERE properties.project IS NOT NULL GROUP BY project ORDER BY t DESC LIMIT 2 OFFSET 1) GROUP BY project',
    ['p2: 50', 'p4: 12'],
  ],
  [
    "SELECT SUM(latency) FROM (SELECT properties.latency FROM events WHERE event_type = 'call' ORDER BY timestamp DESC LIMIT 2) x",
    ['500'],
  ],
  [
    'SELECT COUNT(*) AS value, event_type FROM events GROUP BY event_type ORDER BY value DESC LIMIT 1',
    ['call: 5'],
  ],
  [
    'SELECT COUNT(*) AS value, event_type FROM events GROUP BY event_type HAVING COUNT(*) > (SELECT COUNT(*) / 4 FROM events)',
    ['call: 5', 'session.start: 3'],
  ],
  [
    'WITH t AS (SELECT properties.user, SUM(properties.tokens) AS n FROM events GROUP BY user) SELECT SUM(n) FROM t WHERE n > (SELECT AVG(n) FROM t)',
    ['130'],
  ],
  ['SELECT quantile(0.5)(n) FROM (SELECT COUNT(*) AS n FROM events GROUP BY properties.user)', ['3']],
  [
    "SELECT LATEST(properties.tokens) FROM events WHERE properties.user IN (SELECT properties.user FROM events WHERE event_type = 'session.end')",
    ['30'],
  ],
];

const WINDOWS: readonly AnalystQuery[] = [
  [
    "SELECT MAX(n) FROM (SELECT SUM(CASE event_type WHEN 'session.start' THEN 1 WHEN 'session.end' THEN -1 ELSE 0 END) OVER (ORDER BY timestamp) AS n FROM events)",
    ['2'],
  ],
  [
    "SELECT SUM(latency) FROM (SELECT properties.latency, ROW_NUMBER() OVER (PARTITION BY properties.user ORDER BY timestamp) AS n FROM events WHERE event_type = 'call') WHERE n = 1",
    ['600'],
  ],
  [
    "SELECT SUM(gap) FROM (SELECT DATE_DIFF('minute', LAG(timestamp) OVER (PARTITION BY properties.user ORDER BY timestamp), timestamp) AS gap FROM events WHERE event_type <> 'call')",
    ['120'],
  ],
  [
    "SELECT SUM(d) FROM (SELECT properties.tokens - LAG(properties.tokens, 1, 0) OVER (ORDER BY timestamp) AS d FROM events WHERE event_type = 'call')",
    ['12'],
  ],
  [
    "SELECT SUM(d) FROM (SELECT LEAD(properties.tokens, 2, 0) OVER (ORDER BY timestamp) AS d FROM events WHERE event_type = 'call')",
    ['49.5'],
  ],
  [
    "SELECT SUM(f) FROM (SELECT FIRST_VALUE(CAST(properties.latency AS DECIMAL)) OVER (PARTITION BY properties.user ORDER BY timestamp) AS f FROM events WHERE event_type = 'call')",
    ['800'],
  ],
  [
    "SELECT SUM(m) FROM (SELECT MAX(properties.latency) OVER (ORDER BY timestamp ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS m FROM events WHERE event_type = 'call')",
    ['1240'],
  ],
  [
    "SELECT SUM(t) AS value, r FROM (SELECT SUM(properties.tokens) AS t, RANK() OVER (ORDER BY SUM(properties.tokens) DESC) AS r FROM events WHERE event_type = 'call' GROUP BY properties.user) GROUP BY r",
    ['1: 130', '2: 62', '3: 7.5'],
  ],
  [
    'SELECT p FROM (SELECT ROUND(properties.latency / SUM(properties.latency) OVER (), 4) AS p FROM events)',
    ['0.9999'],
  ],
];

export const ANALYST_QUERIES: Readonly<Record<string, readonly AnalystQuery[]>> = {
  aggregates: AGGREGATES,
  quantiles: QUANTILES,
  numbers: NUMBERS,
  texts: TEXTS,
  times: TIMES,
  'lists and JSON': LISTS,
  'joins, unions and subqueries': SHAPES,
  'window functions': WINDOWS,
};
