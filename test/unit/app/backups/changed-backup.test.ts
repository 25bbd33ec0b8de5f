/**
 * A backup that a stranger has changed, with the checksums put right: it is refused with a sentence before anything is
 * written, or what is written lies inside of the directory that it is restored into.
 */
import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { directoryPlace } from '../../../../src/app/backups/directory-place.ts';
import { type Manifest, type Piece, writeManifest } from '../../../../src/app/backups/manifest.ts';
import { manifestFile, pieceFile } from '../../../../src/app/backups/place.ts';
import { placeFiles } from '../../../../src/app/backups/place-files.ts';
import {
  BackupWriter,
  backupName,
  checkBackup,
  lastManifest,
  loadManifest,
} from '../../../../src/app/backups/repository.ts';
import { CommandFailure } from '../../../../src/app/failures/command-failure.ts';
import { definitionsProblem, restoreDefinitions } from '../../../../src/embedded/kept-definitions.ts';

const [DATABASE, EVENTS] = [randomUUID(), randomUUID()];
const MOMENT = Date.UTC(2026, 10, 27);
const NAME = backupName(MOMENT);
const PLACE_OF_EVENTS = `store/${EVENTS.slice(0, 3)}/${EVENTS}`;
const PLACE_OF_DATABASE = `store/${DATABASE.slice(0, 3)}/${DATABASE}`;

let root: string;
let directory: string;
let victim: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'th-changed-'));
  directory = join(root, 'backups');
  victim = join(root, 'victim');
  await mkdir(join(victim, 'ab'), { recursive: true });
  await writeFile(join(victim, 'ab', 'file'), 'untouched');
});
afterAll(() => rm(root, { recursive: true, force: true }));

const TABLES = [{ name: 'usage_events', id: EVENTS }];

interface Entry {
  readonly path: unknown;
  readonly text?: unknown;
  readonly link?: unknown;
}

const ENTRIES: readonly Entry[] = [
  {
    path: `data/${PLACE_OF_DATABASE}/usage_events.sql`,
    text: `ATTACH TABLE _ UUID '${EVENTS}'\n(\n    \`id\` String\n)\nENGINE = MergeTree\nORDER BY id\nSETTINGS index_granularity = 8192\n`,
  },
  { path: `data/${PLACE_OF_EVENTS}/format_version.txt`, text: '1' },
  { path: 'data/metadata/tallyhouse.sql', text: `ATTACH DATABASE _ UUID '${DATABASE}'\nENGINE = Atomic\n` },
  { path: 'data/metadata/tallyhouse', link: `../${PLACE_OF_DATABASE}` },
  { path: 'data/data/tallyhouse/usage_events', link: `../../${PLACE_OF_EVENTS}` },
];

function definitionsOf(entries: readonly Entry[]): Buffer {
  const fields = entries.map(({ path, text = null, link = null }) => [path, text, link]);
  const digest = createHash('sha256').update(JSON.stringify(fields)).digest('hex');
  return Buffer.from(JSON.stringify({ digest, entries }));
}

async function pieceOf(content: Buffer): Promise<Piece> {
  const id = createHash('sha256').update(content).digest('hex');
  const path = join(directory, pieceFile(id));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return { id, bytes: content.length };
}

async function backup(entries: readonly Entry[] = ENTRIES): Promise<Manifest> {
  const content = 'e'.repeat(64);
  return {
    ...{ format: 1, name: NAME, version: '1.0.0', moment: MOMENT },
    postgres: {
      migrations: [{ name: '0000_first', checksum: content }],
      tables: [
        {
          ...{ schema: 'public', name: 'customers', columns: ['id', 'name'], rows: 2 },
          pieces: [await pieceOf(Buffer.from('1\ta\\tb\n2\t\\N\n'))],
        },
      ],
      sequences: [{ schema: 'public', name: 'numbers', lastValue: '7' }],
    },
    clickhouse: {
      definitions: await pieceOf(definitionsOf(entries)),
      tables: [
        {
          ...{ name: 'usage_events', id: EVENTS, rows: 3 },
          parts: [
            {
              ...{ name: '202611_1_1_0', rows: 3, content },
              files: [
                { path: 'checksums.txt', bytes: 4 },
                { path: 'by_id.proj/data.bin', bytes: 5 },
              ],
              piece: await pieceOf(Buffer.from('sumsbytes')),
            },
          ],
        },
      ],
    },
    files: [{ path: 'api-token', piece: await pieceOf(Buffer.from('token')) }],
  };
}

