import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { directoryPlace } from '../../../../src/app/backups/directory-place.ts';
import type { Manifest } from '../../../../src/app/backups/manifest.ts';
import { manifestFile } from '../../../../src/app/backups/place.ts';
import {
  BackupWriter,
  backupName,
  lastManifest,
  listBackups,
  momentOf,
} from '../../../../src/app/backups/repository.ts';
import { copyParts, findParts } from '../../../../src/app/commands/backup/copy-parts.ts';

const STORES = randomUUID();
const EVENTS = randomUUID();
const MIGRATIONS = randomUUID();

let root: string;
let directory: string;
let frozen: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'th-backups-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  directory = join(root, randomUUID());
  frozen = join(root, randomUUID());
  await part(MIGRATIONS, 'all_1_1_0', 'migrations');
});

async function part(table: string, name: string, content: string): Promise<void> {
  const place = join(frozen, 'store', table.slice(0, 3), table, name);
  await mkdir(join(place, 'by_id.proj'), { recursive: true });
  await writeFile(join(place, 'data.bin'), content);
  await writeFile(join(place, 'by_id.proj', 'data.bin'), `projection of ${content}`);
  await writeFile(join(place, 'checksums.txt'), `checksums of ${content}`);
  await writeFile(join(place, 'count.txt'), '7');
}

const open = () => BackupWriter.open(directoryPlace(directory), STORES, async () => {});
let moment = Date.UTC(2026, 10, 27);

/** A backup of the frozen parts. Returns how many bytes were copied. */
async function backUp(keep: number | null = null) {
  const writer = await open();
  const tables = [
    { name: 'schema_migrations', id: MIGRATIONS },
    { name: 'usage_events', id: EVENTS },
  ];
  let bytes = 0;
  const found = await findParts(
    { directory: frozen, tables },
    await lastManifest(directoryPlace(directory)),
    writer,
  );
  const copied = await copyParts(found, writer, (more) => {
    bytes += more;
  });
  moment += 1_000;
  const manifest: Manifest = {
    ...{ format: 1, name: backupName(moment), version: '0', moment, files: [] },
    postgres: { migrations: [], tables: [], sequences: [] },
    clickhouse: { definitions: await writer.pieceOf(Buffer.from('definitions')), tables: copied },
  };
  await writer.end(manifest);
  return { bytes, manifest, removed: await writer.removeOld(keep) };
}

async function pieceCount(): Promise<number> {
  const folders = await readdir(join(directory, 'pieces'));
  const names = await Promise.all(folders.map((folder) => readdir(join(directory, 'pieces', folder))));
  return names.flat().length;
}

test('a part that the backup before has is not read again, and one whose content differs is', async () => {
  await part(EVENTS, '202611_1_1_0', 'events');
  expect((await backUp()).bytes).toBeGreaterThan(0);
  expect((await backUp()).bytes).toBe(0);
  await part(EVENTS, '202611_2_2_0', 'more');
  const { bytes, manifest } = await backUp();
  const [, more] = manifest.clickhouse.tables[1]?.parts ?? [];
  expect(more?.name).toBe('202611_2_2_0');
  expect(bytes).toBe(more?.piece.bytes);
  // A table that was created again may use a name again.
  await part(EVENTS, '202611_1_1_0', 'others');
  expect((await backUp()).bytes).toBeGreaterThan(0);
});

test('a part whose piece has gone is copied again', async () => {
  await backUp();
  await rm(join(directory, 'pieces'), { recursive: true });
  expect((await backUp()).bytes).toBeGreaterThan(0);
});

test('what only removed backups need goes, and what the others need stays', async () => {
  await part(EVENTS, '202611_1_1_0', 'events');
  const first = await backUp();
  await rm(frozen, { recursive: true });
  await part(MIGRATIONS, 'all_1_1_0', 'migrations');
  await part(EVENTS, '202611_1_2_1', 'merged');
  expect(await pieceCount()).toBe(3);
  const second = await backUp(1);
  expect(second.removed).toEqual([first.manifest.name]);
  expect(await listBackups(directoryPlace(directory))).toEqual([second.manifest.name]);
  expect(await pieceCount()).toBe(3);
});

test('nothing is removed where it is not known what a backup needs', async () => {
  const first = await backUp();
  await backUp();
  await writeFile(join(directory, manifestFile(first.manifest.name)), 'damaged');
  await part(EVENTS, '202611_1_1_0', 'events');
  await backUp();
  await (await open()).piece(() => [Buffer.from('of a backup that was killed')]);
  const before = await pieceCount();
  await backUp();
  expect(await pieceCount()).toBe(before);
});

test('tables of which nothing was frozen are no backup', async () => {
  await rm(frozen, { recursive: true });
  await expect(backUp()).rejects.toThrow('has kept no parts');
});

test('the name of a backup says when it was taken', () => {
  const at = Date.UTC(2026, 10, 27, 1, 2, 3, 4);
  expect(backupName(at)).toBe('2026-11-27T01-02-03.004Z');
  expect(momentOf(backupName(at))).toBe(at);
});
