/**
 * A cheap HTTP load generator for holds and what is measured beside them, run as a separate process: raw sockets, one
 * request on each at a time. Takes its options as JSON in the first argument, prints one line of JSON.
 *
 * Latency counts from the time a request was due, so that a stalled server cannot hide its delay. At no rate every
 * connection is kept busy.
 */
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { cpuSecondsOf } from './process-cpu.ts';

/** `pairs`: every other request settles a hold that one before it was granted. */
export type HoldWork = 'pairs' | 'reserve' | 'check' | 'ingest' | 'healthz';
export type HoldRequestKind = Exclude<HoldWork, 'pairs'> | 'settle';

export interface HoldLoadOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly work: HoldWork;
  /** 0 keeps every connection busy. */
  readonly requestsPerSecond: number;
  readonly connections: number;
  /** Customers by ingest alias, in turn. */
  readonly aliases: readonly string[];
  /** The ids of the same, which `check` needs. */
  readonly customerIds?: readonly string[];
  readonly tokens: number;
  /** Makes the transaction ids of this run different from those of any other. */
  readonly run: string;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Ends as well when each customer has been asked for so often. */
  readonly rounds?: number;
  readonly servicePid: number;
}

export interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface HoldLoadResult {
  readonly seconds: number;
  /** From the first request to the last answer. */
  readonly secondsInAll: number;
  readonly latencyMs: Readonly<Partial<Record<HoldRequestKind, Latencies>>>;
  /** Within the measured time. */
  readonly granted: number;
  /** From the first request to the last. */
  readonly grantedInAll: number;
  readonly refusedInAll: number;
  readonly failures: number;
  /** Cores that the service has used within the measured time. */
  readonly serviceCores: number;
}

interface Connection {
  readonly socket: Socket;
  received: string;
  dueAt: number;
  kind: HoldRequestKind;
  transactionId: string;
}

const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const PATHS: Readonly<Record<Exclude<HoldRequestKind, 'healthz' | 'check'>, string>> = {
  reserve: '/v1/holds/reserve',
  settle: '/v1/holds/settle',
  ingest: '/v1/ingest',
};

const CHECKED = { event_type: 'llm_request', properties: { input_tokens: 10 } };

class HoldLoad {
  readonly #options: HoldLoadOptions;
  readonly #idle: Connection[] = [];
  readonly #overdue: number[] = [];
  readonly #held: string[] = [];
  readonly #latencies = new Map<HoldRequestKind, number[]>();
  #sent = 0;
  #settles = false;
  #isMeasuring = false;
  #isSending = true;
  #inFlight = 0;
  #granted = 0;
  #grantedInAll = 0;
  #refusedInAll = 0;
  #failures = 0;
  #onDrained: () => void = () => {};

  constructor(options: HoldLoadOptions) {
    this.#options = options;
  }

