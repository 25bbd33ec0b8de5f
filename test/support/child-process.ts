/** Starts programs of the project as child processes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildSync } from 'esbuild';

export interface Program {
  readonly child: ChildProcess;
  /** Everything printed so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves when standard output contains `text`; rejects when the program ends before. */
  said(text: string): Promise<void>;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

const root = join(import.meta.dirname, '../..');

/** The end of what a start that has failed says. */
export const DOCTOR_LINE = 'tallyhouse: run "tallyhouse doctor" (npm run doctor) to see what is wrong\n';

let isBuilt: boolean | undefined;

/** Runs the built file if it is up to date, which starts three times as fast. */
function nodeArguments(file: string): string[] {
  isBuilt ??= spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), '--check']).status === 0;
  if (!isBuilt || !file.endsWith('.ts')) return ['--import', 'tsx', join(root, file)];
  if (file.startsWith('src/')) return [join(root, file.replace(/^src/, 'dist').replace(/\.ts$/, '.js'))];
  return [bundleOf(file)];
}

/** Where packages are found from. */
const BUNDLES = join(root, 'node_modules/.cache/tallyhouse-test-programs');
const bundles = new Map<string, string>();

/**
 * A program of the tests in one file, built once in a process: started for the first time it takes as long as from its
 * source, and half of that afterwards. Threads that it starts are those of dist/.
 */
function bundleOf(file: string): string {
  const known = bundles.get(file);
  if (known !== undefined) return known;
  const { outputFiles } = buildSync({
    ...{ entryPoints: [join(root, file)], bundle: true, packages: 'external', write: false },
    ...{ platform: 'node', target: 'node20', format: 'esm' },
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`${file} could not be built`);
  // Other processes may build the same at the same time.
  mkdirSync(BUNDLES, { recursive: true });
  const path = join(BUNDLES, `${basename(file, '.ts')}-${output.hash.replace(/\W/g, '')}.js`);
  writeFileSync(`${path}.${process.pid}`, output.contents);
  renameSync(`${path}.${process.pid}`, path);
  bundles.set(file, path);
  return path;
}

/**
 * Runs a TypeScript file of the checkout, with nothing of this environment but what is given. `preload` is a
 * module that runs before it.
 */
export function runProgram(
  file: string,
  args: readonly string[],
  env: Record<string, string> = {},
  preload: string | null = null,
): Program {
  const before = preload === null ? [] : ['--import', join(root, preload)];
  return runCommand(process.execPath, [...before, ...nodeArguments(file), ...args], env);
}

/** The command that runs a TypeScript file of the checkout. */
export function commandOf(file: string): string[] {
  return [process.execPath, ...nodeArguments(file)];
}

/** Runs any command, in the checkout unless `cwd` is given, with nothing of this environment but what is given. */
export function runCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string = root,
): Program {
  const child = spawn(command, [...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stderr.on('data', (chunk) => {
    err += String(chunk);
  });
  const listeners = new Set<() => void>();
  child.stdout.on('data', (chunk) => {
    out += String(chunk);
    for (const listener of listeners) listener();
  });
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  const said = async (text: string) => {
    const heard = new Promise<void>((resolve) => {
      const listen = () => out.includes(text) && resolve();
      listeners.add(listen);
      listen();
    });
    const early = ended.then((how) => {
      if (!out.includes(text)) throw new Error(`ended with ${how} before saying "${text}": ${err}`);
    });
    await Promise.race([heard, early]);
  };
  return { child, stdout: () => out, stderr: () => err, said, ended };
}

/** True while a process has this number and has not ended. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
