/**
 * The limit of open files and connections of this process, and its consequences. Without free descriptors neither a
 * query nor a connection to PostgreSQL can be opened: such requests are answered 503.
 */
import { readdir, readFile } from 'node:fs/promises';
import { report } from 'node:process';
import { HTTP_LIMITS } from './http-server.ts';

/** With fewer, a busy service runs out of them. */
const DESCRIPTORS_ADVISED = 1_024;
const CONNECTIONS_MIN = 16;

/** The limit of `ulimit -n`; infinite if there is none. Node has raised the soft limit to the hard one already. */
export async function descriptorLimit(): Promise<number> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => null);
  const text = limits === null ? limitOfReport() : /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  const limit = Number(text);
  return Number.isInteger(limit) && limit > 0 ? limit : Number.POSITIVE_INFINITY;
}

/** For systems without /proc. */
function limitOfReport(): string | undefined {
  // Otherwise it resolves the names of its peers. Node's types do not have it yet.
  Object.assign(report, { excludeNetwork: true });
  return /"open_files":\s*\{\s*"soft":\s*"?(\d+)/.exec(JSON.stringify(report.getReport()))?.[1];
}

/** The number that is open now, which is what an idle service needs. */
export async function descriptorsOpen(): Promise<number> {
  return (await readdir('/proc/self/fd').catch(() => [])).length;
}

/** Connections of clients may use half of the rest; the other half is for queries, files and connections to stores. */
export function connectionsMaxFor(limit: number, open: number): number {
  const share = Math.floor((limit - open) / 2);
  return Math.max(CONNECTIONS_MIN, Math.min(HTTP_LIMITS.connectionsMax, share));
}

/** A line for the operator if the limit is low, or null. */
export function lowLimitLine(limit: number, connectionsMax: number): string | null {
  if (limit >= DESCRIPTORS_ADVISED) return null;
  return `only ${limit} files and connections may be open at once (ulimit -n), so at most ${connectionsMax} connections are taken; allow ${DESCRIPTORS_ADVISED} or more`;
}
