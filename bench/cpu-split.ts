/**
 * Who took the CPU time of a piece of work in a process: the main thread, other threads by their names, and child
 * processes such as the embedded PostgreSQL. Reads Linux' /proc.
 */
import { readdir, readFile } from 'node:fs/promises';
import { groupBy } from '../src/core/group-by.ts';
import { cpuSecondsOf } from './process-cpu.ts';

/** Milliseconds of CPU time. */
export interface CpuSplit {
  readonly main: number;
  /** By name; with `ended threads`, which have no name any more. */
  readonly threads: ReadonlyMap<string, number>;
  /** All descendants of the process. */
  readonly children: number;
  /**
   * That the main thread was ready to run and another had the core; the machine was not quiet if it is much.
   */
  readonly mainWaited: number;
}

interface Thread {
  readonly id: string;
  readonly name: string;
  readonly ran: number;
  readonly waited: number;
}

interface Reading {
  /** CPU time of all threads, ended ones included. */
  readonly own: number;
  readonly threads: readonly Thread[];
  /** By process id. */
  readonly children: ReadonlyMap<string, number>;
}

/** Begins to measure a process; the returned function says what it has used since. */
export async function measureCpu(pid: number): Promise<() => Promise<CpuSplit>> {
  const before = await readAll(pid);
  return async () => difference(pid, before, await readAll(pid));
}

/**
 * Begins to measure a process; the returned function says which share of its CPU time threads of each name had.
 */
export async function measureThreads(pid: number): Promise<() => Promise<ReadonlyMap<string, number>>> {
  const before = new Map((await readThreads(pid)).map((thread) => [thread.id, thread.ran]));
  return async () => {
    const used = (await readThreads(pid)).map(({ id, name, ran }) => ({
      name: id === String(pid) ? MAIN_THREAD : name,
      ran: ran - (before.get(id) ?? 0),
    }));
    const all = total(used.map(({ ran }) => ran));
    const byName = groupBy(used, ({ name }) => name);
    return new Map([...byName].map(([name, own]) => [name, total(own.map(({ ran }) => ran)) / all]));
  };
}

const MAIN_THREAD = 'main thread';

function difference(pid: number, before: Reading, after: Reading): CpuSplit {
  const earlier = new Map(before.threads.map((thread) => [thread.id, thread]));
  const used = after.threads.map(({ id, name, ran, waited }) => ({
    id,
    name,
    ran: ran - (earlier.get(id)?.ran ?? 0),
    waited: waited - (earlier.get(id)?.waited ?? 0),
  }));
  const main = used.find(({ id }) => id === String(pid));
  const others = groupBy(
    used.filter((thread) => thread !== main),
    ({ name }) => name,
  );
  const known = total(used.map(({ ran }) => ran));
  const children = [...after.children].map(([id, ran]) => ran - (before.children.get(id) ?? 0));
  return {
    main: main?.ran ?? Number.NaN,
    mainWaited: main?.waited ?? Number.NaN,
    threads: new Map([
      ...[...others].map(([name, own]) => [name, total(own.map(({ ran }) => ran))] as const),
      ['ended threads', after.own - before.own - known],
    ]),
    children: total(children),
  };
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

async function readAll(pid: number): Promise<Reading> {
  return {
    own: (await cpuSecondsOf(pid)) * 1_000,
    threads: await readThreads(pid),
    children: await readChildren(pid),
  };
}

async function readThreads(pid: number): Promise<Thread[]> {
  const tasks = `/proc/${pid}/task`;
  const threads = await Promise.all((await namesIn(tasks)).map((id) => readThread(tasks, id)));
  return threads.filter((thread) => thread !== null);
}

/** Null for one that has ended meanwhile. */
async function readThread(tasks: string, id: string): Promise<Thread | null> {
  const [statistics, name] = await Promise.all([
    textOf(`${tasks}/${id}/schedstat`),
    textOf(`${tasks}/${id}/comm`),
  ]);
  if (statistics === null || name === null) return null;
  const [ran = Number.NaN, waited = Number.NaN] = statistics.split(' ').map(Number);
  return { id, name: name.trim(), ran: ran / 1e6, waited: waited / 1e6 };
}

/** Clock ticks of /proc, a constant of Linux on every platform that Node supports. */
const TICK_MS = 10;

/** Every descendant, with the time of its children that have ended. */
async function readChildren(pid: number): Promise<Map<string, number>> {
  const ids = (await namesIn('/proc')).filter((name) => /^\d+$/.test(name));
  const all = new Map<string, { readonly parent: string; readonly ran: number }>();
  for (const id of ids) {
    const text = await textOf(`/proc/${id}/stat`);
    // The name of the process, in parentheses, may hold spaces: fields are counted from its end.
    const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
    if (fields === undefined) continue;
    const ticks = total(fields.slice(11, 15).map(Number));
    all.set(id, { parent: fields[1] ?? '', ran: ticks * TICK_MS });
  }
  const own = String(pid);
  const isDescendant = (id: string): boolean => {
    const parent = all.get(id)?.parent;
    return parent === own || (parent !== undefined && isDescendant(parent));
  };
  return new Map([...all].filter(([id]) => isDescendant(id)).map(([id, { ran }]) => [id, ran]));
}

/** None without /proc: then there are no figures. */
async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}

async function textOf(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null);
}
