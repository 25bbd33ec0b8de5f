/**
 * Sends more than the service can take, and counts meanwhile. Every connection sends again a few milliseconds after a
 * refusal: the same events, or others in their place, or it hangs up, or mixes events in that it knows to be stored.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Address, type Answer, Connection } from './connection.ts';
import { Ledger } from './ledger.ts';

export interface OverloadOptions extends Address {
  readonly connections: number;
  readonly eventsPerRequest: number;
  /** The length of a text in each event, which makes bodies large. */
  readonly textLength: number;
  readonly secondsMin: number;
  /** Sending continues until one of these was read in a refusal, but not for longer than `secondsMax`. */
  readonly refusals: readonly string[];
  readonly secondsMax: number;
  /** Events of the customer that are counted already. */
  readonly countedBefore: number;
  /** Makes the ids different from those of another run. */
  readonly run: string;
  readonly customer: { readonly id: string; readonly alias: string };
  /** The ids of metrics: of all events, and of their numbers, each once. */
  readonly metrics: { readonly all: string; readonly each: string };
}

export interface Overload {
  readonly sent: number;
  readonly acknowledged: number;
  /** By status and message. */
  readonly refused: Readonly<Record<string, number>>;
  /** Connections that were ended here. */
  readonly hungUp: number;
  /** Connections that ended before the service had answered, by how they ended. */
  readonly cutOff: Readonly<Record<string, number>>;
  /** How often it was counted under load, and what was seen that must not be. */
  readonly looks: number;
  readonly wrong: readonly string[];
  /** The counts when nothing is under way any more. */
  readonly after: { readonly all: number; readonly each: number };
  /**
   * Events that had not been acknowledged are sent again: the number of those events, and how many of them are taken
   * then, because they were not stored. Every answer to the refused ones had said that none of them is stored.
   */
  readonly refusedAgain: Again;
  readonly unsureAgain: Again;
  /** The counts after that. */
  readonly end: { readonly all: number; readonly each: number };
}

interface Again {
  readonly sent: number;
  readonly taken: number;
}

const PAUSE_MS = 5;
const DAY_MS = 86_400_000;
const REPEATS = 10;
const HANG_UP_MS_MAX = 400;
/** Connections of the second part, where the service is to take everything. */
const CALM_CONNECTIONS = 8;
/** The longest list of errors that is reported. */
const WRONG_MAX = 20;
/** It says that nothing was acknowledged, not that nothing is stored. */
const UNKNOWN = 503;
/** 408: of a sender that is too busy itself to write what it has announced. */
const BUSY = [408, 429, UNKNOWN];

export async function overload(options: OverloadOptions): Promise<Overload> {
  const load = new Load(options);
  return await load.run();
}

class Load {
  readonly #options: OverloadOptions;
  readonly #ledger = new Ledger();
  readonly #refused = new Map<string, number>();
  readonly #wrong: string[] = [];
  readonly #text: string;
  readonly #today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  #attempts = 0;
  #hungUp = 0;
  readonly #cutOff = new Map<string, number>();
  #looks = 0;
  #isOver = false;

  constructor(options: OverloadOptions) {
    this.#options = options;
    this.#text = 'x'.repeat(options.textLength);
  }

