/** The command lines of `tallyhouse export`, `plan`, `apply` and `schema` (docs/how-to/prices-as-code.md). */
import { CommanderError, type CommandUnknownOpts, InvalidArgumentError } from '@commander-js/extra-typings';
import { isHourAligned } from '../../core/time.ts';
import type { ApplyCall } from '../commands/prices/apply-command.ts';
import type { PlanArguments } from '../commands/prices/make-plan.ts';
import type { PlanCall } from '../commands/prices/plan-command.ts';
import type { ServiceArguments } from '../commands/running-service.ts';
import { EXIT, WrongCall } from '../failures/command-failure.ts';
import type { Run } from './run.ts';
import { FINDING, serviceArguments, TOKEN_OPTION, URL_OPTION } from './service-options.ts';
import { described } from './subcommand.ts';
import { dayOrInstant, httpUrl } from './values.ts';

/** The code of the error of a wrong call where exit code 2 means something else. */
export const WRONG_CALL_FAILS = 'tallyhouse.wrongCallFails';

export interface PriceCommands {
  readonly exportPrices: Run<ServiceArguments>;
  readonly planPrices: Run<PlanCall>;
  readonly applyPrices: Run<ApplyCall>;
  readonly priceSchema: Run<null>;
}

export function definePrices(program: CommandUnknownOpts, run: PriceCommands): void {
  defineExport(program, run.exportPrices);
  definePlan(program, run.planPrices);
  defineApply(program, run.applyPrices);
  described(program.command('schema'), {
    summary: 'print the JSON Schema of price files',
    description:
      'Prints the JSON Schema of the files that plan and apply read, for editors: fields, their values and what they mean. It needs no service.',
    examples: [['tallyhouse schema', 'the schema']],
  }).action(() => run.priceSchema(null));
}

function defineExport(program: CommandUnknownOpts, run: Run<ServiceArguments>): void {
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

function definePlan(program: CommandUnknownOpts, run: Run<PlanCall>): void {
  described(program.command('plan'), {
    summary: 'show what files of prices would change',
    description: `Compares files of prices with the running service, and prints what apply would create, change and archive. Nothing is changed. ${FINDING}`,
    examples: [
      ['tallyhouse plan prices.yaml', 'what would change'],
      ['tallyhouse plan prices.yaml --out prices.plan', 'kept for apply --plan'],
    ],
    exitCodes: '0 nothing to do, 1 failed or wrong call, 2 changes',
  })
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : new CommanderError(EXIT.failed, WRONG_CALL_FAILS, error.message);
    })
    .argument('<file...>', 'YAML or JSON, of one catalogue together')
    .option('--effective-at <time>', EFFECTIVE_AT, fullHour)
    .option('--allow-history', ALLOW_HISTORY)
    .option('--prune', PRUNE)
    .option('--out <file>', 'writes the plan, for apply --plan')
    .option('--json', 'JSON in place of text')
    .option(...URL_OPTION, httpUrl)
    .option(...TOKEN_OPTION)
    .action((files, { out, ...given }) => run({ ...planArguments(files, given), out: out ?? null }));
}

function defineApply(program: CommandUnknownOpts, run: Run<ApplyCall>): void {
  described(program.command('apply'), {
    summary: 'make the catalogue that of files of prices',
    description: `Compares files of prices with the running service like plan, prints the plan and does it. After an interruption, the same call does the rest; repeated, it does nothing. The token needs scope write. ${FINDING}`,
    examples: [
      ['tallyhouse apply prices.yaml', 'does what plan shows'],
      ['tallyhouse apply --plan prices.plan', 'refused if the service has changed since'],
    ],
    exitCodes: '0 done, 1 failed, 2 wrong call',
  })
    .argument('[file...]', 'YAML or JSON, of one catalogue together')
    .option('--plan <file>', 'a plan of plan --out, in place of files')
    .option('--effective-at <time>', EFFECTIVE_AT, fullHour)
    .option('--allow-history', ALLOW_HISTORY)
    .option('--prune', PRUNE)
    .option('--json', 'JSON in place of text')
    .option(...URL_OPTION, httpUrl)
    .option(...TOKEN_OPTION)
    .action((files, { plan, ...given }) => {
      if ((plan === undefined) === (files.length === 0))
        throw new WrongCall('give files or --plan, one of both');
      const { effectiveAt, allowHistory, prune } = given;
      if (plan !== undefined && (effectiveAt !== undefined || allowHistory === true || prune === true)) {
        throw new WrongCall('--plan has its own date and switches');
      }
      return run({ ...planArguments(files, given), plan: plan ?? null });
    });
}

const EFFECTIVE_AT = 'when changes without a date begin (default: the next calendar month, UTC)';
const ALLOW_HISTORY = 'changes may begin before the current month';
const PRUNE = 'archives what the files do not have, and ends its rates';

interface GivenOptions {
  readonly effectiveAt?: number | undefined;
  readonly allowHistory?: true | undefined;
  readonly prune?: true | undefined;
  readonly json?: true | undefined;
  readonly url?: string | undefined;
  readonly token?: string | undefined;
}

function planArguments(files: readonly string[], given: GivenOptions): PlanArguments {
  const { effectiveAt = null, allowHistory = false, prune = false, json = false } = given;
  return { files, effectiveAt, allowHistory, prune, json, ...serviceArguments(given) };
}

function fullHour(text: string): number {
  const at = dayOrInstant(text);
  if (isHourAligned(at)) return at;
  throw new InvalidArgumentError('It must be on a full hour in UTC.');
}
