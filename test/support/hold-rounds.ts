/**
 * Rounds of random requests about holds of one customer, many at once through two processes, one of which may be killed.
 * A model beside them knows what is used; what is held is read from the service between rounds.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { type BillingProcess, moveClock } from './billing-process.ts';
import {
  answered,
  type Catalogue,
  creditOf,
  FIRST_CREDIT,
  HELD_EXPIRY,
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
  /** Whether its usage happens after balances have expired. */
  readonly isLate: boolean;
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
  isLate: fc.boolean(),
  pick: fc.nat(1_000),
  process: fc.nat(1),
});

/** The steps of a round, by the seed of the run. */
export function roundOfSteps(): Step[] {
  return fc.sample(fc.array(step, { minLength: STEPS_AT_ONCE, maxLength: STEPS_AT_ONCE }), 1).flat();
}

/** A change of the contract, or of the time, at the same time as the steps of a round. */
export type Beside =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'top-up'; readonly amount: number; readonly expires: boolean }
  | { readonly kind: 'amount'; readonly pick: number; readonly amount: number }
  | { readonly kind: 'shorten'; readonly pick: number }
  | { readonly kind: 'clock'; readonly now: string };

const beside: fc.Arbitrary<Beside> = fc.oneof(
  fc.record({ kind: fc.constant('nothing' as const) }),
  fc.record({
    kind: fc.constant('top-up' as const),
    amount: fc.integer({ min: 50, max: 400 }),
    expires: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('amount' as const),
    pick: fc.nat(1_000),
    amount: fc.integer({ min: 1, max: 1_500 }),
  }),
  fc.record({ kind: fc.constant('shorten' as const), pick: fc.nat(1_000) }),
);

/** Other than of the clock. */
export function anyBeside(): Beside {
  return fc.sample(beside, 1)[0] ?? { kind: 'nothing' };
}

interface ActiveHold {
  readonly transaction_id: string;
  readonly amount: number;
}

/** Tokens of an event, or held for it. */
interface Use {
  readonly tokens: number;
  readonly isLate: boolean;
}

interface Credit {
  readonly name: string;
  readonly amount: number;
  readonly expires: boolean;
}

/** Amounts of all usage, and of that after balances have expired. */
interface Totals {
  readonly all: number;
  readonly late: number;
}

export class HoldRounds {
  readonly customer: HeldCustomer;
  readonly #catalogue: Catalogue;
  readonly #credits: Credit[] = [{ name: FIRST_CREDIT, amount: CREDIT, expires: false }];
  #isExpired = false;
  #sent = 0;
  /** The events that are acknowledged, by transaction. */
  readonly #used = new Map<string, Use>();
  /** Granted and neither settled nor released, by transaction. */
  readonly #held = new Map<string, Use>();
  /** Usage in this round that nobody has held. */
  #unheld: Use[] = [];

  private constructor(customer: HeldCustomer, catalogue: Catalogue) {
    this.customer = customer;
    this.#catalogue = catalogue;
  }

  static async create(service: BillingProcess, catalogue: Catalogue): Promise<HoldRounds> {
    // Without a balance at its time, usage is not to be granted.
    const terms = { spend_limit: { amount: 0 } };
    return new HoldRounds(await HeldCustomer.create(service, catalogue, CREDIT, terms), catalogue);
  }

