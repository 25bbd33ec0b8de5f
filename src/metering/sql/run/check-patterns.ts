/**
 * Has ClickHouse compile the patterns of a query before it is stored: a statement over no events does not compile them,
 * and the first event would cause the error in an invoice.
 */
import { ClickHouseError } from '@clickhouse/client';
import { z } from 'zod';
import { NO_EVENTS } from '../../client/around.ts';
import type { ClickHouse } from '../../client/clickhouse.ts';
import { createParameters } from '../../query/parameters.ts';
import { limitSettings } from '../../query/query-limits.ts';
import type { CheckedSqlMetric } from '../read/read-metric.ts';
import type { TextPattern } from '../syntax/patterns.ts';
import { refuseAt } from '../values/query-refusal.ts';
import { DEFINITION_LIMITS, patternProblem } from './run-statement.ts';

/** Maximum characters of a pattern or a replacement shown in a refusal. */
const SHOWN_CHARACTERS = 100;

/** Throws an `invalid` refusal (field `sql`) with the place and text of the first invalid pattern. */
export async function checkPatterns(
  clickhouse: ClickHouse,
  { sql, patterns }: Pick<CheckedSqlMetric, 'sql' | 'patterns'>,
): Promise<void> {
  if (patterns.length === 0 || (await compileProblem(clickhouse, patterns)) === null) return;
  for (const pattern of patterns) {
    const error = await compileProblem(clickhouse, [pattern]);
    if (error !== null) throw refuseAt(sql, pattern.position, describe(pattern, error.message));
  }
}

/** The engine's error for one of the patterns; null if it compiles all of them. */
async function compileProblem(
  clickhouse: ClickHouse,
  patterns: readonly TextPattern[],
): Promise<ClickHouseError | null> {
  const parameters = createParameters();
  const calls = patterns.map(({ kind, pattern, replacement }) => {
    const bound = parameters.bind('pattern', 'String', pattern);
    if (kind === 'like') return `like('', ${bound})`;
    if (replacement === null) return `match('', ${bound})`;
    return `replaceRegexpAll('', ${bound}, ${parameters.bind('replacement', 'String', replacement)})`;
  });
  try {
    await clickhouse.query({
      sql: `SELECT ${calls.map((call, index) => `toString(${call}) AS p${index}`).join(', ')}`,
      params: parameters.values(),
      schema: z.unknown(),
      lane: 'analysis',
      eventsOf: NO_EVENTS,
      settings: limitSettings(DEFINITION_LIMITS),
    });
    return null;
  } catch (error) {
    if (error instanceof ClickHouseError && PATTERN_ERRORS.has(error.type ?? '')) return error;
    throw error;
  }
}

/** `BAD_ARGUMENTS` is the error of `replaceRegexpAll` for its pattern and its replacement. */
const PATTERN_ERRORS: ReadonlySet<string> = new Set([
  'CANNOT_COMPILE_REGEXP',
  'CANNOT_PARSE_ESCAPE_SEQUENCE',
  'BAD_ARGUMENTS',
]);

function describe({ kind, pattern, replacement }: TextPattern, message: string): string {
  const substitution = /^Substitution '(\\\d)'/.exec(message)?.[1];
  if (substitution !== undefined) {
    const fit = `the replacement ${shown(replacement ?? '')} does not fit the pattern ${shown(pattern)}`;
    return `${fit}: ${substitution} is no group of it`;
  }
  const reason = kind === 'like' ? 'it ends with \\' : patternProblem(message);
  return `the pattern ${shown(pattern)} cannot be read: ${reason}`;
}

function shown(text: string): string {
  const characters = [...text];
  const cut = characters.length > SHOWN_CHARACTERS;
  return `'${characters.slice(0, SHOWN_CHARACTERS).join('')}${cut ? '…' : ''}'`;
}
