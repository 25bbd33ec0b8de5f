/**
 * Backups below a prefix of an S3-compatible store: whole or not there, whatever the store and the network do meanwhile, and
 * never mixed with those of another process.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it, test, vi } from 'vitest';
import type { Manifest, Piece } from '../../../../src/app/backups/manifest.ts';
import { openPlace } from '../../../../src/app/backups/open-place.ts';
import { pieceFile } from '../../../../src/app/backups/place.ts';
import {
  BackupWriter,
  backupName,
  listBackups,
  loadManifest,
  readPiece,
} from '../../../../src/app/backups/repository.ts';
import { takeLease } from '../../../../src/app/backups/s3-lease.ts';
import { s3Place } from '../../../../src/app/backups/s3-place.ts';
import { createS3Requests, s3Settings } from '../../../../src/app/s3/s3-requests.ts';
import { type Fault, S3_KEYS, type S3Store, startS3Store } from '../../../support/s3-store.ts';

const ADDRESS = { bucket: 'safe', prefix: 'of/tallyhouse/' };
const ROOT = 'of/tallyhouse/';
const STORES = randomUUID();
/** More than a part of an upload, and more than a range of a restore. */
const LARGE = randomBytes(8_400_000);
/** Two full parts, and a third. */
const THREE_PARTS = randomBytes(16_800_000);

let store: S3Store;
beforeEach(async () => {
  store = await startS3Store(ADDRESS.bucket, { pageKeys: 3 });
});
afterEach(() => store.close());

const requestsOf = () =>
  createS3Requests(s3Settings({ ...S3_KEYS, AWS_ENDPOINT_URL: store.url }), ADDRESS.bucket, {
    firstPauseMs: 1,
    silenceMs: 2_000,
  });
const place = () => s3Place(requestsOf(), ADDRESS);
const open = (stores: string = STORES) => BackupWriter.open(place(), stores, async () => {});
let moment = Date.UTC(2026, 10, 27);

/** A backup that has these bytes alone. */
async function backUp(contents: readonly Buffer[], keep: number | null = null): Promise<Manifest> {
  const writer = await open();
  try {
    const pieces: Piece[] = [];
    for (const content of contents) pieces.push(await writer.piece(() => chunksOf(content)));
    moment += 1_000;
    const manifest: Manifest = {
      ...{ format: 1, name: backupName(moment), version: '0', moment },
      files: [],
      postgres: {
        migrations: [],
        tables: [{ schema: 'public', name: 'contents', columns: ['content'], rows: pieces.length, pieces }],
        sequences: [],
      },
      clickhouse: { definitions: await writer.pieceOf(Buffer.from('definitions')), tables: [] },
    };
    await writer.end(manifest);
    await writer.removeOld(keep);
    return manifest;
  } finally {
    await writer.close();
  }
}

function* chunksOf(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += 1_000_000) yield content.subarray(at, at + 1_000_000);
}

async function contentsOf(name: string): Promise<Buffer[]> {
  const { postgres } = await loadManifest(place(), name);
  const contents: Buffer[] = [];
  for (const piece of postgres.tables.flatMap(({ pieces }) => pieces)) {
    const chunks: Buffer[] = [];
    for await (const chunk of readPiece(place(), piece)) chunks.push(chunk);
    contents.push(Buffer.concat(chunks));
  }
  return contents;
}

const isSame = (found: readonly Buffer[], expected: readonly Buffer[]) =>
  found.length === expected.length &&
  found.every((each, index) => each.equals(expected[index] ?? each.subarray(1)));

const keysBelow = (folder: string) =>
  [...store.objects.keys()].filter((key) => key.startsWith(ROOT + folder));

