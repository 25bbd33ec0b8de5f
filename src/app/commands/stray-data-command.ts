/**
 * The command that lists and removes data of embedded PostgreSQLs whose DATA_DIR no longer exists: `tallyhouse
 * stray-data --remove NAME`.
 */
import { findStrayData, removeStrayData, type StrayData } from '../../embedded/stray-data.ts';
import { CommandFailure } from '../failures/command-failure.ts';

/**
 * Removes data with these names, or `all` whose DATA_DIR is known; without a name lists all. Returns the lines to
 * print. `shared`: the directory of such data.
 */
export async function strayDataCommand(names: readonly string[], shared?: string): Promise<string[]> {
  const found = await findStrayData(shared);
  if (names.length === 0) return found.length === 0 ? ['There are none.'] : found.map(lineOf);
  const removed = chosen(found, names);
  for (const stray of removed) await removeStrayData(stray, shared);
  return removed.map((stray) => `Removed ${lineOf(stray)}`);
}

function chosen(found: readonly StrayData[], names: readonly string[]): StrayData[] {
  if (names.length === 1 && names[0] === 'all') return found.filter(({ origin }) => origin !== null);
  return names.map((name) => {
    const stray = found.find((one) => one.name === name);
    if (stray !== undefined) return stray;
    throw new CommandFailure(
      `${name} is not among the data without DATA_DIR: tallyhouse stray-data lists them`,
    );
  });
}

function lineOf({ name, origin, usedAt }: StrayData): string {
  return `${name}  last used ${usedAt.toISOString()}  ${origin ?? 'unknown DATA_DIR'}`;
}
