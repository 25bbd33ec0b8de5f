/**
 * One connection over HTTP/1.1 that costs little: requests are bytes, of an answer the status and the text are read. It
 * says when the service has closed it or did not answer, and opens itself again for the next request.
 */
import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly token: string;
}

const HEAD_END = '\r\n\r\n';

export class Connection {
  readonly #address: Address;
  #socket: Socket | null = null;
  #received = '';
  #ended = '';
  #onAnswer: (answer: Answer | null) => void = () => {};

  constructor(address: Address) {
    this.#address = address;
  }

  /** Resolves with the answer; null where the connection ended before it. `hangUpMs`: it is ended here by then. */
  async post(path: string, body: string, hangUpMs?: number): Promise<Answer | null> {
    const socket = this.#socket ?? (await this.#open());
    if (socket === null) return null;
    const answered = new Promise<Answer | null>((resolve) => {
      this.#onAnswer = resolve;
    });
    const timer = hangUpMs === undefined ? undefined : setTimeout(() => socket.destroy(), hangUpMs);
    const { host, port, token } = this.#address;
    const head = `POST ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\nauthorization: Bearer ${token}\r\n`;
    const form = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}${HEAD_END}`;
    socket.write(head + form + body);
    const answer = await answered;
    clearTimeout(timer);
    return answer;
  }

  /** Why the last one ended that did. */
  get ended(): string {
    return this.#ended;
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Promise<Socket | null> {
    return new Promise((resolve) => {
      const { host, port } = this.#address;
      const socket = connect({ host, port, noDelay: true });
      this.#received = '';
      socket.setEncoding('latin1');
      socket.once('connect', () => {
        this.#socket = socket;
        resolve(socket);
      });
      let reason = 'closed';
      socket.on('error', (error: NodeJS.ErrnoException) => {
        reason = error.code ?? error.message;
      });
      socket.on('data', (chunk: string) => this.#receive(socket, chunk));
      socket.on('close', () => {
        this.#ended = this.#socket === socket ? reason : `not opened: ${reason}`;
        resolve(null);
        if (this.#socket !== socket) return;
        this.#socket = null;
        this.#onAnswer(null);
      });
    });
  }

  #receive(socket: Socket, chunk: string): void {
    this.#received += chunk;
    const end = this.#received.indexOf(HEAD_END);
    if (end < 0) return;
    const head = this.#received.slice(0, end).toLowerCase();
    const from = end + HEAD_END.length;
    const text = textOf(head, this.#received.slice(from));
    if (text === null) return;
    this.#received = '';
    const status = Number(head.slice('http/1.1 '.length, 'http/1.1 200'.length));
    // The service closes the connection after this answer; the next request would be lost.
    if (/\r\nconnection: *close/.test(head)) {
      this.#socket = null;
      socket.destroy();
    }
    this.#onAnswer({ status, text });
  }
}

/** The text of an answer; null while it is not complete. */
function textOf(head: string, rest: string): string | null {
  if (head.includes('\r\ntransfer-encoding: chunked')) {
    return rest.endsWith('0\r\n\r\n') ? rest.replaceAll(/(?:^|\r\n)[\da-f]+\r\n/gi, '') : null;
  }
  const length = Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1] ?? Number.NaN);
  if (Number.isNaN(length)) throw new Error('an answer does not say its length');
  return rest.length < length ? null : rest.slice(0, length);
}
