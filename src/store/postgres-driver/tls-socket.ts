/**
 * A TLS connection to PostgreSQL as one stream. The driver starts TLS itself only if it also opens the sockets, and
 * then sees a failure and the end at two times (README.md of this folder).
 */
import { once } from 'node:events';
import { isIP, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';

/** The settings of `sslmode` in a URL. */
export interface TlsSettings {
  /** Whether the certificate must be valid, and issued for this host. */
  readonly isVerified: boolean;
  /** Whether TLS is optional if the server does not support it. */
  readonly isOptional: boolean;
  /** TLS from the first byte, without the negotiation. */
  readonly isDirect: boolean;
}

const NO_TLS = ['disable', 'false'];
const UNVERIFIED = ['allow', 'prefer', 'require'];

/** The settings of a URL, as the driver parses them; null: no TLS. */
export function tlsSettings(url: string): TlsSettings | null {
  const query = new URLSearchParams(url.split('?')[1] ?? '');
  const asked = query.get('sslmode') ?? query.get('ssl');
  const mode = query.get('sslrootcert') === 'system' ? 'verify-full' : asked;
  if (mode === null || NO_TLS.includes(mode)) return null;
  return {
    isVerified: !UNVERIFIED.includes(mode),
    isOptional: mode === 'prefer',
    isDirect: query.get('sslnegotiation') === 'direct',
  };
}

/** The length and the code of the TLS request. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const ACCEPTED = 'S'.charCodeAt(0);

/**
 * Accepts data at once, and sends it when the connection is secure. A failure destroys the stream, which then reports
 * it and its end in one turn of the event loop.
 */
export class TlsSocket extends Duplex {
  readonly host: string;
  readonly port: number;
  readonly #tcp = new Socket();
  readonly #settings: TlsSettings;
  #secure: Socket = this.#tcp;

  constructor(host: string, port: number, settings: TlsSettings) {
    super({ allowHalfOpen: false });
    this.host = host;
    this.port = port;
    this.#settings = settings;
    this.#tcp.on('error', (error) => this.destroy(error));
  }

  /** A member of sockets that the driver reads. */
  get readyState(): 'open' | 'closed' {
    return this.destroyed ? 'closed' : 'open';
  }

  setKeepAlive(isOn: boolean, delayMs: number): this {
    this.#tcp.setKeepAlive(isOn, delayMs);
    return this;
  }

  /** The end of a socket reports whether it failed. */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    return event === 'close' ? super.emit(event, this.errored !== null) : super.emit(event, ...args);
  }

  /** Works while it connects too, which Node would wait for. */
  override destroy(error?: Error): this {
    this.#tcp.destroy();
    return super.destroy(error);
  }

  override _construct(done: (error?: Error) => void): void {
    this.#connect().then(
      (secure) => {
        this.#secure = secure;
        secure.on('data', (bytes: Buffer) => {
          if (!this.push(bytes)) secure.pause();
        });
        secure.on('end', () => this.push(null));
        secure.on('error', (error) => this.destroy(error));
        secure.on('close', () => this.destroy());
        done();
      },
      (error: Error) => done(error),
    );
  }

  override _read(): void {
    this.#secure.resume();
  }

  override _write(bytes: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#secure.write(bytes, done);
  }

  override _final(done: () => void): void {
    this.#secure.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#secure.destroy();
    done(error);
  }

  async #connect(): Promise<Socket> {
    const tcp = this.#tcp;
    const ended = new AbortController();
    const { signal } = ended;
    tcp.once('close', () => ended.abort());
    const { isDirect, isOptional } = this.#settings;
    await once(tcp.connect(this.port, this.host), 'connect', { signal });
    if (!isDirect) {
      tcp.write(TLS_REQUEST);
      const [answer] = (await once(tcp, 'data', { signal })) as [Buffer];
      // Bytes that follow immediately were not sent by the holder of the key.
      if (answer.length !== 1) throw new Error('PostgreSQL answered more than whether it takes TLS');
      if (answer[0] !== ACCEPTED) {
        if (isOptional) return tcp;
        throw new Error('PostgreSQL does not take TLS, and sslmode asks for it');
      }
    }
    const secure = this.#handshake();
    await once(secure, 'secureConnect', { signal });
    return secure;
  }

  #handshake(): TLSSocket {
    const { isVerified, isDirect } = this.#settings;
    return connectTls({
      socket: this.#tcp,
      host: this.host,
      rejectUnauthorized: isVerified,
      ...(isIP(this.host) === 0 ? { servername: this.host } : {}),
      ...(isDirect ? { ALPNProtocols: ['postgresql'] } : {}),
    });
  }
}
