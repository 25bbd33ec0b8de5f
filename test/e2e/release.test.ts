/** A version is tagged when all of it agrees; the bill of materials and the licences are of what is installed and built. */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readChangelog } from '../../scripts/release/changelog.ts';
import { statedVersions } from '../../scripts/release/versions.ts';
import { type BundledPackage, bundledPackages } from '../../scripts/third-party/bundled.ts';
import { licenceList } from '../../scripts/third-party/licences.ts';
import { productionPackages, ROOT, type ThirdPartyPackage } from '../../scripts/third-party/lock.ts';
import { type BillOfMaterials, billOfMaterials } from '../../scripts/third-party/sbom.ts';
import { VERSION } from '../../src/version.ts';
import { runCommand } from '../support/child-process.ts';
import { createTestDirectory } from '../support/stores.ts';

it('every place states the version of the service, and the changelog has its section', async () => {
  const stated = await statedVersions(ROOT);
  expect(stated.length).toBeGreaterThan(4);
  expect(stated.filter(({ version }) => version !== VERSION)).toEqual([]);
  const { sections } = readChangelog(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8'));
  expect(sections[0]).toMatchObject({ version: VERSION, date: expect.stringMatching(/^20\d\d-\d\d-\d\d$/) });
});

const CHANGELOG = `# Changelog

## [Unreleased]

## [9.1.0] - 2026-11-20

### Fixed
- A sum is right.

## [9.0.0] - 2026-11-01

### Added
- Everything.
`;

describe('a release', () => {
  let directory: string;
  const git = async (...args: string[]) => {
    const who = ['-c', 'user.name=Someone', '-c', 'user.email=someone@example.com'];
    const program = runCommand('git', [...who, ...args], {}, directory);
    expect([await program.ended, args, program.stderr()]).toEqual([0, args, expect.anything()]);
    return program.stdout();
  };
  const commit = async () => {
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'A change');
  };
  const write = (file: string, text: string) => writeFile(join(directory, file), text);
  const release = async (...args: string[]) => {
    const env = { GIT_COMMITTER_NAME: 'Someone', GIT_COMMITTER_EMAIL: 'someone@example.com' };
    const tsx = join(ROOT, 'node_modules/tsx/dist/loader.mjs');
    const script = join(ROOT, 'scripts/release.ts');
    const program = runCommand('node', ['--import', tsx, script, ...args], env, directory);
    return { code: await program.ended, stdout: program.stdout(), stderr: program.stderr() };
  };

  beforeEach(async () => {
    directory = await createTestDirectory();
    for (const { file } of await statedVersions(ROOT)) {
      await mkdir(dirname(join(directory, file)), { recursive: true });
      await cp(join(ROOT, file), join(directory, file));
    }
    await mkdir(join(directory, '.ci'));
    await write('.ci/run', 'echo the checks have run >&2');
    await write('CHANGELOG.md', CHANGELOG.replace('## [9.1.0] - 2026-11-20\n', ''));
    await git('init', '--quiet');
  });

  it('a release is prepared, read, committed and tagged, with its section as the message of the tag', async () => {
    expect((await release('9.1.0', '--prepare')).code).toBe(0);
    expect((await release('9.1.0')).stderr).toContain('not everything is committed');
    await commit();
    expect(await release('9.1.0', '--dry-run')).toEqual({
      code: 0,
      stdout: '9.1.0 can be tagged, if the checks pass: bash .ci/run\n',
      stderr: '',
    });
    expect(await git('tag')).toBe('');
    const tagged = await release('9.1.0');
    expect(tagged).toMatchObject({ code: 0, stderr: 'the checks have run\n' });
    expect(await git('cat-file', 'tag', 'v9.1.0')).toMatch(
      /tallyhouse 9\.1\.0\n\n### Fixed\n- A sum is right\.\n$/,
    );
    expect(await release('9.1.0')).toMatchObject({ code: 1, stderr: 'there is a tag v9.1.0\n' });
  });

  it('a release is not tagged where the checks fail, a place states another version or the changelog lacks it', async () => {
    await release('9.1.0', '--prepare');
    await write('.ci/run', 'exit 1');
    await commit();
    expect((await release('9.1.0')).code).toBe(1);
    expect((await release('9.2.0', '--dry-run')).stderr).toMatch(
      /^package\.json states 9\.1\.0\n[\s\S]*Chart\.yaml states 9\.1\.0\n[\s\S]*with a version is not \[9\.2\.0\]\n$/,
    );
    await write('CHANGELOG.md', CHANGELOG.replace('## [9.1.0]', '### Added\n- A late one.\n\n## [9.1.0]'));
    await commit();
    expect((await release('9.1.0', '--dry-run')).stderr).toBe(
      'CHANGELOG.md has changes under [Unreleased] that this version would have\n',
    );
    await write('CHANGELOG.md', CHANGELOG.replace('2026-11-20', '2999-01-01'));
    await commit();
    await git('tag', 'v10.0.0');
    expect((await release('9.1.0', '--dry-run')).stderr).toBe(
      'there is a later version: v10.0.0\nthe section [9.1.0] of CHANGELOG.md is of 2999-01-01\n',
    );
    expect((await release('9.1')).code).toBe(2);
    expect(await git('tag')).toBe('v10.0.0\n');
  });
});

