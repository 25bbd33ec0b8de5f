/**
 * Runs the README's test command. Files in which something failed are run once more, without the others beside them:
 * random values are the same then (`test/support/property-seed.ts`), so what passes failed by the moment, and is named.
 * Prints `N passed, M failed`, to which failed checks before it are added: their number is the argument.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** More than that is no matter of a moment. */
const FILES_AGAIN_MAX = 5;
const SLOWEST_SHOWN = 40;

const directory = mkdtempSync(join(tmpdir(), 'tallyhouse-ci-'));

function runTests(name, files) {
  const report = join(directory, `${name}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { status } = spawnSync('npm', ['test', '--', ...reporters, ...files], { stdio: 'inherit' });
  try {
    const { numPassedTests, numFailedTests, success, testResults } = JSON.parse(readFileSync(report, 'utf8'));
    saySlowest(testResults);
    const failedFiles = [...new Set(testResults.filter(isFailed).map(({ name }) => name))];
    const elsewhere = testResults.filter(({ name }) => !failedFiles.includes(name));
    const passedElsewhere = elsewhere.flatMap((file) => file.assertionResults).filter(isPassed).length;
    const isGreen = status === 0 && success;
    const failed = isGreen ? 0 : Math.max(1, numFailedTests);
    return { passed: numPassedTests, failed, failedFiles, passedElsewhere };
  } catch {
    return { passed: 0, failed: 1, failedFiles: [], passedElsewhere: 0 };
  }
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

/** Where the time of the suite goes: the files that take most of it, in seconds. */
function saySlowest(files) {
  const took = files.map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1000 }));
  const sum = took.reduce((all, { seconds }) => all + seconds, 0);
  say(`\n== Slowest of ${took.length} files, which took ${sum.toFixed(0)} s, some of them side by side`);
  for (const { name, seconds } of took.sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_SHOWN)) {
    say(`${seconds.toFixed(1).padStart(7)} s  ${relative(process.cwd(), name)}`);
  }
}

function isFailed({ status }) {
  return status === 'failed';
}

function isPassed({ status }) {
  return status === 'passed';
}

function whatFailed(files) {
  return files.map((file) => `  ${file}`).join('\n');
}

const failedChecks = Number(process.argv[2] ?? 0);
const all = runTests('all', []);
let { passed, failed } = all;
const { failedFiles } = all;
if (failedFiles.length > 0) say(`\nFAILED AMONG ALL:\n${whatFailed(failedFiles)}`);
if (failedFiles.length > 0 && failedFiles.length <= FILES_AGAIN_MAX) {
  say('\n== npm test, of these files alone');
  const again = runTests('again', failedFiles);
  passed = all.passedElsewhere + again.passed;
  failed = again.failed;
  say(`\nFAILED ALONE AS WELL:\n${whatFailed(again.failedFiles) || '  none'}`);
}
rmSync(directory, { recursive: true, force: true });
failed += failedChecks;
say(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
