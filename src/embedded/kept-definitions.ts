/**
 * A copy of the embedded ClickHouse's table metadata: definitions and format versions, which are files of some hundred
 * bytes, and the links to their directories. The engine does not start with a damaged definition, and treats a table
 * whose definition is missing as never created, so both are restored before it starts.
 *
 * Definitions change with the migrations only, during which there is no copy. Owns neither rows nor their parts
 * (metering/stored-parts).
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/** Among the engine's own files, so that a restore of those from a backup restores this one too. */
export const DEFINITIONS_FILE = 'data/definitions.json';
/** Replaced files are moved here, so that nothing is lost. */
const SET_ASIDE = 'replaced-definitions';

const entrySchema = z.object({ path: z.string(), text: z.string().optional(), link: z.string().optional() });
const copySchema = z.object({ digest: z.string(), entries: z.array(entrySchema) });

/** The maximum size of a copy, which has some kilobytes for each table. */
export const DEFINITIONS_BYTES_MAX = 64 * 1024 * 1024;
const ENTRIES_MAX = 10_000;

const NAME = '(?!\\.)[\\w%.-]{1,250}';
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const PLACE = `store/[0-9a-f]{3}/${UUID}`;
/** The only paths in a copy: none is below a link, and each link leads to a directory of tables. */
const TEXT_PATHS = [
  new RegExp(`^data/${PLACE}/${NAME}\\.sql$`),
  new RegExp(`^data/${PLACE}/format_version\\.txt$`),
  new RegExp(`^data/metadata/${NAME}\\.sql$`),
];
const LINKS = [
  { path: new RegExp(`^data/metadata/${NAME}$`), link: new RegExp(`^(?:\\.\\./)${PLACE}/?$`) },
  { path: new RegExp(`^data/data/${NAME}/${NAME}$`), link: new RegExp(`^(?:\\.\\./){2}${PLACE}/?$`) },
];

function isInside({ path, text, link }: Entry): boolean {
  if (text !== undefined) return link === undefined && TEXT_PATHS.some((known) => known.test(path));
  return link !== undefined && LINKS.some((known) => known.path.test(path) && known.link.test(link));
}

/** Engines that store rows below the engine's own directory. Others read files and addresses named in a definition. */
const LOCAL_ENGINE = /\nENGINE = (?:Atomic|(?:Replacing|Aggregating|Summing|Collapsing)?MergeTree)\b/;
/** Settings that store rows elsewhere. */
const OTHER_DISK = /\b(?:disk|table_disk|storage_policy)\s*=/;

function isLocal({ path, text = '' }: Entry): boolean {
  return !path.endsWith('.sql') || (LOCAL_ENGINE.test(text) && !OTHER_DISK.test(text));
}

/** Why a copy from elsewhere must not be restored with these tables, as a continuation of its file name; or null. */
export function definitionsProblem(
  text: string,
  tables: readonly { readonly name: string; readonly id: string }[],
): string | null {
  const entries = entriesIn(text);
  if (entries === null) return 'is no copy of definitions of tables';
  if (entries.length > ENTRIES_MAX) return `has more than ${ENTRIES_MAX} definitions`;
  const outside = entries.find((entry) => !isInside(entry));
  if (outside !== undefined)
    return `has ${JSON.stringify(outside.path.slice(0, 200))}, which is none of the files and links of a table`;
  const elsewhere = entries.find((entry) => !isLocal(entry));
  if (elsewhere !== undefined) return `has ${elsewhere.path}, a table whose rows would be elsewhere`;
  if (new Set(entries.map(({ path }) => path)).size < entries.length)
    return 'has two definitions of one file';
  const isDefined = ({ name, id }: { readonly name: string; readonly id: string }) =>
    entries.some(({ path, link = '' }) => path.endsWith(`/${name}`) && link.endsWith(`/${id}`));
  const undefinedTable = tables.find((table) => !isDefined(table));
  return undefinedTable === undefined ? null : `does not define the table ${undefinedTable.name}`;
}

/** A path below the engine's directory with the text of the file, or the target of the link. */
type Entry = z.infer<typeof entrySchema>;

/**
 * Restores files that differ from the copy, and returns the paths. Without a copy, as at the first start, does nothing.
 */
