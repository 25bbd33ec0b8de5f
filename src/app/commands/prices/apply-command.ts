/** The command that makes the catalogue of a running service that of files (docs/how-to/prices-as-code.md). */
import { CommandFailure, EXIT } from '../../failures/command-failure.ts';
import { findService } from '../running-service.ts';
import { makePlan, type PlanArguments } from './make-plan.ts';
import { planJson } from './plan-command.ts';
import { readPlan } from './plan-file.ts';
import { lineOf, planText, stepText } from './plan-text.ts';
import { readFiles, refuse } from './read-files.ts';
import { runSteps } from './run-steps.ts';

export interface ApplyCall extends PlanArguments {
  /** A plan that `tallyhouse plan --out` has written, in place of files; null: none. */
  readonly plan: string | null;
}

/** Returns the exit code. Throws a `CommandFailure` if not everything could be done. */
export async function applyCommand(call: ApplyCall): Promise<number> {
  const service = await findService(call);
  const kept = call.plan === null ? null : await readPlan(call.plan);
  const wanted = kept?.wanted ?? (await readFiles(call.files));
  const options = kept ?? call;
  const plan = await makePlan(service, wanted, options);
  if (kept !== null) {
    const others = plan.steps.filter((step) => !kept.steps.has(stepText(step)));
    const told = others.map((step) => `not in the plan: ${lineOf(step)}`);
    refuse(told.length === 0 ? [] : ['The service has changed since this was planned.', ...told]);
  }
  process.stdout.write(call.json ? planJson(plan) : planText(plan, plan.effectiveAt, options.prune));
  if (plan.steps.length === 0) return EXIT.done;
  let done = 0;
  await runSteps(service, plan, (steps) => {
    done += steps.length;
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${plan.steps.length} done`);
  });
  const { steps: left } = await makePlan(service, wanted, { ...options, effectiveAt: plan.effectiveAt });
  if (left.length > 0) {
    const lines = left.slice(0, LEFT_SHOWN_MAX).map(lineOf).join('\n');
    throw new CommandFailure(`The service has changed meanwhile; ${left.length} steps are left:\n${lines}`);
  }
  if (!call.json) process.stdout.write(`Done: ${done} of ${plan.steps.length}.\n`);
  return EXIT.done;
}

const LEFT_SHOWN_MAX = 20;
