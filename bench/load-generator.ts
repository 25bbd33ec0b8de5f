/**
 * A very cheap HTTP load generator for `POST /v1/ingest`, run as a separate process.
 *
 * Raw sockets and prepared requests whose transaction ids are patched in place, so that it takes only
 * a small part of the machine it shares with the service. Takes its options as JSON in the first
 * argument, prints one line of JSON with what it measured.
 *
 * Two ways to load: `saturate` keeps every connection busy; `rate` sends at fixed times and counts
 * latency from the time a request was due, so that a stalled server cannot hide its delay.
 */
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type PreparedRequest, prepareRequest, type RequestOptions } from './load-request.ts';
import { cpuSecondsOf } from './process-cpu.ts';

export interface LoadOptions extends RequestOptions {
  readonly connections: number;
  /** 0 keeps every connection busy. */
  readonly eventsPerSecond: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** The process whose CPU time is read. */
  readonly servicePid: number;
  /** After how long a refused request is sent again, the same bytes. Absent: another one follows at once. */
  readonly retryMs?: number;
}

export interface LoadResult {
  readonly seconds: number;
  /** Events newly stored, as the answers within the measured time say. */
  readonly accepted: number;
  readonly requests: number;
  readonly failures: number;
  /** Connections that ended before their answer. */
  readonly resets: number;
  readonly bytesPerEvent: number;
  /** Latencies of accepted requests only, if refused ones are sent again: from the sending that was accepted. */
  readonly latencyMs: {
    readonly p50: number;
    readonly p90: number;
    readonly p99: number;
    readonly max: number;
  };
  readonly cpuSeconds: number;
  /** CPU time of the service within the measured time, all threads; NaN where it cannot be read. */
  readonly serviceCpuSeconds: number;
}

interface Connection {
  /** Another one, where the service has ended it and refused requests are sent again. */
  socket: Socket;
  readonly request: PreparedRequest;
  received: string;
  /** The bytes that it sent last. */
  sent: Buffer | null;
  dueAt: number;
  isBusy: boolean;
}

const ACCEPTED = /"accepted":(\d+)/;
/** The answer to CloudEvents. */
const NO_CONTENT = 'HTTP/1.1 204';
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Runs the load and resolves when every request that was sent has been answered. */
async function generateLoad(options: LoadOptions): Promise<LoadResult> {
  const load = new Load(options);
  return load.run();
}

class Load {
  readonly #options: LoadOptions;
  #idle: Connection[] = [];
  readonly #latencies: number[] = [];
  readonly #overdue: number[] = [];
  #measuring = false;
  #sending = true;
  #inFlight = 0;
  #accepted = 0;
  #failures = 0;
  #resets = 0;
  #onDrained: () => void = () => {};

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  async run(): Promise<LoadResult> {
    const { warmUpMs, measureMs, connections, servicePid } = this.#options;
    this.#idle = await Promise.all(Array.from({ length: connections }, (_, index) => this.#open(index)));
    const bytesPerEvent = this.#idle[0]?.request.bytesPerEvent ?? 0;
    const sockets = this.#idle.map((connection) => connection.socket);
    const pace = this.#start();
    await elapse(warmUpMs);
    const serviceBefore = await cpuSecondsOf(servicePid);
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    this.#measuring = true;
    await elapse(measureMs);
    this.#measuring = false;
    const seconds = (performance.now() - startedAt) / 1000;
    const cpu = process.cpuUsage(cpuBefore);
    const serviceCpuSeconds = (await cpuSecondsOf(servicePid)) - serviceBefore;
    this.#sending = false;
    if (pace !== null) clearInterval(pace);
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
      if (this.#inFlight === 0) resolve();
    });
    for (const socket of sockets) socket.destroy();
    return {
      seconds,
      accepted: this.#accepted,
      requests: this.#latencies.length,
      failures: this.#failures,
      resets: this.#resets,
      bytesPerEvent,
      latencyMs: percentiles(this.#latencies),
      cpuSeconds: (cpu.user + cpu.system) / 1e6,
      serviceCpuSeconds,
    };
  }

  async #open(index: number): Promise<Connection> {
    const request = prepareRequest(this.#options, index);
    const connection = { request, received: '', sent: null, dueAt: 0, isBusy: false };
    return await this.#connected(connection);
  }

