/** Does the steps of a plan, one call of the API after the other. */
import { z } from 'zod';
import { JsonNumber, parseJson } from '../../../api/base/json.ts';
import { RATES_PER_CALL_MAX } from '../../../api/routes/rate-cards/rate-schemas.ts';
import { assert } from '../../../core/errors.ts';
import { CommandFailure } from '../../failures/command-failure.ts';
import { ask, type RunningService } from '../running-service.ts';
import { lineOf } from './plan-text.ts';
import { type Plan, Reference, type Step } from './step.ts';

const ADD_RATES = '/v1/contract-pricing/rate-cards/addRates';

/**
 * `onDone` is called with the steps of each call that succeeded. Throws a `CommandFailure` that names the step which the
 * service refused; those before it are done, and the next plan is the rest.
 */
export async function runSteps(
  service: RunningService,
  { steps, ids: known }: Plan,
  onDone: (steps: readonly Step[]) => void,
): Promise<void> {
  const ids = new Map(known);
  for (const together of inCalls(steps)) {
    const [first] = together;
    assert(first !== undefined, 'a part of a plan has a step');
    try {
      if (first.kind === 'rate') await addRates(service, ids, together);
      else await runStep(service, ids, first);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      throw new CommandFailure(`${lineOf(first)}\n${error.message}`, { cause: error });
    }
    onDone(together);
  }
}

/** Each step alone, but rates of one card together; those of one product are in one call where it has the room. */
function inCalls(steps: readonly Step[]): Step[][] {
  const calls: Step[][] = [];
  for (const group of byProduct(steps)) {
    const last = calls.at(-1);
    const [first] = group;
    const joins =
      first?.kind === 'rate' &&
      last?.[0]?.kind === 'rate' &&
      last[0].key === first.key &&
      last.length + group.length <= RATES_PER_CALL_MAX;
    if (joins) last.push(...group);
    else calls.push(group);
  }
  return calls;
}

function byProduct(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    const before = last?.[0];
    const joins =
      step.kind === 'rate' &&
      before?.kind === 'rate' &&
      before.key === step.key &&
      before.after?.product === step.after?.product &&
      last !== undefined &&
      last.length < RATES_PER_CALL_MAX;
    if (joins) last.push(step);
    else groups.push([step]);
  }
  return groups;
}

const created = z.object({ data: z.object({ id: z.string() }) });

async function runStep(service: RunningService, ids: Map<string, string>, step: Step): Promise<void> {
  let text = '';
  for (const { method, path, body } of step.calls) {
    text = await (await ask(service, path, withIds(body, ids), { method })).text();
  }
  if (step.makes !== null) ids.set(String(step.makes), created.parse(parseJson(text)).data.id);
}

async function addRates(
  service: RunningService,
  ids: ReadonlyMap<string, string>,
  steps: readonly Step[],
): Promise<void> {
  const card = new Reference('rate card', steps[0]?.key ?? '');
  const body = { rate_card_id: card, rates: steps.map(({ rate }) => rate) };
  await ask(service, ADD_RATES, withIds(body, ids));
}

/** The value with the ids of what it refers to. */
function withIds(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (value instanceof Reference) {
    const id = ids.get(String(value));
    assert(id !== undefined, `${value} exists when it is needed`);
    return id;
  }
  if (Array.isArray(value)) return value.map((item: unknown) => withIds(item, ids));
  if (value === null || typeof value !== 'object' || value instanceof JsonNumber) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === undefined ? [] : [[name, withIds(member, ids)]],
    ),
  );
}