test('each backup has its bytes, pieces in common are there once, and what only removed ones need goes', async () => {
  const small = ['a', 'b', 'c', 'd', 'e', ''].map((text) => Buffer.from(text));
  const first = await backUp([THREE_PARTS, ...small]);
  const written = keysBelow('pieces/').length;
  store.requests.length = 0;
  const second = await backUp([THREE_PARTS, Buffer.from('new')]);
  expect(keysBelow('pieces/')).toHaveLength(written + 1);
  // The large one was not sent again.
  expect(store.requests.filter((each) => each.includes('partNumber'))).toEqual([]);
  expect(isSame(await contentsOf(first.name), [THREE_PARTS, ...small])).toBe(true);
  expect(isSame(await contentsOf(second.name), [THREE_PARTS, Buffer.from('new')])).toBe(true);
  await backUp([THREE_PARTS], 2);
  expect(await listBackups(place())).toHaveLength(2);
  expect(keysBelow('pieces/')).toHaveLength(3);
  expect(store.objects.get(`${ROOT}running-backup`)).toBeUndefined();
});

const FAULTS: readonly Fault[] = ['unavailable', 'cut', 'reset', 'lost', 'late'];

it.each(FAULTS)('a backup and its restore are whole where every second answer is %s', async (fault) => {
  // The answers that a fault can affect: failures after 200 affect ends of uploads.
  const meets = (path: string, method: string) =>
    fault === 'late' ? method === 'POST' && path.includes('pieces/') : true;
  const tried = new Set<string>();
  store.onRequest((path, _, method) => {
    const what = `${method} ${path} ${store.requests.at(-1)}`;
    if (!meets(path, method) || tried.delete(what)) return null;
    tried.add(what);
    return fault;
  });
  const contents = [LARGE, Buffer.from('small')];
  const { name } = await backUp(contents);
  expect(isSame(await contentsOf(name), contents)).toBe(true);
  expect(store.unfinished()).toEqual([]);
});

test('a store that fails for good ends the backup, which is not there, and leaves nothing unfinished', async () => {
  const before = await backUp([Buffer.from('before')]);
  let parts = 0;
  store.onRequest((_, __, method) => {
    if (!store.requests.at(-1)?.includes('partNumber') || method !== 'PUT') return null;
    parts += 1;
    return parts > 1 ? 'unavailable' : null;
  });
  await expect(backUp([LARGE])).rejects.toThrow('answered 503 (SlowDown: not "now"), 6 times');
  expect(store.unfinished()).toEqual([]);
  expect(await listBackups(place())).toEqual([before.name]);
  // The next one is not kept away.
  store.onRequest(() => null);
  const { name } = await backUp([LARGE]);
  expect(isSame(await contentsOf(name), [LARGE])).toBe(true);
});

test('parts of an upload that was killed are removed by the next backup, and no one else is touched', async () => {
  const requests = requestsOf();
  for (const key of [`${ROOT}pieces/ab/1`, `${ROOT}pieces/ab/2`, 'of/others/3'])
    await requests.send({ method: 'POST', key, query: { uploads: '' } });
  await backUp([Buffer.from('a')]);
  expect(store.unfinished()).toEqual(['of/others/3']);
});

test('two backups into one place do not run at once, and one that was killed keeps nobody away for long', async () => {
  const first = await open();
  await expect(open()).rejects.toThrow('another backup into s3://safe/of/tallyhouse is running');
  await first.close();
  const killed = await open();
  store.advance(4 * 60_000);
  await expect(open()).rejects.toThrow('killed less than 5 minutes ago');
  store.advance(2 * 60_000);
  const next = await open();
  // It was stopped, and no process was killed: what it writes now may need pieces that are gone.
  await expect(killed.end(await backUpManifest(killed))).rejects.toThrow('has begun meanwhile');
  await killed.close();
  await next.end(await backUpManifest(next));
  await next.close();
  expect(await listBackups(place())).toHaveLength(1);
});

test('a backup whose place another one takes while its manifest is written is not there', async () => {
  const writer = await open();
  store.onRequest((path, _, method) => {
    // The first process was stopped for so long: the other one is done, too.
    if (method === 'PUT' && path.includes('backups/')) store.remove(`${ROOT}running-backup`);
    return null;
  });
  await expect(writer.end(await backUpManifest(writer))).rejects.toThrow('has begun meanwhile');
  await writer.close();
  expect(await listBackups(place())).toEqual([]);
});

