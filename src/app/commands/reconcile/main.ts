/** Entry of `npm run reconcile`: arguments and environment in, differences and a summary out (docs/reconciliation.md). */
import { endWith, findService } from '../running-service.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { HELP, parseOptions } from './options.ts';
import { reconcileProviders } from './providers.ts';
import { runReconciliation, summary } from './reconcile.ts';

const EXIT = { agrees: 0, differs: 1, failed: 2 } as const;

await endWith('reconcile', EXIT.failed, async () => {
  const options = parseOptions(process.argv.slice(2), Date.now());
  if (options === 'help') {
    process.stdout.write(HELP);
    return EXIT.agrees;
  }
  const terminal = createTerminal(process.stdout);
  const service = await findService(options);
  const counts = await runReconciliation(service, options, terminal);
  terminal.line(summary(counts));
  const delivered = await reconcileProviders(service, options, terminal);
  return counts.differences + delivered > 0 ? EXIT.differs : EXIT.agrees;
});
