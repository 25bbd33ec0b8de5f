/** The file of a plan: what was planned, so that exactly this is done later. */
import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { parseJson, stringifyJson } from '../../../api/base/json.ts';
import { Refusal } from '../../../core/errors.ts';
import { messageOf } from '../../../core/failures.ts';
import { formatInstant, type Instant, parseRfc3339 } from '../../../core/time.ts';
import { CommandFailure } from '../../failures/command-failure.ts';
import { type Catalogue, catalogueForm } from './catalogue-file.ts';
import { stepForm, stepText } from './plan-text.ts';
import type { Step } from './step.ts';

const terms = z.record(z.string(), z.unknown()).nullable();

const planForm = z.object({
  version: z.literal(1),
  effective_at: z.string(),
  allow_history: z.boolean(),
  prune: z.boolean(),
  catalogue: catalogueForm,
  steps: z.array(
    z.object({
      action: z.enum(['create', 'change', 'archive']),
      kind: z.enum(['metric', 'product', 'rate card', 'pricing unit', 'custom field key', 'rate']),
      key: z.string(),
      from: z.string().nullable(),
      to: z.string().nullable(),
      before: terms,
      after: terms,
    }),
  ),
});

export interface KeptPlan {
  readonly wanted: Catalogue;
  readonly effectiveAt: Instant;
  readonly allowHistory: boolean;
  readonly prune: boolean;
  /** The text of each step. */
  readonly steps: ReadonlySet<string>;
}

export async function writePlan(
  file: string,
  kept: Omit<KeptPlan, 'steps'>,
  steps: readonly Step[],
): Promise<void> {
  const text = stringifyJson({
    version: 1,
    effective_at: formatInstant(kept.effectiveAt),
    allow_history: kept.allowHistory,
    prune: kept.prune,
    catalogue: kept.wanted,
    steps: steps.map(stepForm),
  });
  await writeFile(file, `${text}\n`).catch((error: unknown) => {
    throw new CommandFailure(`${file} cannot be written: ${messageOf(error)}`);
  });
}

/** Throws a `CommandFailure` if the file is no plan. */
export async function readPlan(file: string): Promise<KeptPlan> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandFailure(`${file} cannot be read: ${messageOf(error)}`);
  });
  const plan = planForm.safeParse(jsonOf(text)).data;
  const effectiveAt = plan === undefined ? null : parseRfc3339(plan.effective_at);
  if (plan === undefined || effectiveAt === null) {
    throw new CommandFailure(`${file} is not a plan that tallyhouse plan --out has written`);
  }
  return {
    wanted: plan.catalogue,
    effectiveAt,
    allowHistory: plan.allow_history,
    prune: plan.prune,
    steps: new Set(plan.steps.map(stepText)),
  };
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}