  async run(): Promise<Overload> {
    const { connections, secondsMin, secondsMax } = this.#options;
    const started = performance.now();
    const sending = Promise.all(Array.from({ length: connections }, (_, number) => this.#send(number)));
    const watching = this.#watch();
    const seconds = () => (performance.now() - started) / 1000;
    while (seconds() < secondsMin || (!this.#hasMetOne() && seconds() < secondsMax)) await delay(100);
    this.#isOver = true;
    await Promise.all([sending, watching]);
    const { sent, acknowledged } = this.#ledger;
    const [refused, unsure] = [this.#ledger.refused(), this.#ledger.unsure()];
    const after = await this.#countBoth();
    const refusedAgain = await this.#sendAgain(refused);
    const unsureAgain = await this.#sendAgain(unsure);
    return {
      ...{ sent, acknowledged, refused: Object.fromEntries(this.#refused) },
      ...{
        hungUp: this.#hungUp,
        cutOff: Object.fromEntries(this.#cutOff),
        looks: this.#looks,
        wrong: this.#wrong,
      },
      ...{ after, refusedAgain, unsureAgain, end: await this.#countBoth() },
    };
  }

  #hasMetOne(): boolean {
    const met = [...this.#refused.keys()];
    return this.#options.refusals.some((text) => met.some((message) => message.includes(text)));
  }

  async #send(number: number): Promise<void> {
    const { eventsPerRequest } = this.#options;
    const connection = new Connection(this.#options);
    const kind = (['again', 'anew', 'hangs up', 'repeats'] as const)[number % 4];
    const repeated = kind === 'repeats' ? REPEATS : 0;
    const take = () => this.#ledger.take(eventsPerRequest - repeated);
    let events = take();
    let stored: readonly number[] = [];
    while (!this.#isOver) {
      const all = [...events, ...stored.slice(0, repeated)];
      const hangUpMs =
        kind === 'hangs up' && Math.random() < 0.3 ? Math.random() * HANG_UP_MS_MAX : undefined;
      const answer = await connection.post('/v1/ingest', this.#body(all), hangUpMs);
      if (answer?.status === 200) {
        this.#ledger.acknowledge(all);
        this.#checkAnswer(answer, all.length);
        stored = events;
        events = take();
        continue;
      }
      if (answer !== null) this.#refuse(answer, all);
      else {
        this.#ledger.doubt(all);
        if (hangUpMs !== undefined) this.#hungUp += 1;
        else count(this.#cutOff, connection.ended);
      }
      if (kind === 'anew') events = take();
      await delay(PAUSE_MS);
    }
    connection.close();
  }

  #refuse(answer: Answer, events: readonly number[]): void {
    if (answer.status === UNKNOWN) this.#ledger.doubt(events);
    if (!BUSY.includes(answer.status)) this.#isWrong(`${answer.status} ${answer.text}`);
    count(this.#refused, `${answer.status} ${messageOf(answer)}`);
  }

  #isWrong(what: string): void {
    if (this.#wrong.length < WRONG_MAX) this.#wrong.push(what);
  }

  #checkAnswer({ text }: Answer, events: number): void {
    const { accepted, duplicates } = JSON.parse(text) as { accepted: number; duplicates: number };
    if (accepted + duplicates !== events) this.#isWrong(`${events} events were answered ${text}`);
  }

  /** Another attempt at the same events has another time, as with clients that build their events again. */
  #body(numbers: readonly number[]): string {
    const { run, customer } = this.#options;
    this.#attempts += 1;
    const timestamp = new Date(this.#today + (this.#attempts % DAY_MS)).toISOString();
    const events = numbers.map(
      (n) =>
        `{"transaction_id":"${run}-${n}","customer_id":"${customer.alias}","event_type":"call",` +
        `"timestamp":"${timestamp}","properties":{"n":"${n}","text":"${this.#text}"}}`,
    );
    return `[${events.join(',')}]`;
  }

  /**
   * Events acknowledged before a look are counted by it, and no event is counted that was not sent before its answer.
   */
  async #watch(): Promise<void> {
    const { metrics, countedBefore } = this.#options;
    const connection = new Connection(this.#options);
    while (!this.#isOver) {
      const metric = this.#looks % 4 === 3 ? metrics.each : metrics.all;
      const least = countedBefore + this.#ledger.acknowledged;
      const value = await this.#count(connection, metric);
      const most = countedBefore + this.#ledger.sent;
      if (value === null) {
        await delay(PAUSE_MS);
        continue;
      }
      this.#looks += 1;
      if (value < least || value > most) this.#isWrong(`counted ${value}, not ${least} to ${most}`);
    }
    connection.close();
  }

  async #countBoth(): Promise<{ all: number; each: number }> {
    const connection = new Connection(this.#options);
    const known = async (metric: string): Promise<number> => {
      for (;;) {
        const value = await this.#count(connection, metric);
        if (value !== null) return value;
        await delay(PAUSE_MS);
      }
    };
    const { metrics } = this.#options;
    const counts = { all: await known(metrics.all), each: await known(metrics.each) };
    connection.close();
    return counts;
  }

  /** Null where the service is too busy to say. */
  async #count(connection: Connection, metric: string): Promise<number | null> {
    const question = {
      ...{ customer_id: this.#options.customer.id, billable_metric_id: metric, window_size: 'NONE' },
      starting_on: new Date(this.#today - DAY_MS).toISOString(),
      ending_before: new Date(this.#today + 2 * DAY_MS).toISOString(),
    };
    const answer = await connection.post('/v1/usage/groups', JSON.stringify(question));
    if (answer === null || BUSY.includes(answer.status)) return null;
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
    const { data } = JSON.parse(answer.text) as { data: { value: number }[] };
    return data[0]?.value ?? 0;
  }

  /** Sends these until they are acknowledged. */
  async #sendAgain(numbers: readonly number[]): Promise<Again> {
    const { eventsPerRequest } = this.#options;
    let taken = 0;
    let next = 0;
    const sender = async (): Promise<void> => {
      const connection = new Connection(this.#options);
      while (next < numbers.length) {
        const events = numbers.slice(next, next + eventsPerRequest);
        next += eventsPerRequest;
        let answer = await connection.post('/v1/ingest', this.#body(events));
        while (answer?.status !== 200) {
          await delay(PAUSE_MS);
          answer = await connection.post('/v1/ingest', this.#body(events));
        }
        taken += (JSON.parse(answer.text) as { accepted: number }).accepted;
        this.#ledger.acknowledge(events);
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: CALM_CONNECTIONS }, sender));
    return { sent: numbers.length, taken };
  }
}

function messageOf({ text }: Answer): string {
  return (JSON.parse(text) as { message: string }).message;
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