export async function restoreDefinitions(directory: string): Promise<string[]> {
  const entries = await readCopy(directory);
  const restored: string[] = [];
  for (const entry of entries) {
    if (isSame(entry, await readEntry(directory, entry.path))) continue;
    await setAside(directory, entry.path);
    await writeEntry(directory, entry);
    restored.push(entry.path);
  }
  return restored;
}

/** Runs work that may change definitions. If it is interrupted, there is no copy until it has completed. */
export async function whileDefinitionsChange<Result>(
  directory: string,
  change: () => Promise<Result>,
): Promise<Result> {
  await rm(join(directory, DEFINITIONS_FILE), { force: true });
  const result = await change();
  // A full disk must not prevent a start.
  await keepDefinitions(directory).catch(() => undefined);
  return result;
}

async function keepDefinitions(directory: string): Promise<void> {
  const paths = await definitionPaths(directory);
  const read = await Promise.all(paths.map((path) => readEntry(directory, path)));
  const entries = read.filter((entry) => entry !== null);
  const copy = JSON.stringify({ digest: digestOf(entries), entries });
  await writeDurably(join(directory, DEFINITIONS_FILE), copy);
}

/** The paths of all definitions, directories before their contents. */
async function definitionPaths(directory: string): Promise<string[]> {
  const below = async (path: string, isWanted: (name: string) => boolean) => {
    const names = await readdir(join(directory, path)).catch(() => []);
    return names.filter(isWanted).map((name) => join(path, name));
  };
  const all = () => true;
  const databases = await below('data/metadata', all);
  const places = (await Promise.all((await below('data/store', all)).map((path) => below(path, all)))).flat();
  const files = await Promise.all(
    places.map((path) => below(path, (name) => name.endsWith('.sql') || name === 'format_version.txt')),
  );
  const links = await Promise.all((await below('data/data', all)).map((path) => below(path, all)));
  return [...files.flat(), ...databases, ...links.flat()];
}

/** Null if the path is not a definition. */
async function readEntry(directory: string, path: string): Promise<Entry | null> {
  const full = join(directory, path);
  const found = await lstat(full).catch(() => null);
  if (found?.isSymbolicLink() === true) return { path, link: await readlink(full) };
  if (found?.isFile() === true) return { path, text: await readFile(full, 'latin1') };
  return null;
}

function isSame(entry: Entry, found: Entry | null): boolean {
  return found !== null && entry.text === found.text && entry.link === found.link;
}

async function writeEntry(directory: string, { path, text, link }: Entry): Promise<void> {
  const full = join(directory, path);
  await mkdir(dirname(full), { recursive: true });
  if (link !== undefined) await symlink(link, full);
  else await writeDurably(full, text ?? '');
}

async function setAside(directory: string, path: string): Promise<void> {
  const full = join(directory, path);
  if ((await lstat(full).catch(() => null)) === null) return;
  const aside = join(directory, SET_ASIDE, path.replaceAll('/', '-'));
  await mkdir(dirname(aside), { recursive: true });
  await rm(aside, { recursive: true, force: true });
  await rename(full, aside);
}

/** A copy that is damaged, or contains anything but definitions, is ignored. */
async function readCopy(directory: string): Promise<readonly Entry[]> {
  const text = await readFile(join(directory, DEFINITIONS_FILE), 'utf8').catch(() => '');
  const entries = entriesIn(text) ?? [];
  return entries.every(isInside) ? entries : [];
}

/** Null if the text was changed or cut. */
function entriesIn(text: string): readonly Entry[] | null {
  try {
    const { digest, entries } = copySchema.parse(JSON.parse(text));
    return digest === digestOf(entries) ? entries : null;
  } catch {
    return null;
  }
}

function digestOf(entries: readonly Entry[]): string {
  const fields = entries.map(({ path, text = null, link = null }) => [path, text, link]);
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

/** Never writes through a link. */
const WRITTEN = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

/** Replaces a file atomically. */
async function writeDurably(path: string, text: string): Promise<void> {
  const unfinished = `${path}.new`;
  const file = await open(unfinished, WRITTEN, 0o600);
  try {
    await file.writeFile(text, 'latin1');
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}
