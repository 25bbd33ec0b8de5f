/**
 * The sockets of postgres.js.
 *
 * The driver fails the statements of a connection when its socket fails, and drops the connection when its socket is
 * closed, which Node reports a moment later. Statements in between neither fail nor are sent: they wait until the
 * connection is reopened, and are then answered with no rows. So a failure is reported together with the end of the
 * socket.
 */
import { Socket } from 'node:net';
import { type TlsSettings, TlsSocket } from './tls-socket.ts';

/** The address of the server: the hosts of a URL, or a unix socket. */
interface ServerAddress {
  readonly path?: string | false;
  readonly host: readonly string[];
  readonly port: readonly number[];
}

/** For one pool: creates its sockets, each to the next of the hosts. With `tls` they are secure. */
export function socketMaker(tls: TlsSettings | null): (server: ServerAddress) => Socket | TlsSocket {
  let made = 0;
  return ({ path, host: hosts, port: ports }) => {
    if (path) return new TelltaleSocket().connect(path);
    const place = made % hosts.length;
    made += 1;
    const [host, port] = [hosts[place] ?? '', ports[place] ?? 0];
    if (tls !== null) return new TlsSocket(host, port, tls);
    const socket = new TelltaleSocket();
    // The driver reads from the socket the host name that it expects in the certificate.
    return Object.assign(socket.connect(port, host), { host, port });
  };
}

class TelltaleSocket extends Socket {
  #failure: unknown = null;

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'error') {
      this.#failure ??= args[0];
      return true;
    }
    if (event === 'close' && this.#failure !== null) super.emit('error', this.#failure);
    return super.emit(event, ...args);
  }
}
