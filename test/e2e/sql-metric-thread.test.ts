import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const READS_ONE = `
  const { loadSqlMetric } = await import('./dist/metering/sql-metric/sql-metric.js');
  const { groupColumns } = await loadSqlMetric('SELECT COUNT(*), event_type FROM events GROUP BY 2');
  process.stdout.write(groupColumns.join());
`;

it('the compiled service reads queries on a thread, which does not keep its process alive', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', READS_ONE],
    {
      timeout: 100_000,
    },
  );
  expect(stdout).toBe('event_type');
});
