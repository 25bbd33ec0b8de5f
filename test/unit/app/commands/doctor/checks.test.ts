import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkBackups } from '../../../../../src/app/commands/doctor/backups.ts';
import { checkClock } from '../../../../../src/app/commands/doctor/clock.ts';
import { looked } from '../../../../../src/app/commands/doctor/finding.ts';
import { checkDisk, checkMemory, checkNode } from '../../../../../src/app/commands/doctor/machine.ts';
import { checkPort } from '../../../../../src/app/commands/doctor/port.ts';
import { createTestDirectory } from '../../../../support/stores.ts';

describe('the doctor', () => {
  it.each([
    ['20.18.3', false],
    ['18.20.0', false],
    ['20.19.0', true],
    ['24.1.0', true],
  ])('the doctor says whether Node %s can be used: %s', (version, isFine) => {
    expect(checkNode(version)).toMatchObject({ check: 'Node', isFine });
  });

  it('the doctor says that memory does not hold the recent ids', () => {
    expect(checkMemory(10_000_000, 835_000_000)).toMatchObject({ isFine: true });
    const little = checkMemory(10_000_000, 834_000_000);
    expect(little.isFine).toBe(false);
    expect(little.message).toContain('834 MB for the process, and 835 MB are needed: 10000000 recent ids');
  });

  it('the doctor says that the disk has too little room, also before DATA_DIR is there', async () => {
    const dataDir = join(await createTestDirectory(), 'not', 'yet');
    expect(await checkDisk(dataDir, 1)).toEqual([expect.objectContaining({ isFine: true })]);
    const [full] = await checkDisk(dataDir, Number.MAX_SAFE_INTEGER);
    expect(full).toMatchObject({
      check: 'disk',
      isFine: false,
      message: expect.stringContaining('make room'),
    });
  });

  it('the doctor says that DATA_DIR is a file', async () => {
    const path = join(await createTestDirectory(), 'file');
    await writeFile(path, '');
    expect(await looked('disk', () => checkDisk(path))).toEqual([
      { check: 'disk', isFine: false, message: `DATA_DIR ${path} is not a directory` },
    ]);
  });

  it.each([
    [-5_001, false, '5 s behind this machine'],
    [-5_000, true, 'agrees'],
    [5_000, true, 'agrees'],
    [60_000, false, '60 s ahead of this machine'],
  ])('compares clocks: %i ms', (apart, isFine, text) => {
    const now = Date.UTC(2026, 10, 1);
    const found = checkClock('PostgreSQL', now + apart, now, now);
    expect(found).toMatchObject({ isFine, message: expect.stringContaining(text) });
  });

  async function listening(answer: object, status: number) {
    const server = createHttpServer((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    const { port } = server.address() as AddressInfo;
    return { host: '127.0.0.1', port, dataDir: '.data', databaseUrl: undefined };
  }

  const sameData = async () => null;

  it('the doctor tells a service that is ready from one that is not, and from another program', async () => {
    expect(await checkPort(await listening({ status: 'ready', checks: {} }, 200), sameData)).toEqual([
      expect.objectContaining({ check: 'service', isFine: true }),
    ]);
    const message = 'Not ready: data. usage_events/x is missing';
    expect(await checkPort(await listening({ message }, 503), sameData)).toEqual([
      { check: 'service', isFine: false, message },
    ]);
    expect(await checkPort(await listening({ hello: 'world' }, 200), sameData)).toEqual([
      expect.objectContaining({
        check: 'port',
        isFine: false,
        message: expect.stringContaining('another program'),
      }),
    ]);
  });

  it.each([
    ['a', undefined, true],
    [null, undefined, true],
    ['b', undefined, false],
    ['not running', undefined, false],
    ['b', 'postgres://me:s3cret@db/x', false],
  ])(
    'the doctor says when the service at the port has data a, and the settings name %j',
    async (own, databaseUrl, isFine) => {
      const there = await listening({ status: 'ready', checks: {}, data_id: 'a' }, 200);
      const [found, ...others] = await checkPort({ ...there, databaseUrl }, async () => own);
      expect(others).toEqual([]);
      expect(found).toMatchObject({ check: 'service', isFine });
      if (isFine) return;
      const place = databaseUrl === undefined ? 'DATA_DIR .data' : 'DATABASE_URL';
      expect(found?.message).toContain(`has other data than ${place}: set PORT`);
      expect(found?.message).not.toContain('s3cret');
    },
  );

  it('the doctor marks a backup that nobody knows of as unknown, not as fine', async () => {
    expect(await checkBackups({ backupDir: undefined, backupSchedule: undefined }, 0)).toEqual([
      expect.objectContaining({ check: 'backup', isFine: true, isUnknown: true }),
    ]);
  });

  const place = { dataDir: '.data', databaseUrl: undefined };

  it('the doctor says whether the port is free, and whether the address is of this machine', async () => {
    expect(await checkPort({ ...place, host: '127.0.0.1', port: 0 }, sameData)).toEqual([
      expect.objectContaining({ isFine: true }),
    ]);
    expect(await checkPort({ ...place, host: '192.0.2.1', port: 0 }, sameData)).toEqual([
      expect.objectContaining({
        check: 'port',
        isFine: false,
        message: expect.stringContaining('EADDRNOTAVAIL'),
      }),
    ]);
  });
});