async function backUpManifest(writer: BackupWriter): Promise<Manifest> {
  moment += 1_000;
  return {
    ...{ format: 1, name: backupName(moment), version: '0', moment, files: [] },
    postgres: { migrations: [], tables: [], sequences: [] },
    clickhouse: { definitions: await writer.pieceOf(Buffer.from('definitions')), tables: [] },
  };
}

test('of many backups that begin at once one has the place', async () => {
  const opened = await Promise.allSettled(Array.from({ length: 8 }, () => open()));
  expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a backup that runs keeps the place while it needs it', async () => {
  const lease = await takeLease(requestsOf(), 'lease', 's3://safe', { renewMs: 5, expiresMs: 60_000 });
  const writes = () => store.requests.filter((each) => each.startsWith('PUT')).length;
  const before = writes();
  await vi.waitUntil(() => writes() > before + 1, { timeout: 30_000, interval: 5 });
  await lease.check();
  await lease.release();
  expect(store.objects.has('lease')).toBe(false);
});

test('a store without conditions is used, and the operator is warned', async () => {
  store.onRequest(() => 'ignores-conditions');
  const writer = await open();
  expect(writer.warning).toContain('does not know If-None-Match');
  await expect(open()).rejects.toThrow('another backup');
  await writer.close();
  store.onRequest(() => null);
  const other = await open();
  expect(other.warning).toBeNull();
  await other.close();
});

test('a piece that is damaged, cut short, longer or missing is named', async () => {
  const { name, postgres } = await backUp([Buffer.from('content')]);
  const key = ROOT + pieceFile(postgres.tables[0]?.pieces[0]?.id ?? '');
  const damages: [Buffer | null, string][] = [
    [Buffer.from('CONTENT'), 'has other content'],
    [Buffer.from('con'), 'has 3 bytes and had 7'],
    [Buffer.from('content and more'), 'has 16 bytes and had 7'],
    [null, 'is missing'],
  ];
  for (const [content, problem] of damages) {
    if (content === null) store.remove(key);
    else store.put(key, content);
    await expect(contentsOf(name)).rejects.toThrow(`s3://safe/${key} ${problem}`);
  }
});

test('a prefix with other objects, and one with the backups of other stores, is refused', async () => {
  store.put(`${ROOT}mine`, 'kept');
  await expect(open()).rejects.toThrow('has other objects (of/tallyhouse/mine)');
  store.remove(`${ROOT}mine`);
  // A prefix that begins with the same letters is another one.
  store.put('of/tallyhouse-2/mine', 'kept');
  await (await open()).close();
  await expect(open('others')).rejects.toThrow('has the backups of other stores');
});

test('what a store refuses is said without anything of the keys', async () => {
  const env = { ...S3_KEYS, AWS_ENDPOINT_URL: store.url };
  for (const [changed, problem] of [
    [{ AWS_SECRET_ACCESS_KEY: 'not-the-key' }, '403 (SignatureDoesNotMatch'],
    [{ AWS_ACCESS_KEY_ID: '' }, 'AWS_ACCESS_KEY_ID is not set'],
  ] as const) {
    const refused = await (async () =>
      await BackupWriter.open(
        openPlace('s3://safe/x', { ...env, ...changed }),
        STORES,
        async () => {},
      ))().catch(String);
    expect(refused).toContain(problem);
    expect(refused).not.toMatch(/not-the-key|secret-of-the-signature|AKIDEXAMPLE|wJalr/);
  }
  expect(() => openPlace('s3://key:secret@safe/x', env)).toThrow(/^there must be a bucket after s3:\/\//);
  await expect(listBackups(openPlace('s3://none/x', env))).rejects.toThrow('404 (NoSuchBucket');
});
