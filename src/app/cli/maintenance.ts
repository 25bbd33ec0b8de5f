/** The command lines of `tallyhouse catalogue`, `accept-loss` and `stray-data`. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { CatalogueImport } from '../commands/catalogue/catalogue-command.ts';
import type { Run } from './run.ts';
import { described } from './subcommand.ts';
import { dayOrInstant } from './values.ts';

export function defineCatalogue(program: CommandUnknownOpts, run: Run<CatalogueImport>): void {
  const catalogue = described(program.command('catalogue'), {
    summary: 'import prices of AI models',
    description: 'Prices of AI models, the source of managed rate cards (docs/explanation/token-billing.md).',
    examples: [['tallyhouse catalogue import', 'the table of this version']],
  });
  described(catalogue.command('import'), {
    summary: 'add the prices of a file',
    description:
      'Adds the prices of a file. Importing the same file again changes nothing. New models join managed rate cards at their default markup. It works beside the running service, with the same environment, and never reads from the network.',
    examples: [
      ['tallyhouse catalogue import', 'the table of this version'],
      ['tallyhouse catalogue import prices.json --valid-from 2026-11-01', 'the JSON that LiteLLM publishes'],
    ],
  })
    .argument('[file]', 'in the format of catalogue/prices.json, or the JSON that LiteLLM publishes')
    .option(
      '--valid-from <time>',
      'from when prices hold that have no date; the current hour by default',
      dayOrInstant,
    )
    .action((file, { validFrom }) => run({ file: file ?? null, validFrom: validFrom ?? null }));
}

/** Parses the names of the losses. */
export function defineAcceptLoss(program: CommandUnknownOpts, run: Run<readonly string[]>): void {
  described(program.command('accept-loss'), {
    summary: 'list and accept the loss of damaged or missing data',
    description:
      'Accepts the loss of damaged or missing data, all that are named or none, while the service runs and is not ready. Without a name it lists the losses. docs/how-to/operations.md says when to restore instead.',
    examples: [
      ['tallyhouse accept-loss', 'lists what is missing'],
      ['tallyhouse accept-loss usage_events/broken-on-start_202611_1_5_1', 'accepts one loss'],
    ],
  })
    .argument('[names...]', 'as GET /readyz shows them')
    .action((names) => run(names));
}

/** Parses the names to remove; none: lists them. */
export function defineStrayData(program: CommandUnknownOpts, run: Run<readonly string[]>): void {
  described(program.command('stray-data'), {
    summary: 'list and remove data whose DATA_DIR is gone',
    description:
      'Lists data of embedded PostgreSQLs whose DATA_DIR is not there any more, with the DATA_DIR that they belonged to.',
    examples: [
      ['tallyhouse stray-data', 'lists the data'],
      ['tallyhouse stray-data --remove data-08KDZS', 'removes them for good'],
      ['tallyhouse stray-data --remove all', 'removes all whose DATA_DIR is known'],
    ],
  })
    .option('--remove <names...>', 'remove these for good; all: all whose DATA_DIR is known')
    .action(({ remove = [] }) => run(remove));
}