async function backupOfServer(): Promise<Manifest> {
  const { postgres, clickhouse, ...rest } = await backup();
  const tables = clickhouse.tables.map((table) => ({ ...table, parts: [] }));
  const server = { name: NAME, base: NAME, database: 'tallyhouse', bytes: 9 };
  return { ...rest, format: 2, postgres, clickhouse: { tables, server }, files: [] };
}

/** All that is outside of the directory that a backup is restored into. */
async function outside(): Promise<string[]> {
  const [names, victims] = [await readdir(root), await readdir(victim, { recursive: true })];
  return [
    ...names.filter((name) => name !== 'data'),
    ...victims,
    await readFile(join(victim, 'ab', 'file'), 'utf8'),
  ];
}

/** The sentence that refuses the backup, or null if it was written. */
async function restored(manifest: unknown): Promise<string | null> {
  const place = directoryPlace(directory);
  await mkdir(join(directory, 'backups'), { recursive: true });
  await writeFile(join(directory, manifestFile(NAME)), writeManifest(manifest as Manifest));
  const data = join(root, 'data');
  try {
    const read = await loadManifest(place, NAME);
    await checkBackup(place, read);
    const { definitions } = read.clickhouse;
    if (definitions === undefined) return null;
    await placeFiles(data, place, read, definitions);
    await restoreDefinitions(join(data, 'clickhouse'));
    await expectLinksInside(data);
    return null;
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    expect(error.message).toMatch(/^[ -~]{10,700}$/);
    // Whatever was refused was refused before anything was written.
    await expect(lstat(data)).rejects.toThrow('ENOENT');
    return error.message;
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

async function expectLinksInside(data: string): Promise<void> {
  for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue;
    const target = join(entry.parentPath, await readlink(join(entry.parentPath, entry.name)));
    expect(target.startsWith(join(data, 'clickhouse', 'data', 'store'))).toBe(true);
  }
}

const TEXTS = [
  '../../../../victim/ab/file',
  '../victim',
  '/tmp/th-victim',
  'a\0b',
  'a/../../../../victim/x',
  '..',
  '.',
  '',
  '\u001b[2J',
  'x`; DROP DATABASE y; --',
  '"; drop table customers; --',
  'engine.xml',
  'x'.repeat(100_000),
];
const NUMBERS = [-1, 1.5, 2 ** 53, 1e300, 8, 0];
const OTHERS = [null, [], {}, true, ['x'], { path: '../victim' }];

/** Every member of a document, with the documents in which another value is in its place. */
function* changes(value: unknown, name = ''): Generator<[string, unknown]> {
  const known = typeof value === 'number' ? NUMBERS : typeof value === 'string' ? TEXTS : [];
  for (const other of [...known, ...OTHERS]) yield [`${name} = ${JSON.stringify(other).slice(0, 60)}`, other];
  if (Array.isArray(value)) {
    if (value.length > 0) yield [`${name} twice`, [...value, value[0]]];
    for (const [index, member] of value.entries())
      for (const [what, changed] of changes(member, `${name}.${index}`))
        yield [what, value.map((each, at) => (at === index ? changed : each))];
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      yield [
        `${name}.${key} is missing`,
        Object.fromEntries(Object.entries(value).filter(([each]) => each !== key)),
      ];
      for (const [what, changed] of changes(member, `${name}.${key}`))
        yield [what, { ...value, [key]: changed }];
    }
  }
}

/**
 * Nobody can know that these were changed: words, other names inside of the directory, and lists that are shorter. Whether the
 * stores take the rows is known when they are loaded.
 */
