/**
 * Writes docs/reference/subjects.md: where each subject has its files on each floor of src/. With `--check` it fails
 * when the page says something else. `npm run subjects` writes it; a test checks it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SUBJECTS } from './import-rules.ts';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const page = join(root, 'docs', 'reference', 'subjects.md');

/** Floors whose folders are subjects, and floors whose files belong to a subject by the first words of their names. */
const FOLDER_FLOORS = ['rating', 'metering', 'store', 'billing', 'api/routes'];
const FILE_FLOORS = ['core', 'core/terms', 'notifications', 'jobs', 'access'];

const entries = (path) => readdirSync(join(root, 'src', path), { withFileTypes: true });
const namesOf = (path, wanted) =>
  entries(path)
    .filter(wanted)
    .map(({ name }) => name);
const foldersOf = (path) => namesOf(path, (entry) => entry.isDirectory());
const filesOf = (path) => namesOf(path, (entry) => entry.isFile() && entry.name.endsWith('.ts'));

/** `alerts` has alerts.ts and alert-messages.ts. */
function belongsTo(file, subject) {
  if (file === 'package-root.ts') return false;
  const stem = subject.replace(/ies$/, 'y').replace(/s$/, '');
  const name = file.replace(/\.ts$/, '');
  return [subject, stem].some((word) => name === word || name.startsWith(`${word}-`));
}

const floorsOfFolder = new Map();
for (const floor of FOLDER_FLOORS) {
  for (const name of foldersOf(floor)) {
    floorsOfFolder.set(name, [...(floorsOfFolder.get(name) ?? []), floor]);
  }
}

// The order of billing first, in which a reader goes from what others need to what needs others.
const order = [...new Set([...SUBJECTS.billing, ...floorsOfFolder.keys()])];
const shared = order.filter((name) => (floorsOfFolder.get(name)?.length ?? 0) > 1);
const single = order.filter((name) => floorsOfFolder.get(name)?.length === 1);

function folderCell(floor, subject) {
  if (!floorsOfFolder.get(subject)?.includes(floor)) return '';
  return `[${subject}](../../src/${floor}/${subject})`;
}

function fileCell(subject) {
  const links = FILE_FLOORS.flatMap((floor) => {
    const folders = foldersOf(floor).filter((name) => belongsTo(name, subject));
    const files = filesOf(floor).filter((file) => belongsTo(file, subject));
    return [...folders, ...files].map(
      (name) => `[${floor}/${name.replace(/\.ts$/, '')}](../../src/${floor}/${name})`,
    );
  });
  return links.join(', ');
}

const row = (cells) => `| ${cells.join(' | ')} |`;
const table = [
  row(['subject', ...FOLDER_FLOORS.map((floor) => `\`${floor}/\``), 'files beside the folders']),
  row(['---', ...FOLDER_FLOORS.map(() => '---'), '---']),
  ...shared.map((subject) =>
    row([`\`${subject}\``, ...FOLDER_FLOORS.map((floor) => folderCell(floor, subject)), fileCell(subject)]),
  ),
];
const alone = FOLDER_FLOORS.map((floor) => {
  const names = single.filter((name) => floorsOfFolder.get(name)?.includes(floor));
  return `- \`${floor}/\`: ${names.map((name) => folderCell(floor, name)).join(', ')}`;
});

const text = `# Subjects and their files

Where the files of each subject are on each floor. What a floor and a subject may import is in [architecture](../explanation/architecture.md#subjects). This page is written by \`npm run subjects\`.

${table.join('\n')}

## On one floor only

${alone.join('\n')}
`;

if (!process.argv.includes('--check')) writeFileSync(page, text);
else if (readFileSync(page, 'utf8') !== text) {
  process.stderr.write('docs/reference/subjects.md is not what src/ has: run npm run subjects\n');
  process.exitCode = 1;
}
