/** A customer whose holds are reserved, and then settled or released. Each life has another one. */
import { expect } from 'vitest';
import type { BillingProcess } from '../billing-process.ts';
import { type Catalogue, HeldCustomer, release, settle } from '../held-customer.ts';
import { type Actor, type Life, unlessKilled } from './actor.ts';

const CREDIT = 100_000;
const RESERVED = 100;
const USED = 70;
/** A page of holds. */
const HOLDS_MAX = 90;
const HOLDERS = 3;

interface KnownHold {
  readonly id: string;
  readonly end: 'settled' | 'released';
  /** Null: its reservation was not answered. */
  holdId: string | null;
  isEnded: boolean;
}

export class HoldingCustomer implements Actor {
  readonly #catalogue: Catalogue;
  #customer: HeldCustomer | null = null;
  #holds: KnownHold[] = [];

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  async begin(service: BillingProcess): Promise<void> {
    this.#holds = [];
    this.#customer = await HeldCustomer.create(service, this.#catalogue, CREDIT);
  }

  async act(life: Life): Promise<void> {
    const hold = async () => {
      while (this.#holds.length < HOLDS_MAX) {
        const number = this.#holds.length;
        const one: KnownHold = {
          ...{ id: `${life.month} hold ${number}`, holdId: null, isEnded: false },
          end: number % 3 === 0 ? 'released' : 'settled',
        };
        this.#holds.push(one);
        if (!(await this.#reserve(life, one))) return;
        life.strike('hold answered');
        if (!(await this.#end(life, one))) return;
        life.strike('hold answered');
      }
    };
    await Promise.all(Array.from({ length: HOLDERS }, hold));
  }

  /** Requests that were answered have the same answer again. */
  async expectKept({ service }: Life): Promise<void> {
    const states = await this.#states(service);
    for (const { id, end, holdId, isEnded } of this.#holds) {
      if (isEnded) expect(states.get(id)).toBe(end);
      else if (holdId !== null) expect(['active', end]).toContain(states.get(id));
    }
    const active = this.#holds.filter(({ id }) => states.get(id) === 'active');
    for (const { id, holdId } of active) {
      const [again] = await this.#present.reserve(service, [[id, RESERVED]]);
      expect(again).toMatchObject({ granted: true, hold_id: holdId ?? expect.any(String) });
    }
    const ended = this.#holds.filter(({ end, isEnded }) => isEnded && end === 'settled');
    if (ended.length === 0) return;
    for (const { accepted, amount } of await settle(
      service,
      ended.map(({ id }) => [id, USED]),
    )) {
      expect([accepted, amount]).toEqual([false, expect.toBeOneOf([USED, null])]);
    }
  }

  async repeat(life: Life): Promise<void> {
    for (const one of this.#holds) {
      if (one.isEnded) continue;
      if (one.holdId === null) expect(await this.#reserve(life, one)).toBe(true);
      // The cost is unknown if the event was stored, and the process was killed before it settled the hold.
      expect(await this.#end(life, one, expect.toBeOneOf([USED, null]))).toBe(true);
    }
  }

  async expectExact({ service }: Life): Promise<void> {
    const states = await this.#states(service);
    expect(states).toEqual(new Map(this.#holds.map(({ id, end }) => [id, end])));
    const settled = this.#holds.filter(({ end }) => end === 'settled').length;
    const left = CREDIT - USED * settled;
    expect(await this.#present.left(service)).toBe(left);
    expect(await this.#present.reserve(service, [['one more than is left', left + 1]])).toMatchObject([
      { granted: false, remaining: left },
    ]);
  }

  get #present(): HeldCustomer {
    if (this.#customer === null) throw new Error('the life has begun');
    return this.#customer;
  }

  async #states(service: BillingProcess): Promise<Map<string, string>> {
    return new Map((await this.#present.list(service)).map((one) => [one.transaction_id, one.status]));
  }

  async #reserve({ service }: Life, one: KnownHold): Promise<boolean> {
    const answer = await unlessKilled(this.#present.reserve(service, [[one.id, RESERVED]]));
    const [reserved] = answer ?? [];
    if (reserved === undefined) return false;
    expect(reserved.granted).toBe(true);
    one.holdId = reserved.hold_id ?? null;
    return true;
  }

  async #end({ service }: Life, one: KnownHold, cost: unknown = USED): Promise<boolean> {
    const ended = one.end === 'settled' ? settle(service, [[one.id, USED]]) : release(service, [one.id]);
    const answers = await unlessKilled<readonly object[]>(ended);
    if (answers === null) return false;
    if (one.end === 'settled') expect(answers).toMatchObject([{ amount: cost }]);
    one.isEnded = true;
    return true;
  }
}
