/** Entry of `npm run reconcile`: arguments and environment in, differences and a summary out (docs/reconciliation.md). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, ConfigError, loadConfig, processEnvironment } from '../../../config.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { HELP, parseOptions, ReconcileFailure, type ReconcileOptions } from './options.ts';
import { runReconciliation, summary } from './reconcile.ts';

const EXIT = { agrees: 0, differs: 1, failed: 2 } as const;

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2), Date.now());
  if (options === 'help') {
    process.stdout.write(HELP);
    return EXIT.agrees;
  }
  const terminal = createTerminal(process.stdout);
  const counts = await runReconciliation(await serviceOf(options), options, terminal);
  terminal.line(summary(counts));
  return counts.differences > 0 ? EXIT.differs : EXIT.agrees;
}

async function serviceOf(options: ReconcileOptions) {
  const config = loadConfig(processEnvironment());
  const url = options.url ?? `http://${config.host === '0.0.0.0' ? '127.0.0.1' : config.host}:${config.port}`;
  return { url, token: options.token ?? config.apiToken ?? (await keptToken(config)) };
}

/** That of the first start. */
async function keptToken({ dataDir }: Pick<Config, 'dataDir'>): Promise<string> {
  const path = join(dataDir, 'api-token');
  const text = await readFile(path, 'utf8').catch(() => '');
  if (text.trim() !== '') return text.trim();
  throw new ReconcileFailure(`There is no token in ${path}: set API_TOKEN or DATA_DIR, or give --token`);
}

try {
  process.exitCode = await main();
} catch (error) {
  const isExpected = error instanceof ReconcileFailure || error instanceof ConfigError;
  const text =
    isExpected || !(error instanceof Error)
      ? String(error instanceof Error ? error.message : error)
      : error.stack;
  process.stderr.write(`reconcile: ${text}\n`);
  process.exitCode = EXIT.failed;
}
