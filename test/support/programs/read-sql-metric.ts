/** Reads a SQL metric, says its group columns, and ends by itself: it waits for no thread. */
import { loadSqlMetric } from '../../../src/metering/sql/run/sql-metric.ts';

const { groupColumns } = await loadSqlMetric('SELECT COUNT(*), event_type FROM events GROUP BY 2');
process.stdout.write(groupColumns.join());
