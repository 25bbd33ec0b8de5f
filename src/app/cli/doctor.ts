/** The command line of `tallyhouse doctor`. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { DoctorOptions } from '../commands/doctor/doctor-command.ts';
import type { Run } from './run.ts';
import { described } from './subcommand.ts';

export function defineDoctor(program: CommandUnknownOpts, run: Run<DoctorOptions>): void {
  described(program.command('doctor'), {
    summary: 'say what is wrong',
    description:
      'Says in plain words what is wrong: Node, memory for the window of ids, settings, disk, the last backup, port, stores by URL with their versions and clocks, pending migrations, failing jobs, webhooks that cannot be reached. It changes nothing, and works with and without a running service.',
    examples: [
      ['tallyhouse doctor', 'with the settings of the service'],
      ['tallyhouse doctor --json', 'for programs'],
    ],
    exitCodes: '0 nothing is wrong, 1 something is wrong, 2 wrong call',
  })
    .option('--json', 'one JSON document instead of lines')
    .action(({ json = false }) => run({ json }));
}
