/**
 * Asks tallyhouse before work is done whether the customer can pay for it, and bills what it has come to
 * (docs/explanation/holds.md). One file without dependencies: copy it into a program that runs on Node, Deno, Bun or at
 * an edge.
 */

/** What is about to happen, with its largest quantity; properties as in `POST /v1/ingest`. */
export interface PlannedEvent {
  /** Id or ingest alias. */
  readonly customer_id: string;
  /** The identity of the event, which makes every call here safe to repeat. */
  readonly transaction_id: string;
  readonly event_type: string;
  readonly properties: Properties;
  /** RFC 3339; now unless given. */
  readonly timestamp?: string;
}

export type Properties = Readonly<Record<string, string | number | boolean>>;

/** What happens to work while the service does not answer. */
export type WhenAway =
  /** It is not done: `HoldsAway` is thrown. For work that costs more than the trust of a customer. */
  | { readonly policy: 'closed' }
  /** It is done, and its event is sent when the service is back: somebody may spend what is not there. */
  | { readonly policy: 'open' }
  /**
   * It is done as long as it fits in an amount that was held for this program before, so that nothing is spent that is not
   * there. `slice` is how much is held for a customer that works here; `costOf` is what an event costs at most.
   */
  | {
      readonly policy: 'slice';
      /** Decimal text in the unit of `credit_type_id`. */
      readonly slice: string;
      readonly credit_type_id: string;
      costOf(event: PlannedEvent): string;
    };

export interface HoldsOptions {
  readonly url: string;
  /** A token with the scope `ingest`. */
  readonly token: string;
  readonly whenAway: WhenAway;
  /** How long an answer is waited for, in milliseconds; 5,000 unless given. A hold without an answer is asked for twice. */
  readonly timeoutMs?: number;
  /** How long a hold lasts when the program is killed in between, in seconds; 600 unless given. */
  readonly ttlSeconds?: number;
  /** Events that wait for a service that is away; 10,000 unless given. Beyond that work is refused, not forgotten. */
  readonly waitingMax?: number;
  /** An event that waited and that the service refuses. It is not billed, so say so where somebody looks. */
  readonly onRefused?: (event: PlannedEvent, error: Error) => void;
  readonly fetch?: typeof globalThis.fetch;
}

/** What is asked about: a product, or an event that may happen. */
export interface Question {
  /** Id or ingest alias. */
  readonly customer_id: string;
  readonly event_type?: string;
  /** Instead of an event type. */
  readonly product_id?: string;
  readonly properties?: Properties;
  /** What the metric counts; by default what the properties say, or 1. */
  readonly quantity?: number;
}

/** Numbers are doubles, to be shown; amounts are in the unit of `credit_type`. */
export interface Checked {
  readonly allowed: boolean;
  /** As of `NotGranted`, or `away`: the service does not answer, and the policy does not allow it. Null: it is allowed. */
  readonly reason: string | null;
  readonly unit_price: number | null;
  readonly credit_type: { readonly id: string; readonly name: string } | null;
  /** What may still be held. Null: there is no limit, or nobody knows. */
  readonly remaining: number | null;
  readonly held: number | null;
  readonly limit: number | null;
  readonly resets_at: string | null;
}

/** The customer cannot pay for it, or has no right to it. */
export class NotGranted extends Error {
  override readonly name = 'NotGranted';
  /** `balance`, `spend_limit`, `not_entitled`, `unpriced`, `customer_not_found` or `not_priceable`. */
  readonly reason: string;
  /** What the work would cost at most, and what is left, in the unit of the balance. */
  readonly required: unknown;
  readonly remaining: unknown;

  constructor({ reason, required, remaining }: Place) {
    super(`not granted: ${reason}`);
    this.reason = String(reason);
    this.required = required;
    this.remaining = remaining;
  }
}

/** The service does not answer, and the policy does not allow work without it. */
export class HoldsAway extends Error {
  override readonly name = 'HoldsAway';
}

/** The service answered that a request is wrong. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** Permission to do the work. One of the two is called, once. */
export interface Permission {
  /** Bills what it has come to, with the properties that changed. */
  settle(properties?: Properties): Promise<void>;
  /** It did not happen. */
  release(): Promise<void>;
}

interface Slice {
  readonly transactionId: string;
  readonly expiresAt: number;
  left: bigint;
  /** Work that took of it and has not ended: as long as there is some, nobody else may have the amount. */
  open: number;
}

interface TakenOfSlice {
  readonly cost: bigint;
  /** Gives back a part. */
  end(back: bigint): void;
}

