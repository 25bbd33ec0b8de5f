/**
 * The service, which removes old events at once and kills itself at a statement to ClickHouse. `KILL_AT` is how often
 * statements with a text are passed, the text, and whether it is killed `before`, `during` or `after` that statement:
 * `2 during DROP PARTITION`. Without it, it is the service. It first says of which months there are events.
 */
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createApplication } from '../../../src/app/application/application.ts';
import { createHttpServer } from '../../../src/app/http/http-server.ts';
import { startStores } from '../../../src/app/stores/stores.ts';
import { loadConfig, processEnvironment } from '../../../src/config.ts';
import { createLogger } from '../../../src/log.ts';
import type { ClickHouse } from '../../../src/metering/client/clickhouse.ts';
import { partitionOf, readMonthsBefore } from '../../../src/metering/events/old-months.ts';

const env = processEnvironment();
const config = loadConfig(env);
const log = createLogger(config);
const stores = await startStores(config, { log, holdMerges: true });
const months = await readMonthsBefore(stores.clickhouse, Date.UTC(2100));
process.stdout.write(`months: ${months.map(({ start }) => partitionOf(start)).join(' ')}.\n`);

const [, passed = '0', moment = '', text = ''] = /^(\d+) (\w+) (.+)$/.exec(env.KILL_AT ?? '') ?? [];
let left = Number(passed);

async function killed(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return await delay(60_000, undefined as never);
}

const clickhouse: ClickHouse = {
  ...stores.clickhouse,
  async command(sql) {
    if (text === '' || !sql.includes(text) || left-- > 0) return await stores.clickhouse.command(sql);
    if (moment === 'before') await killed();
    const running = stores.clickhouse.command(sql);
    if (moment === 'after') await running;
    // The engine works on separate threads.
    else await delay(1);
    await killed();
  },
};
const application = await createApplication({
  config,
  log,
  stores: { ...stores, clickhouse },
  retentionTimes: { everyMs: 100, readEveryMs: 100, announcedMs: 300 },
  firstToken: async () => ({ token: config.apiToken ?? '' }),
});
const server = createHttpServer((request, bindings) => application.fetch(request, bindings));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const problems = application.problems().join();
process.stdout.write(problems === '' ? `ready at ${url}/docs\n` : `not ready: ${problems} /docs\n`);
