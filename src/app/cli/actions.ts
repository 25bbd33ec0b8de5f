/** The functions that subcommands run. Each loads its code on demand, so that help and small commands are quick. */
import { type Config, ConfigError, processEnvironment } from '../../config.ts';
import type { DemoOptions } from '../../demo/options.ts';
import type { BackfillOptions } from '../commands/backfill/options.ts';
import type { BackupOptions, RestoreOptions } from '../commands/backup/options.ts';
import type { CatalogueImport } from '../commands/catalogue/catalogue-command.ts';
import { commandConfig } from '../commands/command-config.ts';
import type { DoctorOptions } from '../commands/doctor/doctor-command.ts';
import type { MoveOptions } from '../commands/move/options.ts';
import type { ApplyCall } from '../commands/prices/apply-command.ts';
import type { PlanCall } from '../commands/prices/plan-command.ts';
import type { ReconcileOptions } from '../commands/reconcile/options.ts';
import type { ServiceArguments } from '../commands/running-service.ts';
import type { SqlOptions } from '../commands/sql/options.ts';
import type { TokenCall } from '../commands/token-command.ts';
import type { UserCall } from '../commands/user-command.ts';
import { EXIT, failingWith } from '../failures/command-failure.ts';

/** Each returns the exit code. Throws a `CommandFailure` for errors that the operator can fix. */
export interface Actions {
  start(call: null): Promise<number>;
  demo(options: DemoOptions): Promise<number>;
  token(call: TokenCall): Promise<number>;
  user(call: UserCall): Promise<number>;
  backfill(options: BackfillOptions): Promise<number>;
  reconcile(options: ReconcileOptions): Promise<number>;
  sql(options: SqlOptions): Promise<number>;
  exportPrices(given: ServiceArguments): Promise<number>;
  planPrices(call: PlanCall): Promise<number>;
  applyPrices(call: ApplyCall): Promise<number>;
  priceSchema(call: null): Promise<number>;
  catalogue(call: CatalogueImport): Promise<number>;
  acceptLoss(names: readonly string[]): Promise<number>;
  strayData(names: readonly string[]): Promise<number>;
  backup(options: BackupOptions): Promise<number>;
  restore(options: RestoreOptions): Promise<number>;
  move(options: MoveOptions): Promise<number>;
  doctor(options: DoctorOptions): Promise<number>;
}

export const ACTIONS: Actions = {
  start: async () => (await import('./service-process.ts')).runService(),
  demo: async (options) => (await import('../../demo/run-demo.ts')).runDemo(options),
  backfill: async (options) =>
    (await import('../commands/backfill/backfill-command.ts')).backfillCommand(options),
  reconcile: (options) =>
    withSettings(async () =>
      (await import('../commands/reconcile/reconcile-command.ts')).reconcileCommand(options),
    ),
  sql: (options) =>
    withSettings(async () => (await import('../commands/sql/sql-command.ts')).sqlCommand(options)),
  exportPrices: (given) =>
    withSettings(async () => (await import('../commands/prices/export-command.ts')).exportCommand(given)),
  planPrices: (call) =>
    withSettings(async () => (await import('../commands/prices/plan-command.ts')).planCommand(call)),
  applyPrices: (call) =>
    withSettings(async () => (await import('../commands/prices/apply-command.ts')).applyCommand(call)),
  priceSchema: async () => (await import('../commands/prices/plan-command.ts')).schemaCommand(),
  token: (call) =>
    printed(async (config) => {
      const { databaseOfService, tokenCommand } = await import('../commands/token-command.ts');
      return [await tokenCommand(call, await databaseOfService(config), config.dataDir)];
    }),
  user: (call) =>
    printed(async (config) => {
      const { databaseOfService } = await import('../commands/token-command.ts');
      const { userCommand } = await import('../commands/user-command.ts');
      const { createServiceClock } = await import('../../jobs/service-clock.ts');
      const host = config.host === '0.0.0.0' || config.host === '127.0.0.1' ? 'localhost' : config.host;
      const origin = config.publicUrl ?? `http://${host}:${config.port}`;
      const clockOf = (db: Parameters<typeof createServiceClock>[0]) =>
        createServiceClock(db, config.sandboxNow ?? null);
      return [await userCommand(call, await databaseOfService(config), { origin, clockOf })];
    }),
  catalogue: (call) =>
    printed(async (config) => {
      const { databaseOfService } = await import('../commands/token-command.ts');
      const { catalogueCommand } = await import('../commands/catalogue/catalogue-command.ts');
      const { createServiceClock } = await import('../../jobs/service-clock.ts');
      const connection = await databaseOfService(config);
      const clockOf = (db: Parameters<typeof createServiceClock>[0]) =>
        createServiceClock(db, config.sandboxNow ?? null);
      return [await catalogueCommand(call, { connection, clockOf })];
    }),
  acceptLoss: (names) =>
    printed(async (config) => {
      const { databaseOfService } = await import('../commands/token-command.ts');
      const { acceptLossCommand } = await import('../commands/accept-loss-command.ts');
      return await acceptLossCommand(names, await databaseOfService(config));
    }),
  strayData: async (names) =>
    print(await (await import('../commands/stray-data-command.ts')).strayDataCommand(names)),
  backup: async (options) => (await import('../commands/backup/backup-command.ts')).backupCommand(options),
  restore: async (options) => (await import('../commands/backup/restore-command.ts')).restoreCommand(options),
  move: async (options) => (await import('../commands/move/move-command.ts')).moveCommand(options),
  doctor: async (options) =>
    (await import('../commands/doctor/doctor-command.ts')).doctorCommand(options, processEnvironment()),
};

/** Invalid settings have to be fixed by the operator. */
function withSettings(work: () => Promise<number>): Promise<number> {
  return failingWith([ConfigError], work);
}

function printed(work: (config: Config) => Promise<readonly string[]>): Promise<number> {
  return withSettings(async () => print(await work(commandConfig())));
}

function print(lines: readonly string[]): number {
  process.stdout.write(`${lines.join('\n')}\n`);
  return EXIT.done;
}
