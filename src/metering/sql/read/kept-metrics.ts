/** A cache of definitions by their text. Beyond its size the least recently used ones are evicted. */
import type { CheckedSqlMetric } from './read-metric.ts';

export interface KeptMetrics {
  find(sql: string): CheckedSqlMetric | null;
  keep(metric: CheckedSqlMetric): void;
}

/** A metric of average length takes 10,000 characters, the longest ones some 400,000. */
const CHARACTERS_MAX = 16_000_000;

export function createKeptMetrics(charactersMax = CHARACTERS_MAX): KeptMetrics {
  // A Map lists its keys in the order in which they were set.
  const metrics = new Map<string, CheckedSqlMetric>();
  let characters = 0;
  const forget = (metric: CheckedSqlMetric) => {
    metrics.delete(metric.sql);
    characters -= sizeOf(metric);
  };
  return {
    find: (sql) => {
      const metric = metrics.get(sql) ?? null;
      if (metric === null) return null;
      metrics.delete(sql);
      metrics.set(sql, metric);
      return metric;
    },
    keep: (metric) => {
      const before = metrics.get(metric.sql);
      if (before !== undefined) forget(before);
      metrics.set(metric.sql, metric);
      characters += sizeOf(metric);
      for (const oldest of metrics.values()) {
        if (characters <= charactersMax) break;
        forget(oldest);
      }
    },
  };
}

function sizeOf({ sql, query: { whole, windows, hours } }: CheckedSqlMetric): number {
  return [sql, whole.from, windows.from, hours.from].reduce((sum, { length }) => sum + length, 0);
}
