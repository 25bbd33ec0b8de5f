/**
 * Determines the pending migrations of a store, and refuses a store that this version does not know. The same rules
 * hold for PostgreSQL and ClickHouse: files are applied once, in order, and never change afterwards.
 */
import { messageOf } from './failures.ts';

export interface Migration {
  readonly name: string;
  /** SHA-256 of its text, in hex. */
  readonly checksum: string;
}

/**
 * The name of a migration that only adds things which the version before does not need: that version keeps running on
 * the stores, and may be started on them (docs/explanation/upgrades.md, "Without a gap").
 */
const EXPANSION = /^\d{4}_expand_/;

/** The service cannot start on these stores. The message is one line and tells the operator what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * The migrations of `known` that are not among `applied`, in order. Throws a `MigrationError` if the applied migrations
 * are not those that this version knows; expansions of later versions are allowed. `store` is its name in messages.
 */
export function pendingMigrations<Known extends Migration>(
  store: string,
  known: readonly Known[],
  applied: readonly Migration[],
): Known[] {
  const byName = new Map(known.map((migration) => [migration.name, migration]));
  for (const { name, checksum } of applied) {
    const migration = byName.get(name);
    if (migration === undefined) {
      if (EXPANSION.test(name)) continue;
      throw newerStore(store, name);
    }
    if (migration.checksum !== checksum) throw changedMigration(store, name);
  }
  const names = new Set(applied.map(({ name }) => name));
  const pending = known.filter(({ name }) => !names.has(name));
  const [first] = pending;
  const overtaken = known.findLast(({ name }) => names.has(name));
  if (first !== undefined && overtaken !== undefined && known.indexOf(first) < known.indexOf(overtaken)) {
    throw new MigrationError(
      `migration ${first.name} comes before ${overtaken.name}, which ${store} has already. Give it a later number`,
    );
  }
  return pending;
}

function newerStore(store: string, name: string): MigrationError {
  return new MigrationError(
    `${store} has the migration ${name}, which this version of tallyhouse does not know: a newer version has been started on this data. ` +
      'Start that version or a later one, or restore the backup from before the upgrade; data never goes back to an older version (docs/how-to/operations.md)',
  );
}

function changedMigration(store: string, name: string): MigrationError {
  return new MigrationError(
    `migration ${name} was applied to ${store} with another text than it has now. ` +
      'Install an unchanged release of tallyhouse; nothing has been touched (docs/how-to/operations.md)',
  );
}

/** The reason of a failure on one line, without the driver's additions. */
export function failureReason(error: unknown): string {
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return messageOf(reason).replace(/\s+/g, ' ').trim();
}