/** A hold, granted or perhaps granted, that nobody needs any more. */
interface Unneeded {
  /** By the clock of `performance`, like the others. A request without an answer may arrive until about then. */
  readonly unknownUntil: number;
  nextAt: number;
  waitMs: number;
}

interface KeptAnswer {
  readonly checked: Checked;
  /** By the clock of `performance`. */
  readonly until: number;
}

interface Answer {
  readonly body: unknown;
  /** As its `Cache-Control` allows. */
  readonly ageMaxMs: number;
}

/** Nothing was done (`busy`), or there was no answer, so that it may have been done (`silent`). */
type Away = 'busy' | 'silent';

/** Stands for an amount until the request is text. */
const AMOUNT = '@amount';
const TTL_SECONDS = 600;
const WAITING_MAX = 10_000;
const TIMEOUT_MS = 5_000;
/** A release of a hold that is not known is tried again for so long: its request may still be on its way. */
const UNKNOWN_MS = 60_000;
const RELEASE_WAIT_MS = 1_000;
const RELEASE_WAIT_MAX_MS = 60_000;
/** Holds that wait for their release. Beyond that the oldest ends by itself. */
const UNNEEDED_MAX = 10_000;
/** `POST /v1/ingest` takes no more at once. */
const EVENTS_PER_REQUEST = 100;
/** Answers to checks, each of which is kept for a second. */
const KEPT_ANSWERS_MAX = 10_000;
const NOTHING_STAYS = '; a hold that it has granted all the same is released when it answers again';
const NOTHING_KNOWN = {
  unit_price: null,
  credit_type: null,
  remaining: null,
  held: null,
  limit: null,
  resets_at: null,
};

export class Holds {
  readonly #options: HoldsOptions;
  /** Events of work that was done while the service was away, or whose settlement it did not answer. */
  #waiting: PlannedEvent[] = [];
  #sentAtOnce = EVENTS_PER_REQUEST;
  readonly #slices = new Map<string, Slice>();
  /** By transaction id. */
  readonly #unneeded = new Map<string, Unneeded>();
  #releasing: Promise<void> | null = null;
  #releaseTimer: unknown = null;
  #sending: Promise<void> | null = null;
  readonly #keeping = new Map<string, Promise<void>>();
  /** By question, those first that were asked first. */
  readonly #kept = new Map<string, KeptAnswer>();
  readonly #asking = new Map<string, Promise<Checked>>();

  constructor(options: HoldsOptions) {
    this.#options = options;
  }

  /**
   * Does the work if the customer can pay for it. `run` returns its result and the properties that the event has in the end;
   * when it throws, nothing is billed. Throws `NotGranted`, `HoldsAway`, and what `run` throws.
   */
  async hold<Result>(
    event: PlannedEvent,
    run: () => Promise<{ readonly result: Result; readonly properties?: Properties }>,
  ): Promise<Result> {
    const permission = await this.reserve(event);
    let done: Awaited<ReturnType<typeof run>>;
    try {
      done = await run();
    } catch (error) {
      await permission.release();
      throw error;
    }
    await permission.settle(done.properties);
    return done.result;
  }

  /**
   * For work whose end is elsewhere than its beginning, such as a stream. Without an answer the same hold is asked for a
   * second time, under its transaction id; without that one either, `whenAway` decides, and a hold that was granted
   * unseen is released as soon as the service answers, unless its event settles it.
   */
  async reserve(planned: PlannedEvent): Promise<Permission> {
    const event = { ...planned, timestamp: planned.timestamp ?? new Date().toISOString() };
    const { customer_id, transaction_id, ...happening } = planned;
    // From now on it is needed again.
    this.#unneeded.delete(transaction_id);
    await this.flush();
    const hold = { customer_id, transaction_id, event: happening };
    const body = { holds: [{ ...hold, ...this.#ttl() }] };
    const answer = this.#waiting.length > 0 ? 'busy' : await this.#askTwice('/v1/holds/reserve', body);
    if (isAway(answer)) return this.#withoutService(event, answer);
    const [granted] = dataOf(answer.body);
    if (granted?.granted !== true) throw new NotGranted(granted ?? {});
    await this.#keepSlice(customer_id);
    return {
      settle: (changed) => this.#settle(event, changed),
      release: () => this.#giveUp(transaction_id),
    };
  }

  /**
   * Whether the customer may use something now, for a button or a menu. Holds nothing, so that somebody else may take it
   * in the next moment: who is about to spend calls `hold`. The answer may be a second old; the same question, asked many
   * times at once, is one request. Throws only where the question is wrong.
   */
  async check(question: Question): Promise<Checked> {
    const key = JSON.stringify(question);
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.until > performance.now()) return kept.checked;
    const asking = this.#asking.get(key) ?? this.#ask(question, key).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return await asking;
  }

  /**
   * Sends the events that wait, and releases what nobody needs. Call it before the program ends; `waiting` says what is
   * left.
   */
  async flush(): Promise<void> {
    await this.#releaseUnneeded();
    this.#sending ??= this.#sendWaiting().finally(() => {
      this.#sending = null;
    });
    await this.#sending;
  }

