/**
 * The command that lists and removes data of embedded PostgreSQLs whose DATA_DIR is not there any more:
 * `npm run stray-data -- --remove NAME`.
 */
import { findStrayData, removeStrayData, type StrayData } from '../../embedded/stray-data.ts';

/** A call that cannot be carried out. The message is for the operator. */
export class StrayDataError extends Error {
  override readonly name = 'StrayDataError';
}

const USAGE = `Usage: npm run stray-data                         lists the data, with the DATA_DIR that they belonged to
       npm run stray-data -- --remove NAME...    removes them for good; --remove all: all whose DATA_DIR is known`;

/** Returns the lines to print. `shared`: where such data lie. */
export async function strayDataCommand(args: readonly string[], shared?: string): Promise<string[]> {
  const [option, ...names] = args;
  const found = await findStrayData(shared);
  if (option === undefined) return found.length === 0 ? ['There are none.'] : found.map(lineOf);
  if (option !== '--remove' || names.length === 0) throw new StrayDataError(USAGE);
  const removed = chosen(found, names);
  for (const stray of removed) await removeStrayData(stray, shared);
  return removed.map((stray) => `Removed ${lineOf(stray)}`);
}

function chosen(found: readonly StrayData[], names: readonly string[]): StrayData[] {
  if (names.length === 1 && names[0] === 'all') return found.filter(({ origin }) => origin !== null);
  return names.map((name) => {
    const stray = found.find((one) => one.name === name);
    if (stray === undefined)
      throw new StrayDataError(`${name} is not among the data without DATA_DIR.\n${USAGE}`);
    return stray;
  });
}

function lineOf({ name, origin, usedAt }: StrayData): string {
  return `${name}  last used ${usedAt.toISOString()}  ${origin ?? 'unknown DATA_DIR'}`;
}
