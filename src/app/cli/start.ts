/** The command line of `tallyhouse start`: it takes no arguments; its help shows every setting. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { SETTINGS } from '../../config.ts';
import { WrongCall } from '../failures/command-failure.ts';
import type { Run } from './run.ts';
import { described } from './subcommand.ts';

const WIDTH_MAX = 110;
const INDENT = ' '.repeat(6);

export function defineStart(program: CommandUnknownOpts, run: Run<null>): void {
  const start = described(program.command('start'), {
    summary: 'start the service',
    description: 'Starts the service. SIGTERM or Ctrl-C stops it.',
    examples: [
      ['tallyhouse start', 'with its data in .data/'],
      ['PORT=8080 DATA_DIR=/var/lib/tallyhouse tallyhouse start', 'with settings'],
      ['tallyhouse start --env-file /etc/tallyhouse.env', 'with settings of a file'],
    ],
    notes: 'Endpoints: /console, /docs (reference of the API), /readyz, /healthz, /metrics',
    exitCodes: '0 after a stop, 1 where it could not start or continue, 2 wrong call',
  })
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText('after', () => `\n${settingsText()}`);
  start.action(() => {
    const [argument] = start.args;
    if (argument === undefined) return run(null);
    throw new WrongCall(
      `there is no argument ${argument}: settings are environment variables (tallyhouse start --help)`,
    );
  });
}

function settingsText(): string {
  const settings = SETTINGS.map(({ name, meaning, defaultText }) => {
    const given = defaultText === null || defaultText === '' ? '' : `  (${defaultText})`;
    return `  ${name}${given}\n${wrapped(meaning)}`;
  });
  return `Settings are environment variables, all optional; a file .env in the working directory has them too:

${settings.join('\n')}`;
}

function wrapped(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && INDENT.length + line.length + word.length >= WIDTH_MAX) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => `${INDENT}${each}`).join('\n');
}
