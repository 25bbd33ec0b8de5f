/** Entry of `npm run reconcile`: arguments and environment in, differences and a summary out (docs/reconciliation.md). */
import { endWith, findService } from '../running-service.ts';
import { createTerminal } from '../terminal/terminal.ts';
import { HELP, parseOptions } from './options.ts';
import { runReconciliation, summary } from './reconcile.ts';

const EXIT = { agrees: 0, differs: 1, failed: 2 } as const;

await endWith('reconcile', EXIT.failed, async () => {
  const options = parseOptions(process.argv.slice(2), Date.now());
  if (options === 'help') {
    process.stdout.write(HELP);
    return EXIT.agrees;
  }
  const terminal = createTerminal(process.stdout);
  const counts = await runReconciliation(await findService(options), options, terminal);
  terminal.line(summary(counts));
  return counts.differences > 0 ? EXIT.differs : EXIT.agrees;
});
