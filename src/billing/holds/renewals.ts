/** Evaluates families: for a request that waits, and before they are needed. */
import { type Instant, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { withoutRequest } from '../../runtime/request-scope.ts';
import type { Evaluation, Evaluations } from './evaluations.ts';
import { FamilyPrices } from './family-prices.ts';
import type { HoldFamily } from './hold-family.ts';
import type { KnownFamilies } from './known-families.ts';

const RENEWALS_MAX = 3;
/** The rest of a family that was evaluated before it was needed, or could not be. */
const REST_MS = SECOND_MS;
const REST_AFTER_FAILURE_MS = MINUTE_MS;

export interface RenewalContext {
  readonly known: KnownFamilies;
  readonly evaluations: Evaluations;
  /** Resolves when the events that are on their way to the disk now are there. */
  ingestSettled(): Promise<void>;
}

/** Each family has one evaluation at a time, so that a later one counts more. */
export class Renewals {
  readonly #context: RenewalContext;
  readonly #renewing = new Map<HoldFamily, Promise<void>>();
  /** Before they are needed. */
  readonly #refreshing = new Map<HoldFamily, Promise<void>>();

  constructor(context: RenewalContext) {
    this.#context = context;
  }

  isBusy(family: HoldFamily): boolean {
    return this.#renewing.has(family) || this.#refreshing.has(family);
  }

  /** With the evaluation that is running, if there is one, which may have begun before. */
  renew(family: HoldFamily): Promise<void> {
    const running = this.#renewing.get(family);
    if (running !== undefined) return running;
    const work = withoutRequest(() => this.#renewOnce(family)).finally(() => this.#renewing.delete(family));
    this.#renewing.set(family, work);
    return work;
  }

  async #renewOnce(family: HoldFamily): Promise<void> {
    const { evaluations, ingestSettled } = this.#context;
    evaluations.giveUpLater(family);
    await Promise.all([family.noticed, this.#refreshing.get(family)]);
    for (let attempt = 0; attempt < RENEWALS_MAX; attempt += 1) {
      if (!this.#renewed(family, await evaluations.evaluate(family))) return;
      await ingestSettled();
    }
  }

  /** Returns whether the family has new names: usage under them that came meanwhile was not watched. */
  #renewed(family: HoldFamily, evaluation: Evaluation): boolean {
    const { known } = this.#context;
    const hasNewNames = known.hasNewNames(family, evaluation.evaluated.customerOf);
    this.#send(family, evaluation, false);
    known.remember(family);
    if (hasNewNames) family.send({ kind: 'overtaken' });
    return hasNewNames;
  }

  #send(family: HoldFamily, { evaluated, begunAt, counted }: Evaluation, isAhead: boolean): void {
    const evaluation = new FamilyPrices(evaluated);
    family.send({ kind: 'evaluated', evaluation, begunAt, counted, isAhead });
  }

  /** Evaluates these, which are not busy, before it is needed. `at`: for the hour that begins then; null: for now. */
  async refresh(due: readonly HoldFamily[], at: Instant | null): Promise<void> {
    const answers = this.#context.evaluations.evaluateLater(due, at);
    const work = due.map((family, index) => {
      const one = this.#takeLater(family, at, answers[index]).finally(() => this.#refreshing.delete(family));
      this.#refreshing.set(family, one);
      return one;
    });
    await Promise.all(work);
  }

  /** One that fails is tried again by the request that needs it. */
  async #takeLater(
    family: HoldFamily,
    at: Instant | null,
    answer: Promise<Evaluation | null> | undefined,
  ): Promise<void> {
    let restMs = REST_MS;
    const evaluation = await answer?.catch(() => {
      restMs = REST_AFTER_FAILURE_MS;
      return null;
    });
    family.restsUntil = performance.now() + restMs;
    const [customerId = ''] = family.evaluated.customerIds;
    if (evaluation == null || this.#context.known.of(customerId) !== family) return;
    if (at === null) this.#renewed(family, evaluation);
    else this.#send(family, evaluation, true);
  }
}
