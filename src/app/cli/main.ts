/** The process of `tallyhouse`: the one reader of the command line. */
import { ACTIONS } from './actions.ts';
import { runProgram } from './program.ts';

process.exitCode = await runProgram(process.argv.slice(2), ACTIONS, {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
