/** The command line of `tallyhouse export` (docs/how-to/prices-as-code.md). */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { ServiceArguments } from '../commands/running-service.ts';
import type { Run } from './run.ts';
import { FINDING, serviceArguments, TOKEN_OPTION, URL_OPTION } from './service-options.ts';
import { described } from './subcommand.ts';
import { httpUrl } from './values.ts';

export function defineExport(program: CommandUnknownOpts, run: Run<ServiceArguments>): void {
  described(program.command('export'), {
    summary: 'print the catalogue as YAML',
    description: `Prints pricing units, custom-field keys, metrics, products and rate cards with all rates of the running service as YAML. Objects have keys and no ids, so that files of two installations can be compared. ${FINDING}`,
    examples: [['tallyhouse export', 'the catalogue of the service on this machine']],
    exitCodes: '0 printed, 1 refused by the service or not answered, 2 wrong call',
  })
    .option(...URL_OPTION, httpUrl)
    .option(...TOKEN_OPTION)
    .action((given) => run(serviceArguments(given)));
}
