/** The commands that compare files of prices with a running service (docs/how-to/prices-as-code.md). */
import { stringifyJson } from '../../../api/base/json.ts';
import { formatInstant } from '../../../core/time.ts';
import { EXIT } from '../../failures/command-failure.ts';
import { findService } from '../running-service.ts';
import { fileJsonSchema } from './file-schema.ts';
import { type MadePlan, makePlan, type PlanArguments } from './make-plan.ts';
import { writePlan } from './plan-file.ts';
import { planText, stepForm } from './plan-text.ts';
import { readFiles } from './read-files.ts';

export interface PlanCall extends PlanArguments {
  /** Where the plan is written for `tallyhouse apply --plan`; null: nowhere. */
  readonly out: string | null;
}

/** The exit code if there is something to do. */
const CHANGES = 2;

/** Returns the exit code. Throws a `CommandFailure` if there is no plan. */
export async function planCommand(call: PlanCall): Promise<number> {
  const wanted = await readFiles(call.files);
  const plan = await makePlan(await findService(call), wanted, call);
  if (call.out !== null) await writePlan(call.out, { ...call, ...plan, wanted }, plan.steps);
  process.stdout.write(call.json ? planJson(plan) : planText(plan, plan.effectiveAt, call.prune));
  return plan.steps.length === 0 ? EXIT.done : CHANGES;
}

export function planJson({ steps, unnamed, effectiveAt }: MadePlan): string {
  const text = stringifyJson({
    effective_at: formatInstant(effectiveAt),
    steps: steps.map(stepForm),
    not_in_files: unnamed.map(({ kind, key }) => ({ kind, key })),
  });
  return `${text}\n`;
}

/** Prints the JSON Schema of files, for editors. */
export async function schemaCommand(): Promise<number> {
  process.stdout.write(`${JSON.stringify(fileJsonSchema(), null, 2)}\n`);
  return EXIT.done;
}
