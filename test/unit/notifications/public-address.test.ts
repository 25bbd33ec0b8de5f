import { describe, expect, it } from 'vitest';
import { isPublicAddress, publicLookup } from '../../../src/notifications/webhooks/public-address.ts';

describe('an address of the internet', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00::1',
  ])('%s may be reached', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});

describe('an address of the machine or of a private network', () => {
  it.each([
    ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '192.0.2.1'],
    ...['::1', '::', 'fe80::1', 'fc00::1', 'fd12::1', 'ff02::1', '2001:db8::1', '2002:7f00:1::', '2001::1'],
    ...['::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', '::127.0.0.1', 'localhost', ''],
  ])('%s may not be reached', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('a name', () => {
  const resolved = (addresses: readonly string[], all: boolean) =>
    new Promise((resolve) => {
      const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      const lookup = publicLookup((_host, done) => done(null, found));
      lookup('receiver.example', { all }, (error, address, family) =>
        resolve([error?.message, address, family]),
      );
    });

  it('a host name is connected to an address that was checked', async () => {
    expect(await resolved(['8.8.8.8', '1.1.1.1'], false)).toEqual([undefined, '8.8.8.8', 4]);
    expect(await resolved(['8.8.8.8'], true)).toEqual([
      undefined,
      [{ address: '8.8.8.8', family: 4 }],
      undefined,
    ]);
  });

  it('a host name with one private address among public ones is refused', async () => {
    expect(await resolved(['8.8.8.8', '10.0.0.1'], true)).toEqual([
      'address 10.0.0.1 is not public',
      [],
      undefined,
    ]);
  });

  it('a host name without an address is refused', async () => {
    expect(await resolved([], true)).toEqual(['receiver.example has no address', [], undefined]);
  });
});
