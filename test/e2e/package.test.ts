/** The package that `npm pack` makes: what is in it, and that it starts where nothing else is. */
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/version.ts';
import { type Program, runCommand } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';
import { type Packed, packInto, productionPackages } from '../support/packed.ts';
import { createTestDirectory } from '../support/stores.ts';

const ROOT = join(import.meta.dirname, '../..');
const MB = 1_000_000;

let directory: string;
let packed: Packed;
beforeAll(async () => {
  directory = await createTestDirectory();
  packed = await packInto(directory);
}, 240_000);

describe('the package', () => {
  const paths = () => packed.files.map(({ path }) => path);

  it('the package has the program, the console, the guide, the reference, migrations and prices', () => {
    expect(packed.filename).toBe(`tallyhouse-${VERSION}.tgz`);
    expect(paths()).toEqual(
      expect.arrayContaining([
        'package.json',
        'README.md',
        'LICENSE',
        'CHANGELOG.md',
        'sbom.cdx.json',
        'THIRD_PARTY_LICENSES',
        'dist/tallyhouse.cjs',
        'dist/app/cli/main.js',
        'dist/demo/stop-with-parent.js',
        'dist/console/index.html',
        'dist/reference/assets/LICENSE',
        'guide/site/index.html',
        'guide/site/tutorials/first-invoice.html',
        'drizzle/0000_initial.sql',
        'drizzle/meta/_journal.json',
        'catalogue/prices.json',
      ]),
    );
    expect(paths().filter((path) => /^dist\/reference\/assets\/standalone-.*[.]js$/.test(path))).toHaveLength(
      1,
    );
    expect(paths().some((path) => /^clickhouse\/0001_.*[.]sql$/.test(path))).toBe(true);
  });

  it('the package has nothing that only development needs, no data and no secrets', () => {
    const folders = new Set(paths().map((path) => (path.includes('/') ? path.split('/')[0] : path)));
    expect([...folders].sort()).toEqual(
      [
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'THIRD_PARTY_LICENSES',
        'catalogue',
        'clickhouse',
        'dist',
        'drizzle',
        'guide',
        'package.json',
        'sbom.cdx.json',
      ].sort(),
    );
    const unwanted = /snapshot[.]json$|(?:^|\/)[.]env|api-token|[.]built-from|node_modules/;
    expect(paths().filter((path) => unwanted.test(path))).toEqual([]);
  });

  it('the package is of a size that can be fetched', () => {
    const size = `${(packed.size / MB).toFixed(1)} MB, unpacked ${(packed.unpackedSize / MB).toFixed(1)} MB`;
    process.stdout.write(`${packed.filename}: ${size}, ${packed.files.length} files\n`);
    expect(packed.size).toBeLessThan(9 * MB);
    expect(packed.unpackedSize).toBeLessThan(25 * MB);
  });
});

/**
 * Unpacked as npm does, beside links to the packages of this checkout that an installation has: what the package uses
 * and does not name would not be found.
 */
describe('the installed package', () => {
  let bin: string;
  let service: Program | undefined;
  beforeAll(async () => {
    const modules = join(directory, 'node_modules');
    const installed = join(modules, 'tallyhouse');
    await mkdir(installed, { recursive: true });
    for (const name of await productionPackages()) {
      await mkdir(dirname(join(modules, name)), { recursive: true });
      await symlink(join(ROOT, 'node_modules', name), join(modules, name)).catch(() => {});
    }
    const archive = join(directory, packed.filename);
    const unpacking = runCommand('tar', ['-xzf', archive, '--strip-components=1', '-C', installed], {});
    expect(await unpacking.ended).toBe(0);
    bin = join(installed, 'dist/tallyhouse.cjs');
    expect(await runCommand('chmod', ['+x', bin], {}).ended).toBe(0);
  });
  afterAll(async () => {
    service?.child.kill('SIGKILL');
    await service?.ended;
  });

  it('the installed package is a command that prints its version, without Node in front of it', async () => {
    const said = runCommand(bin, ['--version'], {}, directory);
    expect([await said.ended, said.stderr(), said.stdout()]).toEqual([0, '', `${VERSION}\n`]);
  });

  it('the installed package starts with both embedded stores, and serves the console, the guide and the reference', async () => {
    const env = {
      PORT: '0',
      DATA_DIR: await createDataDirectory(),
      LOG_LEVEL: 'fatal',
      API_TOKEN: 'sixteen-characters',
    };
    service = runCommand(bin, ['start'], env, directory);
    await service.said('API reference');
    const url = /ready at (\S+)/.exec(service.stdout())?.[1] ?? '';
    expect(service.stdout()).toContain(`  Guide          ${url}/guide\n`);
    for (const path of ['/readyz', '/console', '/guide', '/docs', '/openapi.json']) {
      expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200]);
    }
    const asked = runCommand(
      bin,
      ['sql', 'SELECT count(*) AS n FROM customers', '--json', '--url', url, '--token', env.API_TOKEN],
      {},
      directory,
    );
    expect([await asked.ended, asked.stderr()]).toEqual([0, '']);
    expect(JSON.parse(asked.stdout())).toMatchObject({ data: [{ n: 0 }] });
    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  });
});