/** Licences of parts that may be distributed with a service of a company: none asks for the source of other parts. */
const PERMISSIVE = /^(?:MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|Unlicense|OFL-1\.1)$/;
/** Their own words: fonts (Bitstream Vera, free), a list in place of one licence, other platforms of `@chdb`. */
const READ_BY_HAND = /^(?:dejavu-fonts-ttf|png-js|@chdb\/lib-)/;

describe('what is known of the packages of others', () => {
  let installed: readonly ThirdPartyPackage[];
  let bundled: readonly BundledPackage[];
  let bill: BillOfMaterials;
  beforeAll(async () => {
    installed = await productionPackages();
    bundled = await bundledPackages();
    bill = await billOfMaterials(installed, bundled);
  });

  it('the bill of materials has what is installed and what is built in, and is the same each time', async () => {
    const expected = [...installed, ...bundled].map(({ name, version }) => `${name}@${version}`);
    expect(bill.components.map((each) => each['bom-ref'])).toEqual([...new Set(expected)].sort());
    for (const part of ['hono', 'postgres', 'chdb', 'react-dom', '@scalar/api-reference']) {
      expect(bill.components.map(({ name }) => name)).toContain(part);
    }
    expect(bill.metadata.component).toMatchObject({ name: 'tallyhouse', version: VERSION });
    expect(await billOfMaterials(installed, bundled)).toEqual(bill);
    expect(JSON.stringify(bill)).not.toMatch(/timestamp|serialNumber/);
    const refs = new Set(bill.components.map((each) => each['bom-ref']));
    const named = bill.dependencies.flatMap(({ dependsOn }) => dependsOn);
    expect([named.length > 50, named.filter((ref) => !refs.has(ref))]).toEqual([true, []]);
  });

  it('the list of licences has each with its text, and none but permissive ones', async () => {
    const list = await licenceList(installed, bundled);
    for (const { name, version } of [...installed, ...bundled])
      expect(list).toContain(`\n${name} ${version}`);
    const licences = [
      ...installed.map(({ name, licence }) => [name, licence] as const),
      ...bundled.map(({ name, identifier }) => [name, identifier] as const),
    ];
    const others = licences.filter(([name, id]) => !PERMISSIVE.test(id ?? '') && !READ_BY_HAND.test(name));
    expect(others).toEqual([]);
    expect(bundled.filter(({ text }) => text === null)).toEqual([]);
    expect(list).toContain('Permission is hereby granted, free of charge');
  });
});
