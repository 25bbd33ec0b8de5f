/** The cost of an idle service: CPU time and wake-ups of its threads and of PostgreSQL, and memory. */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { table } from './report.ts';
import { startTemporaryService, type TemporaryService } from './temporary-service.ts';

/** Compilation and the first vacuum of PostgreSQL are over by then. */
const SETTLE_MS = 60_000;
const CUSTOMERS = 1_000;

interface Cost {
  readonly milliseconds: number;
  readonly wakeups: number;
}

/** Prints a Markdown table: shares of one core, and wake-ups a second. */
export async function benchIdle(seconds: number): Promise<string> {
  const service = await startTemporaryService();
  try {
    const rows = [await measured('empty', service, seconds)];
    for (let count = 0; count < CUSTOMERS; count += 1) {
      await service.post('/v1/customers', {
        name: `Customer ${count}`,
        ingest_aliases: [`customer-${count}`],
      });
    }
    rows.push(await measured(`${CUSTOMERS.toLocaleString('en')} customers`, service, seconds));
    const head = ['data', 'main thread', 'all threads', 'wake-ups/s', 'PostgreSQL', 'wake-ups/s', 'memory'];
    return `targets: main thread 0.5 %, everything 1.5 %, 20 wake-ups a second, 300 MB\n\n${table(head, rows)}`;
  } finally {
    await service.close();
  }
}

async function measured(data: string, service: TemporaryService, seconds: number): Promise<string[]> {
  await pause(SETTLE_MS);
  const processes = [service.pid, ...(await descendants(service.pid))];
  const before = await costs(processes);
  await pause(seconds * 1_000);
  const after = await costs(processes);
  const main = `${service.pid}/${service.pid}`;
  const sum = (isCounted: (thread: string) => boolean): Cost => {
    const threads = [...after.keys()].filter(isCounted);
    const added = (of: keyof Cost) =>
      threads.reduce(
        (all, thread) => all + (after.get(thread)?.[of] ?? 0) - (before.get(thread)?.[of] ?? 0),
        0,
      );
    return { milliseconds: added('milliseconds'), wakeups: added('wakeups') };
  };
  const share = ({ milliseconds }: Cost) => `${(milliseconds / seconds / 10).toFixed(2)} %`;
  const rate = ({ wakeups }: Cost) => (wakeups / seconds).toFixed(0);
  const own = sum((thread) => thread.startsWith(`${service.pid}/`));
  const postgres = sum((thread) => !thread.startsWith(`${service.pid}/`));
  const mainThread = share(sum((thread) => thread === main));
  const memory = `${(await service.memoryMb()).toFixed(0)} MB`;
  return [data, mainThread, share(own), rate(own), share(postgres), rate(postgres), memory];
}

/** By process and thread, since their start. */
async function costs(processes: readonly number[]): Promise<Map<string, Cost>> {
  const all = new Map<string, Cost>();
  for (const pid of processes) {
    for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
      const directory = `/proc/${pid}/task/${thread}`;
      const [ran = '0'] = (await textOf(`${directory}/schedstat`)).split(' ');
      const slept =
        /^voluntary_ctxt_switches:\s+(\d+)/m.exec(await textOf(`${directory}/status`))?.[1] ?? '0';
      all.set(`${pid}/${thread}`, { milliseconds: Number(ran) / 1e6, wakeups: Number(slept) });
    }
  }
  return all;
}

async function descendants(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(threads.map((thread) => textOf(`/proc/${pid}/task/${thread}/children`)));
  const children = lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
  return [...children, ...(await Promise.all(children.map(descendants))).flat()];
}

/** Empty if the process has ended. */
async function textOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => '');
}
