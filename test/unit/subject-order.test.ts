/** The order of subjects inside the floors of src/ is enforced (docs/explanation/architecture.md, "Subjects"). */

import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { RULES, SUBJECTS } from '../../scripts/import-rules.ts';
import { circlesOf, readImports, refusedImports, writtenImports } from '../../scripts/imports.ts';
import { PACKAGE_ROOT } from '../../src/core/package-root.ts';

const folder = await mkdtemp(join(tmpdir(), 'subjects-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Neighbours in the order, as folders below src/. */
const NEIGHBOURS = Object.entries(SUBJECTS).flatMap(([floor, subjects]) =>
  subjects.slice(1).map((upper, index) => ({ floor, upper, lower: String(subjects[index]) })),
);

const plant = (path: string, imported: string) => write(`src/${path}`, `export * from '${imported}';\n`);

async function write(path: string, source: string): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, source);
}

describe('in a tree where each subject imports the next and the one before', async () => {
  for (const { floor, upper, lower } of NEIGHBOURS) {
    await plant(`${floor}/${lower}/plain-${lower}.ts`, 'node:path');
    await plant(`${floor}/${upper}/plain-${upper}.ts`, 'node:path');
    await plant(`${floor}/${lower}/up.ts`, `../${upper}/plain-${upper}.ts`);
    await plant(`${floor}/${upper}/down.ts`, `../${lower}/plain-${lower}.ts`);
  }
  await plant('billing/no-such-subject/file.ts', '../pace/plain-pace.ts');
  await plant('rating/beside.ts', './periods/plain-periods.ts');
  const imports = await readImports(folder, ['src'], {});
  const refused = refusedImports(imports, RULES).map(({ file, rule }) => ({ file, rule }));

  it.each(NEIGHBOURS)('$floor/$lower is refused to import $floor/$upper', ({ floor, lower }) => {
    expect(refused).toContainEqual({
      file: `src/${floor}/${lower}/up.ts`,
      rule: `order-${floor}-${lower}`,
    });
  });

  it.each(NEIGHBOURS)('$floor/$upper may import $floor/$lower', ({ floor, upper }) => {
    expect(refused).not.toContainEqual({
      file: `src/${floor}/${upper}/down.ts`,
      rule: `order-${floor}-${upper}`,
    });
  });

  it('a subject without a place in the order is refused, and a file beside the subjects', () => {
    const rules = refused.map(({ file, rule }) => `${file} ${rule}`);
    expect(rules).toContain('src/billing/no-such-subject/file.ts order-billing-without-a-place');
    expect(rules).toContain('src/rating/beside.ts order-rating-without-a-place');
  });
});

describe('in a tree with other imports', async () => {
  const manifest = {
    dependencies: { '@opentelemetry/api': '1' },
    optionalDependencies: { chdb: '1' },
    devDependencies: { vitest: '1' },
  };
  for (const name of ['@opentelemetry/api', 'chdb', 'vitest', 'undeclared']) {
    await write(`node_modules/${name}/index.js`, '');
  }
  await write('src/store/base/plain.ts', '');
  await write('src/app/tracing/open-telemetry.ts', "import '@opentelemetry/api';\n");
  await write('console/screen.tsx', '');
  await write('src/core/first.ts', "import type { Second } from './second.ts';\n");
  await write('src/core/second.ts', "export const load = () => import('./first.ts');\n");

  const STORE = '../../store/base/plain.ts';
  it.each([
    [`import type { Row } from '${STORE}';`, []],
    [`export type { Row } from '${STORE}';`, []],
    [`let row: import('${STORE}').Row;`, []],
    [`import { row } from '${STORE}';`, ['floor-api-types-of-store']],
    [`import { type Row } from '${STORE}';`, ['floor-api-types-of-store']],
    [`import '${STORE}';`, ['floor-api-types-of-store']],
    [`export * from '${STORE}';`, ['floor-api-types-of-store']],
    [`await import('${STORE}');`, ['floor-api-types-of-store']],
    [`const row = require(\`${STORE}\`);`, ['floor-api-types-of-store']],
    ["import type { Session } from 'chdb';", []],
    ["await import('chdb');", []],
    ["import { Session } from 'chdb';", ['embedded-stores-are-loaded-when-used']],
    ["import { vi } from 'vitest';", ['no-development-packages']],
    ["import type { One } from 'undeclared';", ['no-development-packages']],
    ["import { trace } from '@opentelemetry/api';", ['one-file-knows-opentelemetry']],
    ["import('../../app/tracing/open-telemetry.ts');", ['floor-api']],
    ["import '../../app/tracing/open-telemetry.ts';", ['floor-api', 'opentelemetry-is-loaded-when-needed']],
    ["import '../../../console/screen.tsx';", ['floor-api', 'nothing-from-tests']],
    ["import './none.ts';", ['imports-exist']],
    ["import { readFile } from 'node:fs/promises';", []],
  ])('a source %j of src/api breaks the rules of imports %j', async (source, rules) => {
    const file = 'src/api/base/planted.ts';
    await write(file, `${source}\n`);
    const refused = refusedImports(await readImports(folder, ['src/api/base', 'console'], manifest), RULES);
    expect(refused.filter((one) => one.file === file).map(({ rule }) => rule)).toEqual(rules);
  });

  it('a circle of imports is found, by type and by `import()` too', async () => {
    const circles = circlesOf(await readImports(folder, ['src/core'], manifest));
    expect(circles).toEqual([['src/core/first.ts', 'src/core/second.ts', 'src/core/first.ts']]);
  });
});

it('a name that is put together at run time is no import', () => {
  const found = writtenImports('src/core/file.ts', "import('./' + name); require(name); import('./a.ts');");
  expect(found).toEqual([{ name: './a.ts', form: 'dynamic' }]);
});

it('settling a contract reaches at most 20 other files of billing', async () => {
  const imports = await readImports(PACKAGE_ROOT, ['src/billing'], {});
  const reached = new Set(['src/billing/contracts/settle-contract.ts']);
  for (const file of reached) {
    for (const { to } of imports.get(file) ?? []) if (imports.has(to)) reached.add(to);
  }
  expect([...reached]).toContain('src/billing/invoice-queue/scheduled-jobs.ts');
  expect(reached.size - 1).toBeLessThanOrEqual(20);
});

it('docs/explanation/architecture.md has the subjects of every layer in their order', async () => {
  const text = await readFile(join(PACKAGE_ROOT, 'docs/explanation/architecture.md'), 'utf8');
  const section = /^## Subjects\n([\s\S]*?)^## /m.exec(text)?.[1] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  const namesIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
  const orders = new Map<string, string[]>();
  let listed: string[] = [];
  for (const [, first = '', second = ''] of cells) {
    const names = namesIn(first);
    // A table with a row for each subject names its folder in its head.
    if (first.endsWith(' in order')) {
      listed = [];
      orders.set(names[0] ?? '', listed);
    } else if (names[0]?.endsWith('/') === true) orders.set(names[0], namesIn(second));
    else listed.push(...names);
  }
  for (const [folder, subjects] of Object.entries(SUBJECTS)) {
    expect(orders.get(`${folder}/`), folder).toEqual(subjects);
  }
});

it('docs/reference/subjects.md has the folders of each subject as they are', () => {
  const check = () =>
    execFileSync(process.execPath, ['--import', 'tsx', 'scripts/subjects.mjs', '--check'], {
      cwd: PACKAGE_ROOT,
      stdio: 'pipe',
    });
  expect(check).not.toThrow();
});
