/** The program `tallyhouse`: its subcommands, and its exit codes. */
import { Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { VERSION } from '../../version.ts';
import { CommandFailure, EXIT } from '../failures/command-failure.ts';
import type { Actions } from './actions.ts';
import { defineBackfill } from './backfill.ts';
import { defineBackup, defineRestore } from './backup.ts';
import { defineCompletion } from './completion.ts';
import { defineDemo } from './demo.ts';
import { defineDoctor } from './doctor.ts';
import { defineAcceptLoss, defineCatalogue, defineStrayData } from './maintenance.ts';
import { defineMove } from './move.ts';
import { definePrices, WRONG_CALL_FAILS } from './prices.ts';
import { defineReconcile } from './reconcile.ts';
import type { Run } from './run.ts';
import { defineSql } from './sql.ts';
import { defineStart } from './start.ts';
import { described, HELP_WIDTH } from './subcommand.ts';
import { defineToken } from './token.ts';
import { defineUser } from './user.ts';

export interface Terminals {
  out(text: string): void;
  err(text: string): void;
}

/** Runs one call. Returns the exit code; never throws for errors that the operator can fix. */
export async function runProgram(
  args: readonly string[],
  actions: Actions,
  terminals: Terminals,
): Promise<number> {
  let exitCode: number = EXIT.done;
  let path = 'tallyhouse';
  const program = createProgram(
    actions,
    (code) => {
      exitCode = code;
    },
    terminals,
  );
  program.hook('preAction', (_, command) => {
    path = pathOf(command);
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    // A wrong call, or the requested help, has been printed already.
    if (error instanceof CommanderError) {
      if (error.code === WRONG_CALL_FAILS) return EXIT.failed;
      return error.exitCode === 0 ? EXIT.done : EXIT.wrongCall;
    }
    if (!(error instanceof CommandFailure)) throw error;
    terminals.err(`${path}: ${error.message}\n`);
    return error.exitCode;
  }
  return exitCode;
}

/** With all subcommands. `end` is called with the exit code of the one that ran. */
export function createProgram(
  actions: Actions,
  end: (code: number) => void,
  { out, err }: Terminals,
): CommandUnknownOpts {
  const program = new Command('tallyhouse')
    .exitOverride()
    .configureOutput({
      writeOut: out,
      writeErr: err,
      outputError: (text, write) => write(text.replace(/^error: /, 'tallyhouse: ')),
    })
    .configureHelp({ helpWidth: HELP_WIDTH, sortSubcommands: false })
    .version(VERSION)
    .option('--env-file <file>', 'settings that the environment does not have, instead of those in .env');
  described(program, {
    summary: 'usage-based billing',
    description: 'Open, self-hostable usage-based billing: usage events in, exact invoices out.',
    examples: [
      ['tallyhouse start', 'start the service'],
      ['tallyhouse demo', 'a simulated month, metered, billed and proved'],
      ['tallyhouse help token', 'the options of a command'],
    ],
    notes:
      'Settings come from the environment, then from the file .env in the working directory. tallyhouse start --help shows them.',
  });
  const run = <Call>(action: (call: Call) => Promise<number>): Run<Call> => {
    return async (call) => end(await action(call));
  };
  defineStart(program, run(actions.start));
  defineDemo(program, run(actions.demo));
  defineToken(program, run(actions.token));
  defineUser(program, run(actions.user));
  defineBackfill(program, run(actions.backfill));
  defineReconcile(program, run(actions.reconcile), Date.now);
  defineSql(program, run(actions.sql));
  definePrices(program, {
    exportPrices: run(actions.exportPrices),
    planPrices: run(actions.planPrices),
    applyPrices: run(actions.applyPrices),
    priceSchema: run(actions.priceSchema),
  });
  defineCatalogue(program, run(actions.catalogue));
  defineAcceptLoss(program, run(actions.acceptLoss));
  defineStrayData(program, run(actions.strayData));
  defineBackup(program, run(actions.backup));
  defineRestore(program, run(actions.restore));
  defineMove(program, run(actions.move));
  defineDoctor(program, run(actions.doctor));
  defineCompletion(program, out);
  for (const command of [program, ...descendantsOf(program)]) {
    command.showHelpAfterError(`(see: ${pathOf(command)} --help)`);
  }
  return program;
}

/** All commands below this one. */
export function descendantsOf(command: CommandUnknownOpts): CommandUnknownOpts[] {
  return command.commands.flatMap((child) => [child, ...descendantsOf(child)]);
}

/** `tallyhouse token create`. */
export function pathOf(command: CommandUnknownOpts): string {
  const { parent } = command;
  return parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}
