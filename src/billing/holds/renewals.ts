/** Evaluates families: for a request that waits, and in the background before a request needs them. */
import { type Instant, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { withoutRequest } from '../../runtime/request-scope.ts';
import type { Evaluation, Evaluations } from './evaluations.ts';
import { FamilyPrices } from './family-prices.ts';
import type { HoldFamily } from './hold-family.ts';
import type { KnownFamilies } from './known-families.ts';

const RENEWALS_MAX = 3;
/** The pause between background evaluations of a family, after a success and after a failure. */
const PAUSE_MS = SECOND_MS;
const PAUSE_AFTER_FAILURE_MS = MINUTE_MS;

export interface RenewalContext {
  readonly known: KnownFamilies;
  readonly evaluations: Evaluations;
  /** Resolves when all events that are being written now are on disk. */
  ingestDrained(): Promise<void>;
}

/** A family has one evaluation at a time, so a later one never counts less than an earlier one. */
export class Renewals {
  readonly #context: RenewalContext;
  readonly #renewing = new Map<HoldFamily, Promise<void>>();
  /** The background evaluations. */
  readonly #refreshing = new Map<HoldFamily, Promise<void>>();

  constructor(context: RenewalContext) {
    this.#context = context;
  }

  isBusy(family: HoldFamily): boolean {
    return this.#renewing.has(family) || this.#refreshing.has(family);
  }

  /** Joins a running evaluation, which may have begun before the call. */
  renew(family: HoldFamily): Promise<void> {
    const running = this.#renewing.get(family);
    if (running !== undefined) return running;
    const work = withoutRequest(() => this.#renewOnce(family)).finally(() => this.#renewing.delete(family));
    this.#renewing.set(family, work);
    return work;
  }

  async #renewOnce(family: HoldFamily): Promise<void> {
    const { evaluations, ingestDrained } = this.#context;
    evaluations.cancelDeferred(family);
    await Promise.all([family.noticed, this.#refreshing.get(family)]);
    for (let attempt = 0; attempt < RENEWALS_MAX; attempt += 1) {
      if (!this.#renewed(family, await evaluations.evaluate(family))) return;
      await ingestDrained();
    }
  }

  /** Returns whether the family has new names: usage under them was not watched during the evaluation. */
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

  /** Evaluates families that are not busy in the background. `at`: for the hour that begins then; null: at present. */
  async refresh(due: readonly HoldFamily[], at: Instant | null): Promise<void> {
    const answers = this.#context.evaluations.evaluateDeferred(due, at);
    const work = due.map((family, index) => {
      const one = this.#takeDeferred(family, at, answers[index]).finally(() =>
        this.#refreshing.delete(family),
      );
      this.#refreshing.set(family, one);
      return one;
    });
    await Promise.all(work);
  }

  /** A failed evaluation is retried by the request that needs it. */
  async #takeDeferred(
    family: HoldFamily,
    at: Instant | null,
    answer: Promise<Evaluation | null> | undefined,
  ): Promise<void> {
    let pauseMs = PAUSE_MS;
    const evaluation = await answer?.catch(() => {
      pauseMs = PAUSE_AFTER_FAILURE_MS;
      return null;
    });
    family.pausedUntil = performance.now() + pauseMs;
    const [customerId = ''] = family.evaluated.customerIds;
    if (evaluation == null || this.#context.known.of(customerId) !== family) return;
    if (at === null) this.#renewed(family, evaluation);
    else this.#send(family, evaluation, true);
  }
}