  async run(): Promise<HoldLoadResult> {
    const { connections, warmUpMs, measureMs, servicePid } = this.#options;
    await Promise.all(Array.from({ length: connections }, () => this.#open()));
    const begunAt = performance.now();
    const pace = this.#start();
    await this.#elapse(warmUpMs);
    const [cpuBefore, startedAt] = [await cpuSecondsOf(servicePid), performance.now()];
    this.#isMeasuring = true;
    await this.#elapse(measureMs);
    this.#isMeasuring = false;
    const seconds = (performance.now() - startedAt) / 1_000;
    const cores = ((await cpuSecondsOf(servicePid)) - cpuBefore) / seconds;
    this.#isSending = false;
    clearInterval(pace);
    if (this.#inFlight > 0)
      await new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
    for (const { socket } of this.#idle) socket.destroy();
    return {
      seconds,
      secondsInAll: (performance.now() - begunAt) / 1_000,
      latencyMs: Object.fromEntries([...this.#latencies].map(([kind, times]) => [kind, quantiles(times)])),
      granted: this.#granted,
      grantedInAll: this.#grantedInAll,
      refusedInAll: this.#refusedInAll,
      failures: this.#failures,
      serviceCores: cores,
    };
  }

  #open(): Promise<void> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true });
      const connection: Connection = { socket, received: '', dueAt: 0, kind: 'reserve', transactionId: '' };
      socket.setEncoding('latin1');
      socket.once('connect', () => {
        this.#idle.push(connection);
        resolve();
      });
      socket.on('error', reject);
      socket.on('data', (chunk: string) => this.#receive(connection, chunk));
    });
  }

  #start(): NodeJS.Timeout | undefined {
    const { requestsPerSecond } = this.#options;
    if (requestsPerSecond === 0) {
      for (const connection of this.#idle.splice(0)) this.#send(connection, performance.now());
      return undefined;
    }
    let dueAt = performance.now();
    return setInterval(() => {
      for (; dueAt <= performance.now(); dueAt += 1_000 / requestsPerSecond) {
        const connection = this.#idle.shift();
        if (connection === undefined) this.#overdue.push(dueAt);
        else this.#send(connection, dueAt);
      }
    }, 1);
  }

  /** Ends early when every customer has been asked for often enough. */
  async #elapse(ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (performance.now() < end && !this.#isDone()) await pause(Math.min(20, end - performance.now()));
  }

  #isDone(): boolean {
    const { rounds, aliases } = this.#options;
    return rounds !== undefined && this.#sent >= rounds * aliases.length;
  }

  #send(connection: Connection, dueAt: number): void {
    if (this.#isDone()) {
      this.#idle.push(connection);
      return;
    }
    connection.dueAt = dueAt;
    this.#inFlight += 1;
    connection.socket.write(this.#request(connection));
  }

  #request(connection: Connection): string {
    const { work, run, aliases, tokens } = this.#options;
    const held = work === 'pairs' && this.#settles ? this.#held.shift() : undefined;
    this.#settles = !this.#settles;
    if (held !== undefined) {
      connection.kind = 'settle';
      return this.#http('settle', {
        settlements: [{ transaction_id: held, properties: { input_tokens: tokens } }],
      });
    }
    const kind = work === 'pairs' ? 'reserve' : work;
    this.#sent += 1;
    const customer_id = aliases[this.#sent % aliases.length] ?? '';
    const transaction_id = `${run}-${this.#sent}`;
    connection.kind = kind;
    connection.transactionId = transaction_id;
    const event = { event_type: 'llm_request', properties: { input_tokens: tokens } };
    if (kind === 'reserve') return this.#http(kind, { holds: [{ customer_id, transaction_id, event }] });
    const timestamp = new Date().toISOString();
    return this.#http(kind, [{ customer_id, transaction_id, timestamp, ...event }]);
  }

  #http(kind: HoldRequestKind, body: object): string {
    const { token, host, customerIds = [] } = this.#options;
    const head = `Host: ${host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    if (kind === 'healthz') return `GET /healthz HTTP/1.1\r\n${head}\r\n`;
    const id = customerIds[this.#sent % customerIds.length];
    const path = kind === 'check' ? `/v1/customers/${id}/check` : PATHS[kind];
    const text = JSON.stringify(kind === 'check' ? CHECKED : body);
    return `POST ${path} HTTP/1.1\r\n${head}Content-Length: ${text.length}\r\n\r\n${text}`;
  }

  #receive(connection: Connection, chunk: string): void {
    connection.received += chunk;
    const head = connection.received.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(CONTENT_LENGTH.exec(connection.received)?.[1] ?? Number.NaN);
    if (!(connection.received.length >= head + 4 + length)) return;
    this.#answered(connection, connection.received);
    connection.received = '';
    this.#inFlight -= 1;
    if (!this.#isSending) {
      this.#idle.push(connection);
      if (this.#inFlight === 0) this.#onDrained();
    } else if (this.#options.requestsPerSecond === 0) {
      this.#send(connection, performance.now());
    } else {
      const overdue = this.#overdue.shift();
      if (overdue === undefined) this.#idle.push(connection);
      else this.#send(connection, overdue);
    }
  }

  #answered({ kind, dueAt, transactionId }: Connection, answer: string): void {
    const isGranted = answer.includes('"granted":true');
    if (!answer.startsWith('HTTP/1.1 200')) this.#failures += 1;
    else if (kind === 'reserve') {
      if (isGranted) this.#grantedInAll += 1;
      else this.#refusedInAll += 1;
      if (isGranted) this.#held.push(transactionId);
      if (isGranted && this.#isMeasuring) this.#granted += 1;
    }
    if (!this.#isMeasuring) return;
    const times = this.#latencies.get(kind) ?? [];
    this.#latencies.set(kind, times);
    times.push(performance.now() - dueAt);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, ms));
  });
}

function quantiles(times: readonly number[]): Latencies {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const result = await new HoldLoad(JSON.parse(await text(process.stdin))).run();
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
