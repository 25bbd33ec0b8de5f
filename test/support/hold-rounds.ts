/**
 * Rounds of random requests about holds of one customer, many at once through two processes, one of which may be killed.
 * A model beside them knows what is used; what is held is read from the service between rounds.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { BillingProcess } from './billing-process.ts';
import {
  answered,
  type Catalogue,
  creditOf,
  HELD_NOW,
  HeldCustomer,
  release,
  settle,
} from './held-customer.ts';

const CREDIT = 1000;
const STEPS_AT_ONCE = 24;
const ATTEMPTS_MAX = 200;

interface Step {
  readonly kind: 'reserve' | 'settle' | 'ingest held' | 'ingest' | 'release' | 'settle again';
  readonly tokens: number;
  readonly pick: number;
  /** Which of the processes is asked. */
  readonly process: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom<Step['kind'][]>(
    ...(['reserve', 'reserve', 'reserve', 'settle', 'settle', 'ingest held', 'ingest', 'release'] as const),
    'settle again',
  ),
  tokens: fc.integer({ min: 1, max: 60 }),
  pick: fc.nat(1_000),
  process: fc.nat(1),
});

/** The steps of a round, by the seed of the run. */
export function roundOfSteps(): Step[] {
  return fc.sample(fc.array(step, { minLength: STEPS_AT_ONCE, maxLength: STEPS_AT_ONCE }), 1).flat();
}

interface ActiveHold {
  readonly transaction_id: string;
  readonly amount: number;
}

export class HoldRounds {
  readonly customer: HeldCustomer;
  readonly #catalogue: Catalogue;
  #credit = CREDIT;
  #sent = 0;
  /** Tokens of the events that are acknowledged, by transaction. */
  readonly #used = new Map<string, number>();
  /** Granted and neither settled nor released, by transaction. */
  readonly #held = new Map<string, number>();
  /** Of usage in this round that nobody has held. */
  #unheld = 0;

  private constructor(customer: HeldCustomer, catalogue: Catalogue) {
    this.customer = customer;
    this.#catalogue = catalogue;
  }

  static async create(service: BillingProcess, catalogue: Catalogue): Promise<HoldRounds> {
    return new HoldRounds(await HeldCustomer.create(service, catalogue, CREDIT), catalogue);
  }

  /**
   * All steps at once. `processes` answers with who is alive; a step whose process dies is repeated with another. Checks
   * the law afterwards: what is held and used has not grown beyond what there is, but by usage that nobody has held.
   */
  async round(steps: readonly Step[], processes: () => readonly BillingProcess[]): Promise<void> {
    const before = this.#usedTokens() + (await this.#heldTokens(processes));
    this.#unheld = 0;
    const free = [...this.#held.keys()];
    const work = steps.map((one) => {
      // No two steps are about the same hold.
      const id = one.kind === 'reserve' || one.kind === 'ingest' ? undefined : free.splice(0, 1)[0];
      return this.#take(one, id, (ask) => persist(processes, one.process, ask));
    });
    await Promise.all(work);
    const after = this.#usedTokens() + (await this.#heldTokens(processes));
    expect(after).toBeLessThanOrEqual(Math.max(this.#credit, before) + this.#unheld);
  }

  async topUp(service: BillingProcess, amount: number): Promise<void> {
    await answered(service, '/v2/contracts/edit', {
      customer_id: this.customer.customerId,
      contract_id: this.customer.contractId,
      add_credits: [creditOf(this.#catalogue, amount)],
    });
    this.#credit += amount;
  }

  /** Every event counts once, and without holds the balance is what they leave; all of that may be held, and no more. */
  async end(service: BillingProcess): Promise<void> {
    const held = [...this.#held.keys()];
    for (let from = 0; from < held.length; from += 100) await release(service, held.slice(from, from + 100));
    this.#held.clear();
    const left = Math.max(0, this.#credit - this.#usedTokens());
    expect(await this.customer.left(service)).toBe(left);
    // Where the event of a hold came through another process, both count for a moment.
    await expect.poll(() => this.#active(() => [service])).toEqual([]);
    expect(await this.customer.reserve(service, [[this.#newId(), left + 1]])).toMatchObject([
      { granted: false, remaining: left },
    ]);
    expect(await this.customer.reserve(service, [[this.#newId(), left]])).toMatchObject([
      { granted: true, remaining: 0 },
    ]);
  }

  async #take({ kind, tokens }: Step, id: string | undefined, persistently: Persistently): Promise<void> {
    if (kind === 'reserve') return await this.#reserve(this.#newId(), tokens, persistently);
    if (kind === 'ingest') {
      this.#unheld += tokens;
      return await this.#ingest(this.#newId(), tokens, persistently);
    }
    if (id === undefined) return;
    const final = Math.min(tokens, this.#held.get(id) ?? 0);
    if (kind === 'release') await persistently((service) => release(service, [id]));
    else if (kind === 'ingest held') await this.#ingest(id, final, persistently);
    else {
      await persistently((service) => settle(service, [[id, final]]));
      this.#used.set(id, final);
    }
    if (kind === 'settle again') {
      const [again] = await persistently((service) => settle(service, [[id, final + 7]]));
      expect(again).toMatchObject({ accepted: false });
    }
    this.#held.delete(id);
  }

  async #reserve(id: string, tokens: number, persistently: Persistently): Promise<void> {
    const [answer] = await persistently((service) => this.customer.reserve(service, [[id, tokens]]));
    if (answer?.granted) this.#held.set(id, tokens);
  }

  async #ingest(transaction_id: string, tokens: number, persistently: Persistently): Promise<void> {
    const event = { customer_id: this.customer.customerId, event_type: 'use', timestamp: HELD_NOW };
    await persistently(async (service) => {
      const { status } = await service.call('/v1/ingest', [
        { transaction_id, ...event, properties: { tokens } },
      ]);
      if (status !== 200) throw new Error(`ingest answered ${status}`);
    });
    this.#used.set(transaction_id, tokens);
  }

  #usedTokens(): number {
    return [...this.#used.values()].reduce((sum, tokens) => sum + tokens, 0);
  }

  /** Of active holds whose event has not come. */
  async #heldTokens(processes: () => readonly BillingProcess[]): Promise<number> {
    const rows = await this.#active(processes);
    const held = rows.filter(({ transaction_id }) => !this.#used.has(transaction_id));
    return held.reduce((sum, { amount }) => sum + amount, 0);
  }

  #active(processes: () => readonly BillingProcess[]): Promise<readonly ActiveHold[]> {
    const path = `/v1/holds?customer_id=${this.customer.customerId}&status=active&limit=100`;
    return persist(processes, 0, (service) => answered(service, path));
  }

  #newId(): string {
    this.#sent += 1;
    return `${this.customer.customerId} ${this.#sent}`;
  }
}

type Persistently = <Answer>(ask: (service: BillingProcess) => Promise<Answer>) => Promise<Answer>;

/** Asks one process, and after a failure the next, as a client that sends the same request again. */
async function persist<Answer>(
  processes: () => readonly BillingProcess[],
  first: number,
  ask: (service: BillingProcess) => Promise<Answer>,
): Promise<Answer> {
  let failure: unknown;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const alive = processes();
    const service = alive[(first + attempt) % alive.length];
    if (service === undefined) throw new Error('a process is alive');
    try {
      return await ask(service);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}
