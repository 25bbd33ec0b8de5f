/** The command that imports prices of AI models into the catalogue, while the service runs. No network. */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { importPrices } from '../../../billing/token-billing/import-prices.ts';
import { readPriceFile } from '../../../billing/token-billing/price-files.ts';
import type { Clock } from '../../../core/clock.ts';
import { Refusal } from '../../../core/errors.ts';
import { floorToHour, type Instant, parseRfc3339 } from '../../../core/time.ts';
import { createDatabase, type Database } from '../../../store/base/database.ts';
import type { PostgresConnection } from '../../../store/postgres-driver/connect-postgres.ts';
import { SHIPPED_PRICES } from '../../token-catalogue.ts';

/** A call that cannot be carried out. The message is for the operator. */
export class CatalogueCommandError extends Error {
  override readonly name = 'CatalogueCommandError';
}

const USAGE = `Usage: npm run catalogue -- import [FILE] [--valid-from TIME]
  FILE               prices in the format of catalogue/prices.json, or the JSON that LiteLLM publishes;
                     catalogue/prices.json by default
  --valid-from TIME  from when prices hold that have no date: RFC 3339, or a day such as 2026-11-01;
                     the current hour by default
Importing the same file again changes nothing. New models join managed rate cards at their default markup.
It works beside the running service, with the same environment, and never reads from the network.`;

export interface CatalogueCommandDeps {
  readonly findDatabase: () => Promise<PostgresConnection>;
  /** The clock of the service, which may be a sandbox clock. */
  readonly clockOf: (db: Database) => Promise<Clock>;
}

/** Carries out a call and returns the text to print. Throws a `CatalogueCommandError` for what cannot be. */
export async function catalogueCommand(args: readonly string[], deps: CatalogueCommandDeps): Promise<string> {
  const call = parsed(args);
  if (call === null) return USAGE;
  const fileText = await readFile(call.file, 'utf8').catch((error: unknown) => {
    throw new CatalogueCommandError(
      `${call.file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  const pool = createDatabase(await deps.findDatabase());
  try {
    const clock = await deps.clockOf(pool.db);
    const validFrom = call.validFrom ?? floorToHour(clock.now());
    const { models, skipped, incomplete } = readPriceFile(fileText, { validFrom });
    const { addedPrices, addedAliases } = await importPrices({ db: pool.db, clock }, models);
    const summary = `${models.length} models read, ${skipped} entries without prices per token: ${addedPrices} prices and ${addedAliases} aliases are new`;
    return [...incompleteLines(incomplete), summary].join('\n');
  } catch (error) {
    if (error instanceof Refusal) throw new CatalogueCommandError(error.message);
    throw error;
  } finally {
    await pool.close();
  }
}

/** Entries that are named. */
const INCOMPLETE_LINES_MAX = 20;

function incompleteLines(incomplete: readonly string[]): string[] {
  const rest = incomplete.length - INCOMPLETE_LINES_MAX;
  return [
    ...incomplete.slice(0, INCOMPLETE_LINES_MAX),
    ...(rest > 0 ? [`and ${rest} more entries with null are left out`] : []),
  ];
}

function parsed(
  args: readonly string[],
): { readonly file: string; readonly validFrom: Instant | null } | null {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { 'valid-from': { type: 'string' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    if (values.help === true) return null;
    const [command, file = SHIPPED_PRICES, ...others] = positionals;
    if (command !== 'import' || others.length > 0) throw new CatalogueCommandError(USAGE);
    return { file, validFrom: instantOf(values['valid-from']) };
  } catch (error) {
    if (error instanceof CatalogueCommandError) throw error;
    throw new CatalogueCommandError(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  }
}

function instantOf(text: string | undefined): Instant | null {
  if (text === undefined) return null;
  const at = parseRfc3339(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (at === null) throw new CatalogueCommandError(`--valid-from must be a day or an RFC 3339 timestamp`);
  return at;
}
