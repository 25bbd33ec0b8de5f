/**
 * Runs the README's test command, and then the further ring (`test/rings.ts`). Files in which something failed are run
 * once more, without the others beside them: random values are the same then (`test/support/property-seed.ts`), so what
 * passes failed by the moment, and is named.
 * Its last lines name each failure, and the very last one is `N passed, M failed`. Failed checks before it, which are
 * its arguments, are among both.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';

/** More than that is no matter of a moment. */
const FILES_AGAIN_MAX = 5;
const SLOWEST_SHOWN = 40;
const FAILURES_SHOWN = 30;
const MESSAGE_LINES_SHOWN = 6;

const directory = mkdtempSync(join(tmpdir(), 'tallyhouse-ci-'));

function runTests(name, command, files = []) {
  const report = join(directory, `${name}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const times = join(directory, `${name}.times`);
  const env = { ...process.env, TEST_TIMES_FILE: times };
  const { status } = spawnSync('npm', ['run', command, '--', ...reporters, ...files], {
    stdio: 'inherit',
    env,
  });
  try {
    const { numPassedTests, numFailedTests, success, testResults } = JSON.parse(readFileSync(report, 'utf8'));
    sayTimes(times);
    const failedFiles = [...new Set(testResults.filter(isFailed).map(({ name }) => name))];
    const elsewhere = testResults.filter(({ name }) => !failedFiles.includes(name));
    const passedElsewhere = elsewhere.flatMap((file) => file.assertionResults).filter(isPassed).length;
    const isGreen = status === 0 && success;
    const failed = isGreen ? 0 : Math.max(1, numFailedTests);
    const failures = testResults.flatMap(failuresOf);
    if (failures.length < failed) failures.push(`npm run ${command}: exit code ${status}, outside of tests`);
    return { passed: numPassedTests, failed, failedFiles, passedElsewhere, failures };
  } catch {
    const failures = [`npm run ${command}: exit code ${status}, without a report`];
    return { passed: 0, failed: 1, failedFiles: [], passedElsewhere: 0, failures };
  }
}

/** A line for each failed test of a file, or for the file if it could not be loaded, and the beginning of its message. */
function failuresOf(file) {
  const path = relative(process.cwd(), file.name);
  const failed = file.assertionResults.filter(isFailed);
  if (failed.length === 0 && isFailed(file)) return [`${path}\n${beginning(file.message)}`];
  return failed.map(
    ({ fullName, failureMessages }) => `${path} > ${fullName}\n${beginning(failureMessages.join('\n'))}`,
  );
}

function beginning(message) {
  const lines = message.split('\n').slice(0, MESSAGE_LINES_SHOWN);
  return lines.map((line) => `    ${line.slice(0, 300)}`).join('\n');
}

function say(line) {
  process.stdout.write(`${line}\n`);
}

/** What the suite takes: computing of each kind of test, and the files that take most of it (test/support/record-times.ts). */
function sayTimes(path) {
  if (!existsSync(path)) return;
  const files = readFileSync(path, 'utf8').trimEnd().split('\n').map(readTimes);
  say('\n== Computing: seconds of a core, in the processes of the tests and in programs that they start');
  for (const kind of new Set(files.map(({ kind }) => kind))) {
    const of = files.filter((file) => file.kind === kind);
    const [own, started] = [sum(of.map(({ own }) => own)), sum(of.map(({ started }) => started))];
    say(`${seconds(own)} s ${seconds(started)} s  ${kind}: ${of.length} files`);
  }
  say(`\n== The files that take most: computing, and seconds that pass, side by side with others`);
  for (const file of files.toSorted((a, b) => b.computed - a.computed).slice(0, SLOWEST_SHOWN)) {
    say(`${seconds(file.computed)} s ${seconds(file.seconds)} s  ${file.path}`);
  }
}

function readTimes(line) {
  const times = JSON.parse(line);
  const path = relative(process.cwd(), times.file);
  return {
    ...times,
    path,
    kind: `${path.split(sep)[1]}${times.isOverHttp ? ', ClickHouse over HTTP' : ''}`,
    computed: times.own + times.started,
  };
}

function sum(numbers) {
  return numbers.reduce((all, each) => all + each, 0);
}

function seconds(number) {
  return number.toFixed(1).padStart(8);
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

function runRing(ring) {
  const name = ring.replace(':', '-');
  const all = runTests(name, ring);
  const { failedFiles } = all;
  if (failedFiles.length > 0) say(`\nFAILED AMONG ALL:\n${whatFailed(failedFiles)}`);
  if (failedFiles.length === 0 || failedFiles.length > FILES_AGAIN_MAX) return all;
  say(`\n== npm run ${ring}, of these files alone`);
  const again = runTests(`${name}-again`, ring, failedFiles);
  say(`\nFAILED ALONE AS WELL:\n${whatFailed(again.failedFiles) || '  none'}`);
  return { passed: all.passedElsewhere + again.passed, failed: again.failed, failures: again.failures };
}

const failures = process.argv.slice(2).map((check) => `check: ${check}`);
let [passed, failed] = [0, failures.length];
for (const ring of ['test', 'test:further']) {
  say(`\n== npm run ${ring}`);
  const outcome = runRing(ring);
  passed += outcome.passed;
  failed += outcome.failed;
  failures.push(...outcome.failures);
}
rmSync(directory, { recursive: true, force: true });
if (failures.length > 0) say(`\nFAILED:\n${failures.slice(0, FAILURES_SHOWN).join('\n')}`);
say(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
