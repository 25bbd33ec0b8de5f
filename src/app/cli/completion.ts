/** `tallyhouse completion`: scripts that complete the command line in three shells, generated from the subcommands. */
import { Argument, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { described } from './subcommand.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function defineCompletion(program: CommandUnknownOpts, out: (text: string) => void): void {
  described(program.command('completion'), {
    summary: 'print a script that completes commands in a shell',
    description: 'Prints a script that completes subcommands, options and their values.',
    examples: [
      ['source <(tallyhouse completion bash)', 'in ~/.bashrc'],
      ['source <(tallyhouse completion zsh)', 'in ~/.zshrc, after compinit'],
      ['tallyhouse completion fish | source', 'in ~/.config/fish/config.fish'],
    ],
  })
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .action((shell) => out(SCRIPTS[shell](placesOf(program))));
}

/** The words that may follow a command. */
interface Place {
  /** Relative to the program: `token create`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  /** Values of its argument that are known. */
  readonly values: readonly string[];
  readonly options: readonly {
    readonly name: string;
    readonly meaning: string;
    readonly takesValue: boolean;
    readonly values: readonly string[];
  }[];
}

function placesOf(command: CommandUnknownOpts, path: readonly string[] = []): Place[] {
  const help = command.createHelp();
  const place = {
    path: path.join(' '),
    commands: command.commands.map((child) => ({ name: child.name(), summary: child.summary() })),
    values: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    options: help
      .visibleOptions(command)
      .flatMap(({ long, description, argChoices, required }) =>
        long === undefined || long === null
          ? []
          : [{ name: long, meaning: description, takesValue: required, values: argChoices ?? [] }],
      ),
  };
  return [place, ...command.commands.flatMap((child) => placesOf(child, [...path, child.name()]))];
}

const SCRIPTS: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

function wordsOf({ commands, values, options }: Place): string {
  return [...commands.map(({ name }) => name), ...values, ...options.map(({ name }) => name)].join(' ');
}

/** The shell cases that step through the words: the candidates by place and by the preceding option. */
function cases(places: readonly Place[]): { readonly steps: string; readonly words: string } {
  const below = places.filter(({ path }) => path !== '').map(({ path }) => `" ${path}"`);
  const valued = places.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ name, values }) => `    "${path === '' ? '' : ` ${path}`} ${name}") list="${values.join(' ')}" ;;`,
      ),
  );
  const plain = places.map((place) => {
    const at = place.path === '' ? '' : ` ${place.path}`;
    return `    "${at} "*) list="${wordsOf(place)}" ;;`;
  });
  // The longest place first: a pattern with * matches everything with that prefix.
  plain.sort((a, b) => b.indexOf('"*)') - a.indexOf('"*)'));
  return { steps: below.join('|'), words: [...valued, ...plain].join('\n') };
}

function bashScript(places: readonly Place[]): string {
  const { steps, words } = cases(places);
  return `_tallyhouse() {
  local word="\${COMP_WORDS[COMP_CWORD]}" place="" list="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$place \${COMP_WORDS[i]}" in
      ${steps}) place="$place \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$place \${COMP_WORDS[COMP_CWORD - 1]}" in
${words}
  esac
  COMPREPLY=($(compgen -W "$list" -- "$word"))
}
complete -o default -F _tallyhouse tallyhouse
`;
}

function zshScript(places: readonly Place[]): string {
  const { steps, words } = cases(places);
  return `#compdef tallyhouse
_tallyhouse() {
  local place="" list="" i
  for ((i = 2; i < CURRENT; i++)); do
    case "$place \${words[i]}" in
      ${steps}) place="$place \${words[i]}" ;;
    esac
  done
  case "$place \${words[CURRENT - 1]}" in
${words}
  esac
  if [[ -n "$list" ]]; then compadd -- \${(z)list}; fi
  _files
}
compdef _tallyhouse tallyhouse
`;
}

function fishScript(places: readonly Place[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = places.flatMap((place) => {
    const names = place.commands.map(({ name }) => name).join(' ');
    const seen = place.path
      .split(' ')
      .filter((name) => name !== '')
      .map((name) => `__fish_seen_subcommand_from ${name}`);
    const here = seen.join('; and ');
    const inside = [...seen, ...(names === '' ? [] : [`not __fish_seen_subcommand_from ${names}`])].join(
      '; and ',
    );
    const when = (condition: string) => (condition === '' ? '' : ` -n ${quoted(condition)}`);
    return [
      ...place.commands.map(
        ({ name, summary }) => `complete -c tallyhouse -f${when(inside)} -a ${name} -d ${quoted(summary)}`,
      ),
      ...place.values.map((value) => `complete -c tallyhouse -f${when(inside)} -a ${value}`),
      ...place.options.map(({ name, meaning, takesValue, values }) => {
        const value = takesValue ? (values.length > 0 ? ` -x -a ${quoted(values.join(' '))}` : ' -r') : '';
        return `complete -c tallyhouse${when(here)} -l ${name.slice(2)}${value} -d ${quoted(meaning)}`;
      }),
    ];
  });
  return `${lines.join('\n')}\n`;
}
