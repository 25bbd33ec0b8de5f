/**
 * Which addresses a webhook may reach. Its URL comes from a client, so without this check a client could make the
 * service send requests to the machine itself or to its private network.
 *
 * The addresses of a name are checked at each attempt, and the connection is opened to a checked address: a name that
 * changes its address between check and connection gains nothing.
 */
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Ranges of the IANA registries that are not globally reachable. */
const CLOSED_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

/** Inside the global range: protocol assignments and Teredo, documentation, and 6to4, which embeds IPv4 addresses. */
const CLOSED_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const closed = new BlockList();
for (const [network, prefix] of CLOSED_IPV4) closed.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of CLOSED_IPV6) closed.addSubnet(network, prefix, 'ipv6');

const globalIpv6 = new BlockList();
globalIpv6.addSubnet('2000::', 3, 'ipv6');

/** Whether an IP address is on the public internet. False for a text that is not an address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !closed.check(address, 'ipv4');
  return family === 6 && globalIpv6.check(address, 'ipv6') && !closed.check(address, 'ipv6');
}

/** A receiver with a forbidden address. */
export class ClosedAddress extends Error {
  override readonly name = 'ClosedAddress';

  constructor(address: string) {
    super(`address ${address} is not public`);
  }
}

type Resolve = (
  host: string,
  done: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void;

const resolveAll: Resolve = (host, done) => {
  lookup(host, { all: true }, (error, addresses) => done(error, addresses ?? []));
};

/**
 * Resolves a name for a connection, and refuses it if one of its addresses is not public. Hosts that are addresses are
 * not resolved: check them with `isPublicAddress`.
 */
export function publicLookup(resolve: Resolve = resolveAll): LookupFunction {
  return (host, options, callback) => {
    resolve(host, (error, addresses) => {
      const refused = addresses.find(({ address }) => !isPublicAddress(address));
      const [first] = addresses;
      if (error !== null) callback(error, []);
      else if (refused !== undefined) callback(new ClosedAddress(refused.address), []);
      else if (first === undefined) callback(new Error(`${host} has no address`), []);
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
  };
}
