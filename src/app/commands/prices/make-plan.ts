/** Compares files with a running service. */
import { z } from 'zod';
import { parseJson } from '../../../api/base/json.ts';
import { addMonths, floorToMonth, type Instant, parseRfc3339 } from '../../../core/time.ts';
import { askFor, RefusedCall, type RunningService, type ServiceArguments } from '../running-service.ts';
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
  const now = await timeOf(service);
  const effectiveAt = given.effectiveAt ?? addMonths(floorToMonth(now), 1);
  const plan = planSteps(await readCatalogue(service), wanted, { ...given, now, effectiveAt });
  return { ...plan, effectiveAt };
}

/** The clock of the service, in a sandbox the sandbox clock. Without that operation the clock of this machine. */
async function timeOf(service: RunningService): Promise<Instant> {
  try {
    const answer = await askFor(service, '/v1/system/status');
    const { data } = status.parse(parseJson(await answer.text()));
    return parseRfc3339(data.now) ?? Date.now();
  } catch (error) {
    if (error instanceof RefusedCall && error.status === 404) return Date.now();
    throw error;
  }
}