  /** Takes the connection, with a socket that is open. */
  #connected(connection: Omit<Connection, 'socket'> & Partial<Connection>): Promise<Connection> {
    const { host, port, retryMs } = this.#options;
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true });
      const connected = Object.assign(connection, { socket, received: '' });
      socket.setEncoding('latin1');
      socket.once('connect', () => resolve(connected));
      // A connection that ends early is counted where it closes.
      socket.on('error', retryMs === undefined ? reject : () => {});
      socket.on('data', (chunk: string) => this.#receive(connected, chunk));
      socket.on('close', () => this.#lost(connected));
    });
  }

  #start(): NodeJS.Timeout | null {
    const { eventsPerSecond, eventsPerRequest } = this.#options;
    if (eventsPerSecond === 0) {
      for (const connection of this.#idle.splice(0)) this.#send(connection, performance.now());
      return null;
    }
    const intervalMs = (1000 * eventsPerRequest) / eventsPerSecond;
    let dueAt = performance.now();
    return setInterval(() => {
      for (; dueAt <= performance.now(); dueAt += intervalMs) {
        // In turn: the service closes a connection that has sent nothing for 10 seconds.
        const connection = this.#idle.shift();
        if (connection === undefined) this.#overdue.push(dueAt);
        else this.#send(connection, dueAt);
      }
    }, 1);
  }

  #send(connection: Connection, dueAt: number): void {
    connection.dueAt = dueAt;
    connection.isBusy = true;
    this.#inFlight += 1;
    connection.sent = connection.request.next();
    connection.socket.write(connection.sent);
  }

  #receive(connection: Connection, chunk: string): void {
    connection.received += chunk;
    const head = connection.received.indexOf('\r\n\r\n');
    if (head < 0) return;
    if (connection.received.startsWith(NO_CONTENT)) {
      this.#answered(connection);
      return;
    }
    const length = Number(CONTENT_LENGTH.exec(connection.received)?.[1] ?? Number.NaN);
    if (!(connection.received.length >= head + 4 + length)) {
      if (Number.isNaN(length)) throw new Error('the answer has no content-length');
      return;
    }
    this.#answered(connection);
  }

  #answered(connection: Connection): void {
    // Ids are never sent twice, so that what is taken is new.
    const isTaken = connection.received.startsWith(NO_CONTENT);
    const accepted = isTaken
      ? this.#options.eventsPerRequest
      : Number(ACCEPTED.exec(connection.received)?.[1] ?? 0);
    const isFailure = !isTaken && !connection.received.startsWith('HTTP/1.1 200');
    connection.received = '';
    connection.isBusy = false;
    this.#inFlight -= 1;
    if (isFailure) this.#failures += 1;
    const { retryMs } = this.#options;
    if (this.#measuring && !(isFailure && retryMs !== undefined)) {
      this.#latencies.push(performance.now() - connection.dueAt);
      this.#accepted += accepted;
    }
    if (isFailure && retryMs !== undefined && this.#sending) {
      setTimeout(() => this.#sendAgain(connection), retryMs);
      return;
    }
    if (!this.#sending) {
      if (this.#inFlight === 0) this.#onDrained();
    } else if (this.#options.eventsPerSecond === 0) {
      this.#send(connection, performance.now());
    } else {
      const overdue = this.#overdue.shift();
      if (overdue === undefined) this.#idle.push(connection);
      else this.#send(connection, overdue);
    }
  }

  #sendAgain(connection: Connection): void {
    if (!this.#sending || connection.sent === null) return;
    if (connection.socket.destroyed) {
      void this.#connected(connection).then((again) => this.#sendAgain(again));
      return;
    }
    connection.dueAt = performance.now();
    connection.isBusy = true;
    this.#inFlight += 1;
    connection.socket.write(connection.sent);
  }

  #lost(connection: Connection): void {
    const { retryMs } = this.#options;
    if (connection.isBusy && retryMs === undefined)
      throw new Error('the service closed a connection before it answered');
    if (connection.isBusy) {
      connection.isBusy = false;
      this.#inFlight -= 1;
      this.#resets += 1;
      if (!this.#sending && this.#inFlight === 0) this.#onDrained();
      setTimeout(() => this.#sendAgain(connection), retryMs);
    }
    // A service may end a connection that has been idle for some seconds; the others do its work.
    this.#idle = this.#idle.filter((other) => other !== connection);
  }
}

function elapse(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

function percentiles(latencies: readonly number[]): LoadResult['latencyMs'] {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const result = await generateLoad(JSON.parse(process.argv[2] ?? '{}'));
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