const HARMLESS = [
  /^\.(version|postgres\.migrations|postgres\.sequences|postgres\.tables\.0\.(name|columns))/,
  /^\.clickhouse\.(tables\.0\.parts\.0\.content|server\.(base|database|bytes)|tables\.0\.rows) = /,
  /^\.(files|postgres\.tables|clickhouse\.tables|clickhouse\.tables\.0\.parts) = \[\]$/,
  /^\.clickhouse\.tables\.0\.parts\.0\.files\.\d\.path = "engine.xml"$/,
];

test.each([
  ['of embedded stores', backup],
  ['of servers', backupOfServer],
])(
  'a changed member of the manifest %s is refused before anything is written, or writes nothing outside',
  async (_, original) => {
    const manifest = await original();
    expect(await restored(manifest)).toBeNull();
    const before = await outside();
    const taken: string[] = [];
    let count = 0;
    for (const [what, changed] of changes(manifest)) {
      count += 1;
      if ((await restored(changed)) === null) taken.push(what);
    }
    expect(count).toBeGreaterThan(500);
    expect(taken.filter((what) => !HARMLESS.some((known) => known.test(what)))).toEqual([]);
    expect(await outside()).toEqual(before);
  },
);

test('a changed member of the definitions of tables is refused before anything is written', async () => {
  const before = await outside();
  const taken: string[] = [];
  for (const [what, changed] of changes(ENTRIES)) {
    if (!Array.isArray(changed) || changed.some((entry) => typeof entry !== 'object' || entry === null))
      continue;
    // Those that are refused are refused by this sentence (`restored` writes files for each).
    if (definitionsProblem(definitionsOf(changed).toString(), TABLES) !== null) continue;
    taken.push(what);
    expect(await restored(await backup(changed))).toBeNull();
  }
  // The text of a file that is no definition is not read as one.
  expect(taken.filter((what) => !/^\.1\.text = "/.test(what))).toEqual([]);
  expect(await outside()).toEqual(before);
});

test.each([
  ["ENGINE = URL('http://127.0.0.1:1/', 'CSV')", 'a table whose rows would be elsewhere'],
  ["ENGINE = File(CSV, '/etc/passwd')", 'a table whose rows would be elsewhere'],
  ["ENGINE = MergeTree\nORDER BY id\nSETTINGS disk = 'other'", 'a table whose rows would be elsewhere'],
])('a definition with %j is refused', async (engine, problem) => {
  const [table, ...rest] = ENTRIES;
  const text = String(table?.text).replace(/ENGINE = MergeTree/, engine);
  expect(await restored(await backup([{ ...table, path: table?.path, text }, ...rest]))).toContain(problem);
});

test('a piece or a manifest that is a link or no file is not read', async () => {
  const manifest = await backup();
  const [token] = manifest.files;
  const path = join(directory, pieceFile(token?.piece.id ?? ''));
  await writeFile(join(root, 'elsewhere'), 'token');
  await rm(path);
  await symlink(join(root, 'elsewhere'), path);
  expect(await restored(manifest)).toContain(path);
  await rm(path);
  await mkdir(path);
  expect(await restored(manifest)).toContain('is not a file');
  await rm(path, { recursive: true });
  await backup();
  const file = join(directory, manifestFile(NAME));
  await rm(file, { force: true });
  await symlink(join(root, 'elsewhere'), file);
  await expect(loadManifest(directoryPlace(directory), NAME)).rejects.toThrow('the backup cannot be read');
  await rm(file);
});

test('a backup removes pieces only, and nothing that a link in its place leads to', async () => {
  const place = join(root, 'linked');
  const open = () => BackupWriter.open(directoryPlace(place), randomUUID(), async () => {});
  const writer = await open();
  await writer.piece(() => [Buffer.from('unused')]);
  const others = createHash('sha256').update('others').digest('hex');
  await writeFile(join(victim, 'ab', others), 'others');
  await symlink(join(victim, 'ab'), join(place, 'pieces', 'zz'));
  await writer.removeOld(1);
  expect(await lastManifest(directoryPlace(place))).toBeNull();
  expect((await readdir(join(victim, 'ab'))).sort()).toEqual([others, 'file'].sort());
  await rm(join(victim, 'ab', others));
  await writer.close();
});
