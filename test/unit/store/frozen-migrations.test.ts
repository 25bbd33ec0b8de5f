import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { FROZEN_FOLDER } from '../../support/frozen-state.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

async function migrationsIn(folder: string): Promise<string[]> {
  const files = await readdir(join(ROOT, folder));
  return files.filter((name) => /^\d{4}_.*\.sql$/.test(name)).map((name) => `${folder}/${name}`);
}

/** Lines of `sha256sum`: the hash, two spaces, the path. */
async function recordedHashes(): Promise<Map<string, string>> {
  const text = await readFile(join(FROZEN_FOLDER, 'migrations.sha256'), 'utf8');
  const lines = text.trimEnd().split('\n');
  return new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
}

test('a migration is never changed or removed once it is recorded, and every one is recorded', async () => {
  const files = [...(await migrationsIn('drizzle')), ...(await migrationsIn('clickhouse'))].sort();
  const hashes = await Promise.all(
    files.map(async (file): Promise<[string, string]> => {
      const text = await readFile(join(ROOT, file));
      return [file, createHash('sha256').update(text).digest('hex')];
    }),
  );
  expect(new Map(hashes)).toEqual(await recordedHashes());
});

test('each migration is later than the one before: the migrator skips one that is not', async () => {
  const text = await readFile(join(ROOT, 'drizzle', 'meta', '_journal.json'), 'utf8');
  const { entries } = z.object({ entries: z.array(z.object({ when: z.int() })) }).parse(JSON.parse(text));
  const times = entries.map(({ when }) => when);
  expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
});
