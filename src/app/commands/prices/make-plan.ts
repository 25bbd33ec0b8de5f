/** Compares files with a running service. */
import { z } from 'zod';
import { parseJson } from '../../../api/base/json.ts';
import { addMonths, floorToMonth, type Instant, parseRfc3339 } from '../../../core/time.ts';
import { CommandFailure } from '../../failures/command-failure.ts';
import { askFor, type RunningService, type ServiceArguments } from '../running-service.ts';
import type { Catalogue } from './catalogue-file.ts';
import { readCatalogue } from './live-catalogue.ts';
import { planSteps } from './plan-steps.ts';
import type { PlanOptions } from './planning.ts';
import type { Plan } from './step.ts';

export interface PlanArguments extends ServiceArguments {
  readonly files: readonly string[];
  /** Null: the next calendar month in UTC, by the clock of the service. */
  readonly effectiveAt: Instant | null;
  readonly allowHistory: boolean;
  readonly prune: boolean;
  readonly json: boolean;
}

export interface MadePlan extends Plan {
  readonly effectiveAt: Instant;
}

const status = z.object({ data: z.object({ now: z.string() }) });

/** Throws `CommandFailure` if the service does not answer, or what cannot be done. */
export async function makePlan(
  service: RunningService,
  wanted: Catalogue,
  given: Omit<PlanOptions, 'now' | 'effectiveAt'> & { readonly effectiveAt: Instant | null },
): Promise<MadePlan> {
  const answer = status.parse(parseJson(await (await askFor(service, '/v1/system/status')).text()));
  const now = parseRfc3339(answer.data.now);
  if (now === null) throw new CommandFailure(`${service.url} does not tell its time`);
  const effectiveAt = given.effectiveAt ?? addMonths(floorToMonth(now), 1);
  const plan = planSteps(await readCatalogue(service), wanted, { ...given, now, effectiveAt });
  return { ...plan, effectiveAt };
}
