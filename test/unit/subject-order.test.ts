/** The order of subjects inside the floors of src/ is enforced (docs/architecture.md, "Subjects"). */

import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import { afterAll, describe, expect, it } from 'vitest';
import ruleSet, { SUBJECTS } from '../../.dependency-cruiser.mjs';
import { PACKAGE_ROOT } from '../../src/core/package-root.ts';

const folder = await mkdtemp(join(tmpdir(), 'subjects-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Neighbours in the order, as folders below src/. */
const NEIGHBOURS = Object.entries(SUBJECTS).flatMap(([floor, subjects]) =>
  subjects.slice(1).map((upper, index) => ({ floor, upper, lower: String(subjects[index]) })),
);

async function cruised(root: string, paths: string[], more: object = {}): Promise<ICruiseResult> {
  const { output } = await cruise(paths, { ...ruleSet.options, ...more, baseDir: root });
  return output as ICruiseResult;
}

async function plant(path: string, imported: string): Promise<void> {
  const file = join(folder, 'src', path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `export * from '${imported}';\n`);
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
  const { summary } = await cruised(folder, ['src'], { ruleSet, validate: true });
  const refused = summary.violations.map(({ from, rule }) => ({ from, rule: rule.name }));

  it.each(NEIGHBOURS)('$floor/$lower is refused to import $floor/$upper', ({ floor, lower }) => {
    expect(refused).toContainEqual({
      from: `src/${floor}/${lower}/up.ts`,
      rule: `order-${floor}-${lower}`,
    });
  });

  it.each(NEIGHBOURS)('$floor/$upper may import $floor/$lower', ({ floor, upper }) => {
    expect(refused).not.toContainEqual({
      from: `src/${floor}/${upper}/down.ts`,
      rule: `order-${floor}-${upper}`,
    });
  });

  it('a subject without a place in the order is refused, and a file beside the subjects', () => {
    const rules = refused.map(({ from, rule }) => `${from} ${rule}`);
    expect(rules).toContain('src/billing/no-such-subject/file.ts order-billing-without-a-place');
    expect(rules).toContain('src/rating/beside.ts order-rating-without-a-place');
  });
});

it('settling a contract reaches at most 20 other files of billing', async () => {
  const start = 'src/billing/contracts/settle-contract.ts';
  const { modules } = await cruised(PACKAGE_ROOT, [start], { includeOnly: '^src/billing/' });
  const others = modules.map(({ source }) => source).filter((source) => source !== start);
  expect(others).toContain('src/billing/invoice-queue/scheduled-jobs.ts');
  expect(others.length).toBeLessThanOrEqual(20);
});

it('docs/architecture.md has the subjects of every layer in their order', async () => {
  const text = await readFile(join(PACKAGE_ROOT, 'docs/architecture.md'), 'utf8');
  const section = /^## Subjects\n([\s\S]*?)^## /m.exec(text)?.[1] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  const namesIn = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  const cells = rows.map((row) => row.split('|').map((cell) => cell.trim()));
  const ofLayer = new Map(cells.map(([, layer = '', order = '']) => [namesIn(layer)[0], namesIn(order)]));
  const listed = cells.flatMap(([, first = '']) => namesIn(first)).filter((name) => !name.endsWith('/'));
  for (const [folder, subjects] of Object.entries(SUBJECTS)) {
    expect(folder === 'billing' ? listed : ofLayer.get(`${folder}/`), folder).toEqual(subjects);
  }
});

it('docs/subjects.md has the folders of each subject as they are', () => {
  const check = () =>
    execFileSync(process.execPath, [join(PACKAGE_ROOT, 'scripts/subjects.mjs'), '--check'], {
      stdio: 'pipe',
    });
  expect(check).not.toThrow();
});