  /** How many events wait for the service. */
  get waiting(): number {
    return this.#waiting.length;
  }

  async #settle(event: PlannedEvent, changed: Properties = {}): Promise<void> {
    const properties = { ...event.properties, ...changed };
    const settlement = { transaction_id: event.transaction_id, properties };
    const answer = await this.#post('/v1/holds/settle', { settlements: [settlement] });
    // An event with the hold's transaction id settles it as well, and counts once.
    if (answer === null || dataOf(answer)[0]?.error !== undefined) this.#wait({ ...event, properties });
  }

  async #ask({ customer_id, ...asked }: Question, key: string): Promise<Checked> {
    // The service judges by the usage that it has.
    await this.flush();
    const begunAt = performance.now();
    const path = `/v1/customers/${encodeURIComponent(customer_id)}/check`;
    const answer = this.#waiting.length > 0 ? 'busy' : await this.#request(path, asked);
    if (isAway(answer)) return this.#checkWithoutService({ customer_id, ...asked });
    const { data: checked } = answer.body as { readonly data: Checked };
    this.#keep(key, { checked, until: begunAt + answer.ageMaxMs });
    return checked;
  }

  #keep(key: string, answer: KeptAnswer): void {
    this.#kept.delete(key);
    this.#kept.set(key, answer);
    const now = performance.now();
    for (const [oldest, { until }] of this.#kept) {
      if (until > now && this.#kept.size <= KEPT_ANSWERS_MAX) return;
      this.#kept.delete(oldest);
    }
  }

  /** What `hold` would do. */
  #checkWithoutService({ customer_id, event_type, properties = {}, quantity }: Question): Checked {
    const { whenAway, waitingMax = WAITING_MAX } = this.#options;
    const isAllowed = () => {
      if (whenAway.policy === 'closed' || this.#waiting.length >= waitingMax) return false;
      if (whenAway.policy === 'open') return true;
      // Only the cost of an event is known here.
      if (event_type === undefined || quantity !== undefined) return false;
      const event = { customer_id, transaction_id: 'check', event_type, properties };
      return this.#sliceFor(customer_id, parts(whenAway.costOf(event))) !== null;
    };
    const allowed = isAllowed();
    return { allowed, reason: allowed ? null : 'away', ...NOTHING_KNOWN };
  }

  #wait(event: PlannedEvent): void {
    this.#waiting.push(event);
  }

  #withoutService(event: PlannedEvent, away: Away): Permission {
    // If the hold was granted, the event settles it, or it is released.
    const forget = () => {
      if (away === 'silent') this.#releaseLater(event.transaction_id);
    };
    let slice: TakenOfSlice | null;
    try {
      slice = this.#allowedWithoutService(event);
    } catch (error) {
      forget();
      throw error;
    }
    return {
      settle: async (changed = {}) => {
        this.#wait({ ...event, properties: { ...event.properties, ...changed } });
        slice?.end(0n);
      },
      release: async () => {
        slice?.end(slice.cost);
        forget();
      },
    };
  }

  /** Throws `HoldsAway`. Null: no slice is needed. */
  #allowedWithoutService(event: PlannedEvent): TakenOfSlice | null {
    const { whenAway, waitingMax = WAITING_MAX } = this.#options;
    if (whenAway.policy === 'closed') throw new HoldsAway(`the service does not answer${NOTHING_STAYS}`);
    if (this.#waiting.length >= waitingMax) throw new HoldsAway('too many events wait for the service');
    return whenAway.policy === 'slice' ? this.#takeOfSlice(event, parts(whenAway.costOf(event))) : null;
  }

  #takeOfSlice({ customer_id }: PlannedEvent, cost: bigint): TakenOfSlice {
    const slice = this.#sliceFor(customer_id, cost);
    if (slice === null)
      throw new HoldsAway('the service does not answer, and what is held here does not suffice');
    slice.left -= cost;
    slice.open += 1;
    const end = (back: bigint) => {
      slice.left += back;
      slice.open -= 1;
    };
    return { cost, end };
  }

  /** Null: there is none that suffices. */
  #sliceFor(customerId: string, cost: bigint): Slice | null {
    const slice = this.#slices.get(customerId);
    return slice !== undefined && slice.expiresAt > Date.now() && slice.left >= cost ? slice : null;
  }

  /** Holds a slice for a customer that works here, anew when half of its time is over or something was taken of it. */
  async #keepSlice(customerId: string): Promise<void> {
    const { whenAway } = this.#options;
    if (whenAway.policy !== 'slice') return;
    // One at a time: two would both hold one, and one of them would be forgotten.
    const keeping =
      this.#keeping.get(customerId) ??
      this.#renewSlice(customerId, whenAway).finally(() => this.#keeping.delete(customerId));
    this.#keeping.set(customerId, keeping);
    await keeping;
  }

  async #renewSlice(
    customerId: string,
    whenAway: Extract<WhenAway, { readonly policy: 'slice' }>,
  ): Promise<void> {
    const whole = parts(whenAway.slice, 'down');
    const known = this.#slices.get(customerId);
    const ttl = this.#ttl().ttl_seconds;
    const isFresh = known !== undefined && known.expiresAt - Date.now() > ttl * 500;
    if (isFresh && known.left === whole) return;
    if (this.#waiting.length > 0 || (known?.open ?? 0) > 0) return;
    this.#slices.delete(customerId);
    // The old one first: what it held is needed for the new one.
    if (known !== undefined) await this.#giveUp(known.transactionId);
    const transactionId = `slice-${globalThis.crypto.randomUUID()}`;
    const expiresAt = Date.now() + ttl * 1000;
    const slice = { amount: AMOUNT, credit_type_id: whenAway.credit_type_id, ttl_seconds: ttl };
    const holds = [{ customer_id: customerId, transaction_id: transactionId, ...slice }];
    // As text, with all its digits: a double would lose some.
    const text = JSON.stringify({ holds }).replace(JSON.stringify(AMOUNT), whenAway.slice);
    const answer = await this.#request('/v1/holds/reserve', text);
    if (answer === 'silent') this.#releaseLater(transactionId);
    if (isAway(answer) || dataOf(answer.body)[0]?.granted !== true) return;
    this.#slices.set(customerId, { transactionId, expiresAt, left: whole, open: 0 });
  }

  /** Releases a hold now, or when the service answers again. */
  async #giveUp(transactionId: string): Promise<void> {
    this.#releaseLater(transactionId, 0);
    await this.#releaseUnneeded();
  }

  /** `waitMs`: 0 for a hold that is known to be granted; the request of another may still be on its way. */
  #releaseLater(transactionId: string, waitMs = RELEASE_WAIT_MS): void {
    const now = performance.now();
    const [oldest] = this.#unneeded.keys();
    if (this.#unneeded.size >= UNNEEDED_MAX && oldest !== undefined) this.#unneeded.delete(oldest);
    const unknownUntil = waitMs === 0 ? now : now + UNKNOWN_MS;
    this.#unneeded.set(transactionId, { unknownUntil, nextAt: now, waitMs: RELEASE_WAIT_MS });
    if (waitMs > 0) this.#releaseAfter(waitMs);
  }

  /** Those that are due, by one run at a time: who asks for a hold again waits until its release has ended. */
  async #releaseUnneeded(): Promise<void> {
    await this.#releasing;
    this.#releasing ??= this.#releaseDue().finally(() => {
      this.#releasing = null;
    });
    await this.#releasing;
  }

  async #releaseDue(): Promise<void> {
    const begun = performance.now();
    const due = [...this.#unneeded].filter(([, { nextAt }]) => nextAt <= begun);
    for (let from = 0; from < due.length; from += EVENTS_PER_REQUEST) {
      const some = due.slice(from, from + EVENTS_PER_REQUEST);
      const holds = some.map(([transaction_id]) => ({ transaction_id }));
      const answer = await this.#post('/v1/holds/release', { holds }).catch((error: unknown) => {
        // Wrong for all of them: they end by themselves.
        if (error instanceof Refused) return { data: [] };
        throw error;
      });
      this.#released(some, answer);
      if (answer === null) break;
    }
    const [next] = [...this.#unneeded.values()].map(({ nextAt }) => nextAt).sort((a, b) => a - b);
    if (next !== undefined) this.#releaseAfter(Math.max(next - performance.now(), RELEASE_WAIT_MS));
  }

  #released(some: readonly (readonly [string, Unneeded])[], answer: unknown): void {
    const now = performance.now();
    const places = answer === null ? null : dataOf(answer);
    for (const [index, [transactionId, one]] of some.entries()) {
      const isTriedAgain = places === null || (places[index]?.error !== undefined && now < one.unknownUntil);
      if (!isTriedAgain) {
        if (this.#unneeded.get(transactionId) === one) this.#unneeded.delete(transactionId);
        continue;
      }
      one.nextAt = now + one.waitMs;
      one.waitMs = Math.min(one.waitMs * 2, RELEASE_WAIT_MAX_MS);
    }
  }

  /** For a program that asks for nothing meanwhile. Keeps no program alive. */
  #releaseAfter(waitMs: number): void {
    if (this.#releaseTimer !== null) return;
    this.#releaseTimer = setTimeout(() => {
      this.#releaseTimer = null;
      void this.#releaseUnneeded();
    }, waitMs);
    (this.#releaseTimer as { unref?(): void }).unref?.();
  }

  async #sendWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const events = this.#waiting.slice(0, this.#sentAtOnce);
      try {
        if ((await this.#post('/v1/ingest', events)) === null) return;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        const [event] = events;
        // One of many is wrong: each alone shows which, and the others are not held up by it.
        if (events.length > 1) {
          this.#sentAtOnce = 1;
          continue;
        }
        if (event !== undefined) this.#options.onRefused?.(event, error);
      }
      this.#waiting = this.#waiting.slice(events.length);
    }
    this.#sentAtOnce = EVENTS_PER_REQUEST;
  }

  #ttl() {
    return { ttl_seconds: this.#options.ttlSeconds ?? TTL_SECONDS };
  }

  /** The body of the answer. Null: the service is away. */
  async #post(path: string, body: unknown): Promise<unknown> {
    const answer = await this.#request(path, body);
    return isAway(answer) ? null : answer.body;
  }

  /** For what has the same answer when it is asked again. */
  async #askTwice(path: string, body: unknown): Promise<Answer | Away> {
    const answer = await this.#request(path, body);
    if (answer !== 'silent') return answer;
    const second = await this.#request(path, body);
    // The first may have been done all the same.
    return second === 'busy' ? 'silent' : second;
  }

  /** `body`: a value, or its JSON. An answer that refuses the request itself is an error of the program. */
  async #request(path: string, body: unknown): Promise<Answer | Away> {
    const { url, token, timeoutMs = TIMEOUT_MS, fetch = globalThis.fetch } = this.#options;
    let answer: Response;
    let text: string;
    try {
      answer = await fetch(new URL(path, url), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      text = await answer.text();
      if (answer.ok) return { body: text === '' ? {} : JSON.parse(text), ageMaxMs: ageMaxMsOf(answer) };
    } catch {
      return 'silent';
    }
    if (answer.status === 429 || answer.status === 503) return 'busy';
    // A gateway says so, too, while the service behind it goes on.
    if (answer.status >= 500) return 'silent';
    throw new Refused(`tallyhouse refuses ${path}: ${answer.status} ${text.slice(0, 500)}`);
  }
}

