/** The command that imports prices of AI models into the catalogue, while the service runs. No network. */
import { readFile } from 'node:fs/promises';
import { importPrices } from '../../../billing/token-billing/import-prices.ts';
import { readPriceFile } from '../../../billing/token-billing/price-files.ts';
import type { Clock } from '../../../core/clock.ts';
import { Refusal } from '../../../core/errors.ts';
import { messageOf } from '../../../core/failures.ts';
import { floorToHour, type Instant } from '../../../core/time.ts';
import { createDatabase, type Database } from '../../../store/base/database.ts';
import type { PostgresConnection } from '../../../store/postgres-driver/connect-postgres.ts';
import { SHIPPED_PRICES } from '../../billing/token-catalogue.ts';
import { CommandFailure } from '../../failures/command-failure.ts';

export interface CatalogueImport {
  /** Null: the table included in this version. */
  readonly file: string | null;
  /** The start of prices without a date; null: the current hour. */
  readonly validFrom: Instant | null;
}

interface CatalogueCommandOptions {
  readonly connection: PostgresConnection;
  /** The clock of the service, which may be a sandbox clock. */
  readonly clockOf: (db: Database) => Promise<Clock>;
}

/** Runs an import and returns the text to print. Throws a `CommandFailure` if it cannot. */
export async function catalogueCommand(
  call: CatalogueImport,
  context: CatalogueCommandOptions,
): Promise<string> {
  const file = call.file ?? SHIPPED_PRICES;
  const fileText = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandFailure(`${file} cannot be read: ${messageOf(error)}`);
  });
  const pool = createDatabase(context.connection);
  try {
    const clock = await context.clockOf(pool.db);
    const validFrom = call.validFrom ?? floorToHour(clock.now());
    const { models, skipped, leftOut } = readPriceFile(fileText, { validFrom });
    const { addedPrices, addedAliases } = await importPrices({ db: pool.db, clock }, models);
    const summary = `${models.length} models read, ${skipped} entries without prices per token: ${addedPrices} prices and ${addedAliases} aliases are new`;
    return [...leftOutLines(leftOut), summary].join('\n');
  } catch (error) {
    if (error instanceof Refusal) throw new CommandFailure(error.message);
    throw error;
  } finally {
    await pool.close();
  }
}

/** Maximum entries that are named. */
const LEFT_OUT_LINES_MAX = 20;

function leftOutLines(leftOut: readonly string[]): string[] {
  const rest = leftOut.length - LEFT_OUT_LINES_MAX;
  return [
    ...leftOut.slice(0, LEFT_OUT_LINES_MAX),
    ...(rest > 0 ? [`and ${rest} more entries are left out`] : []),
  ];
}
