/** The parts that every subcommand has: a summary of its work, examples, and its exit codes. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';

export interface Described {
  /** One line in the list of commands. */
  readonly summary: string;
  /** The paragraph above its options. */
  readonly description: string;
  /** Each with its effect. A test runs the command lines. */
  readonly examples: readonly (readonly [command: string, what: string])[];
  /** Further facts, printed below the options. */
  readonly notes?: string;
  /** Set if there are more than 0 done, 1 failed, 2 wrong call. */
  readonly exitCodes?: string;
}

/** Fixed, so that help is the same in a pipe. */
export const HELP_WIDTH = 110;

const EXIT_CODES = '0 done, 1 failed, 2 wrong call';

/** Sets the texts of the command. Returns the same command, for its options. */
export function described<Command extends CommandUnknownOpts>(command: Command, texts: Described): Command {
  command.summary(texts.summary).description(texts.description);
  const wrapped = (text: string) => command.createHelp().boxWrap(text, HELP_WIDTH);
  const width = texts.examples.reduce((longest, [line]) => Math.max(longest, line.length), 0);
  const isNarrow = width <= EXAMPLE_WIDTH_MAX;
  const examples = texts.examples.map(([line, what]) =>
    isNarrow ? `  ${line.padEnd(width)}   ${what}` : `  # ${what}\n  ${line}`,
  );
  const paragraphs = [
    ...(texts.notes === undefined ? [] : [wrapped(texts.notes)]),
    `Examples:\n${examples.join('\n')}`,
    wrapped(`Exit code: ${texts.exitCodes ?? EXIT_CODES}.`),
  ];
  command.addHelpText('after', `\n${paragraphs.join('\n\n')}`);
  return command;
}

/** The description of a longer example is above it. */
const EXAMPLE_WIDTH_MAX = 64;