function isAway(answer: Answer | Away): answer is Away {
  return typeof answer === 'string';
}

function ageMaxMsOf({ headers }: Response): number {
  const [, seconds = '0'] = /(?:^|[\s,])max-age=(\d+)/.exec(headers.get('cache-control') ?? '') ?? [];
  return Number(seconds) * 1000;
}

interface Place {
  readonly granted?: boolean;
  readonly reason?: string;
  readonly required?: unknown;
  readonly remaining?: unknown;
  readonly error?: unknown;
}

function dataOf(answer: unknown): readonly Place[] {
  return (answer as { readonly data?: readonly Place[] }).data ?? [];
}

/** Digits after the point that are counted here. */
const SCALE = 12;

/** A decimal text in whole parts of 10^-12: costs rounded up, and what there is rounded down. */
function parts(text: string, direction: 'up' | 'down' = 'up'): bigint {
  const found = /^(\d+)(?:\.(\d+))?$/.exec(text);
  if (found === null)
    throw new TypeError(`an amount is a decimal text without exponent, not ${JSON.stringify(text)}`);
  const [, whole = '', fraction = ''] = found;
  const kept = BigInt(whole + fraction.slice(0, SCALE).padEnd(SCALE, '0'));
  return direction === 'up' && /[1-9]/.test(fraction.slice(SCALE)) ? kept + 1n : kept;
}
