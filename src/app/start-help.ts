/** The command line of `npm start`: it takes no arguments but `--help`, which shows every setting. */
import { SETTINGS } from '../config.ts';

const WIDTH_MAX = 110;
const INDENT = ' '.repeat(6);

/** The text to print instead of a start, and the exit code; null to start. */
export function startAnswer(args: readonly string[]): { readonly text: string; readonly code: 0 | 2 } | null {
  const [first] = args;
  if (first === undefined) return null;
  if (first === '--help' || first === '-h') return { text: helpText(), code: 0 };
  return {
    text: `npm start takes no argument ${first}: settings are environment variables (npm start -- --help)\n`,
    code: 2,
  };
}

function helpText(): string {
  const settings = SETTINGS.map(({ name, meaning, defaultText }) => {
    const given = defaultText === null || defaultText === '' ? '' : `  (${defaultText})`;
    return `  ${name}${given}\n${wrapped(meaning)}`;
  });
  return `Usage: npm start        starts the service; SIGTERM or Ctrl-C stops it

Settings are environment variables, all optional, such as PORT=8080 npm start:

${settings.join('\n')}

Commands beside it, each with --help: npm run demo, token, backfill, sql, reconcile, catalogue
Endpoints: /docs (reference of the API), /readyz, /healthz, /metrics
`;
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
