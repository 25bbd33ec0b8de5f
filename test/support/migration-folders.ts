/** Copies of drizzle/ and clickhouse/ with additional migrations, or with the first ones only. */
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createTestDirectory } from './stores.ts';

const ROOT = join(import.meta.dirname, '..', '..');

const journalSchema = z.looseObject({
  entries: z.array(z.looseObject({ idx: z.int(), tag: z.string(), when: z.int() })),
});
type Journal = z.output<typeof journalSchema>;

/** The migrations of drizzle/, and after them the added ones; the text of each by its name. */
export async function drizzleFolderWith(added: Readonly<Record<string, string>>): Promise<string> {
  const folder = await copyOf('drizzle');
  for (const [name, text] of Object.entries(added)) await writeFile(join(folder, `${name}.sql`), text);
  await changeJournal(folder, (entries) => {
    const last = entries.at(-1) ?? { idx: 0, when: 0 };
    const more = Object.keys(added).map((tag, index) => ({
      ...last,
      idx: last.idx + index + 1,
      when: last.when + index + 1,
      tag,
    }));
    return [...entries, ...more];
  });
  return folder;
}

/** A copy of drizzle/ that has these migrations only. */
export async function drizzleFolderOf(tags: readonly string[]): Promise<string> {
  const folder = await copyOf('drizzle');
  await changeJournal(folder, (entries) => entries.filter(({ tag }) => tags.includes(tag)));
  return folder;
}

/** The files of clickhouse/, and after them the added ones; the text of each by its name. */
export async function clickhouseFolderWith(added: Readonly<Record<string, string>>): Promise<string> {
  const files = (await readdir(join(ROOT, 'clickhouse'))).filter((name) => /^\d{4}_/.test(name));
  const folder = await clickhouseFolderOf(files);
  for (const [name, text] of Object.entries(added)) await writeFile(join(folder, `${name}.sql`), text);
  return folder;
}

/** A copy of clickhouse/ that has these files only. */
export async function clickhouseFolderOf(files: readonly string[]): Promise<string> {
  const folder = await createTestDirectory();
  for (const file of files) await cp(join(ROOT, 'clickhouse', file), join(folder, file));
  return folder;
}

async function copyOf(name: string): Promise<string> {
  const folder = await createTestDirectory();
  await cp(join(ROOT, name), folder, { recursive: true });
  return folder;
}

async function changeJournal(
  folder: string,
  change: (entries: Journal['entries']) => Journal['entries'],
): Promise<void> {
  const path = join(folder, 'meta', '_journal.json');
  const journal = journalSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  await writeFile(path, JSON.stringify({ ...journal, entries: change(journal.entries) }));
}
