/**
 * `npm run release -- 0.2.1` tags a version: everything is committed, the changelog has its section, every place states
 * it, and all checks of CI pass. `--dry-run` looks at all of it but runs no checks and tags nothing; `--prepare` writes
 * the version and the section, to be read and committed. The tag is pushed by hand.
 */
import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'semver';
import { readChangelog, withRelease } from './release/changelog.ts';
import { releaseFaults } from './release/faults.ts';
import { statedVersions, writeVersions } from './release/versions.ts';

const ROOT = process.cwd();
const CHANGELOG = join(ROOT, 'CHANGELOG.md');
const EXIT = { done: 0, failed: 1, wrongCall: 2 } as const;

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const today = () => new Date().toISOString().slice(0, 10);

async function prepare(version: string): Promise<number> {
  await writeVersions(ROOT, version);
  await writeFile(CHANGELOG, withRelease(await readFile(CHANGELOG, 'utf8'), version, today()));
  say(`Every place states ${version}. Read its section in CHANGELOG.md and commit.`);
  return EXIT.done;
}

async function release(version: string, isDryRun: boolean): Promise<number> {
  const changelog = await readFile(CHANGELOG, 'utf8');
  const faults = releaseFaults({
    version,
    today: today(),
    uncommitted: git('status', '--porcelain'),
    tags: git('tag', '--list').split('\n'),
    changelog,
    stated: await statedVersions(ROOT),
  });
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0) return EXIT.failed;
  if (isDryRun) {
    say(`${version} can be tagged, if the checks pass: bash .ci/run`);
    return EXIT.done;
  }
  if (spawnSync('bash', ['.ci/run'], { cwd: ROOT, stdio: 'inherit' }).status !== 0) return EXIT.failed;
  const text = readChangelog(changelog).sections[0]?.text ?? '';
  git(
    'tag',
    '--annotate',
    '--cleanup=verbatim',
    '--message',
    `tallyhouse ${version}\n\n${text}\n`,
    `v${version}`,
  );
  say(`Tagged v${version}. To publish it: git push origin v${version}, then npm publish.`);
  return EXIT.done;
}

const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, prepare: { type: 'boolean' } },
  allowPositionals: true,
});
const [version] = positionals;
if (positionals.length !== 1 || version === undefined || parse(version) === null) {
  process.stderr.write('npm run release -- VERSION [--dry-run | --prepare]\n');
  process.exitCode = EXIT.wrongCall;
} else {
  process.exitCode = values.prepare
    ? await prepare(version)
    : await release(version, values['dry-run'] ?? false);
}