  /**
   * All steps and the change beside them at once. `processes` answers with who is alive; what a process does not answer
   * because it dies is repeated with another. Checks the law afterwards: what is held and used has not grown beyond what
   * there is before or after the change, but by usage that nobody has held. Late usage has balances only that do not expire.
   */
  async round(
    steps: readonly Step[],
    processes: () => readonly BillingProcess[],
    besides: Beside = { kind: 'nothing' },
  ): Promise<void> {
    const before = await this.#taken(processes);
    const roomBefore = this.#room();
    this.#unheld = [];
    const free = [...this.#held.keys()];
    const work = steps.map((one) => {
      // No two steps are about the same hold.
      const id = one.kind === 'reserve' || one.kind === 'ingest' ? undefined : free.splice(0, 1)[0];
      return this.#take(one, id, (ask) => persist(processes, one.process, ask));
    });
    await Promise.all([...work, this.#change(besides, processes)]);
    const after = await this.#taken(processes);
    const room = this.#room();
    const unheld = totalsOf(this.#unheld);
    for (const which of ['all', 'late'] as const) {
      const most = Math.max(roomBefore[which], room[which], before[which]);
      expect(after[which], `${which} of ${JSON.stringify(besides)}`).toBeLessThanOrEqual(
        most + unheld[which],
      );
    }
    await this.#expectNoMore(processes, after, room);
  }

  /**
   * Every event counts once, and without holds the balance is what they leave; all of that may be held, and no more.
   */
  async end(service: BillingProcess): Promise<void> {
    const held = [...this.#held.keys()];
    for (let from = 0; from < held.length; from += 100) await release(service, held.slice(from, from + 100));
    this.#held.clear();
    const left = this.#left();
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

  /** A request after the change has no more room than the change has left. */
  async #expectNoMore(
    processes: () => readonly BillingProcess[],
    taken: Totals,
    room: Totals,
  ): Promise<void> {
    // Late usage beyond the balances that last, after one of them was shortened, is paid by none of the others.
    const lasting = Math.max(0, room.late - taken.late);
    const all = room.all - room.late + lasting - (taken.all - taken.late);
    const late = lasting;
    const asked = [true, false].flatMap((isLate) =>
      [0, 1].map(async (process) => {
        const tokens = Math.max(0, isLate ? Math.min(late, all) : all) + 1;
        const event = { event_type: 'use', properties: { tokens }, timestamp: timeOf(isLate) };
        const [answer] = await persist(processes, process, (service) =>
          this.customer.reserve(service, [[this.#newId(), tokens]], { event }),
        );
        expect(answer, `${tokens} tokens, late: ${isLate}`).toMatchObject({ granted: false });
      }),
    );
    await Promise.all(asked);
  }

  async #change(change: Beside, processes: () => readonly BillingProcess[]): Promise<void> {
    if (change.kind === 'nothing') return;
    if (change.kind === 'clock') {
      this.#isExpired = change.now >= HELD_EXPIRY;
      const move = (service: BillingProcess) => moveClock(service, change.now);
      await Promise.all([0, 1].map((process) => persist(processes, process, move)));
      return;
    }
    if (change.kind === 'top-up') {
      const end = change.expires ? HELD_EXPIRY : undefined;
      // With a key, so that it is granted once however often it is sent.
      const uniqueness_key = this.#newId();
      const named = { name: uniqueness_key, ...(end === undefined ? {} : { ending_before: end }) };
      const credit = creditOf(this.#catalogue, change.amount, named);
      await persist(processes, 0, async (service) => {
        const { customerId: customer_id, contractId: contract_id } = this.customer;
        const { status, body } = await service.call('/v2/contracts/edit', {
          ...{ customer_id, contract_id, uniqueness_key, add_credits: [credit] },
        });
        if (status !== 200 && status !== 409) throw new Error(`the edit answered ${status} ${body}`);
      });
      this.#credits.push({ name: uniqueness_key, amount: change.amount, expires: change.expires });
      return;
    }
    const index = change.pick % this.#credits.length;
    const known = this.#credits[index];
    if (known === undefined) throw new Error('there is a credit');
    const edit = change.kind === 'amount' ? { amount: change.amount } : { ending_before: HELD_EXPIRY };
    await persist(processes, 0, (service) => this.customer.editCredit(service, known.name, edit));
    this.#credits[index] =
      change.kind === 'amount' ? { ...known, amount: change.amount } : { ...known, expires: true };
  }

  async #take(
    { kind, tokens, isLate }: Step,
    id: string | undefined,
    persistently: Persistently,
  ): Promise<void> {
    if (kind === 'reserve') return await this.#reserve(this.#newId(), { tokens, isLate }, persistently);
    if (kind === 'ingest') {
      this.#unheld.push({ tokens, isLate });
      return await this.#ingest(this.#newId(), { tokens, isLate }, persistently);
    }
    const held = id === undefined ? undefined : this.#held.get(id);
    if (id === undefined || held === undefined) return;
    const final = { ...held, tokens: Math.min(tokens, held.tokens) };
    if (kind === 'release') await persistently((service) => release(service, [id]));
    else if (kind === 'ingest held') await this.#ingest(id, final, persistently);
    else {
      await persistently((service) => settle(service, [[id, final.tokens]]));
      this.#used.set(id, final);
    }
    if (kind === 'settle again') {
      const [again] = await persistently((service) => settle(service, [[id, final.tokens + 7]]));
      expect(again).toMatchObject({ accepted: false });
    }
    this.#held.delete(id);
  }

  async #reserve(id: string, use: Use, persistently: Persistently): Promise<void> {
    const { tokens, isLate } = use;
    const event = { event_type: 'use', properties: { tokens }, timestamp: timeOf(isLate) };
    const [answer] = await persistently((service) =>
      this.customer.reserve(service, [[id, tokens]], { event }),
    );
    if (answer?.granted) this.#held.set(id, use);
  }

  async #ingest(transaction_id: string, use: Use, persistently: Persistently): Promise<void> {
    const { customerId: customer_id } = this.customer;
    const event = { customer_id, event_type: 'use', timestamp: timeOf(use.isLate) };
    await persistently(async (service) => {
      const { status } = await service.call('/v1/ingest', [
        { transaction_id, ...event, properties: { tokens: use.tokens } },
      ]);
      if (status !== 200) throw new Error(`ingest answered ${status}`);
    });
    this.#used.set(transaction_id, use);
  }

  #room(): Totals {
    const late = this.#credits.filter(({ expires }) => !expires);
    return { all: amountOf(this.#credits), late: amountOf(late) };
  }

  /**
   * The rest of balances that have not expired, drawn by earlier usage first, and those that expire before others.
   */
  #left(): number {
    const { all, late } = totalsOf([...this.#used.values()]);
    const room = this.#room();
    const expiring = room.all - room.late;
    const early = all - late;
    const lasting = Math.max(0, room.late - Math.max(0, early - expiring) - late);
    return lasting + (this.#isExpired ? 0 : Math.max(0, expiring - early));
  }

  /** Used, or held by active holds whose event has not come. */
  async #taken(processes: () => readonly BillingProcess[]): Promise<Totals> {
    const active = await this.#active(processes);
    const held = active.flatMap(({ transaction_id, amount }) =>
      this.#used.has(transaction_id)
        ? []
        : [{ tokens: amount, isLate: this.#held.get(transaction_id)?.isLate ?? false }],
    );
    return totalsOf([...this.#used.values(), ...held]);
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

function timeOf(isLate: boolean): string {
  return isLate ? HELD_EXPIRY : HELD_NOW;
}

function amountOf(credits: readonly Credit[]): number {
  return credits.reduce((sum, { amount }) => sum + amount, 0);
}

function totalsOf(uses: readonly Use[]): Totals {
  const total = (some: readonly Use[]) => some.reduce((sum, { tokens }) => sum + tokens, 0);
  return { all: total(uses), late: total(uses.filter(({ isLate }) => isLate)) };
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
