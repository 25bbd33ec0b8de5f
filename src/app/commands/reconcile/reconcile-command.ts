/** The command that checks whether the numbers of a running service agree (docs/how-to/reconciliation.md). */
import { EXIT } from '../../failures/command-failure.ts';
import { findService } from '../running-service.ts';
import { createTerminal } from '../terminal/terminal.ts';
import type { ReconcileOptions } from './options.ts';
import { reconcileProviders } from './providers.ts';
import { runReconciliation } from './reconcile.ts';
import { createReport } from './report.ts';

/** Returns the exit code: that of a failure if something differs. */
export async function reconcileCommand(options: ReconcileOptions): Promise<number> {
  const { json } = options;
  const report = createReport({
    json,
    terminal: createTerminal(process.stdout),
    // A document must be alone on standard output.
    progress: createTerminal(json ? process.stderr : process.stdout),
  });
  const service = await findService(options);
  const counts = await runReconciliation(service, options, report);
  const delivered = await reconcileProviders(service, options, report);
  report.end();
  return counts.differences + delivered > 0 ? EXIT.failed : EXIT.done;
}
