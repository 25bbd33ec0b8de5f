/**
 * Checks answers against the declarations of the official client, with the compiler: a program is written that has every
 * answer as a literal, and for each a line that compiles only if the answer is of the type that the client declares.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The answer to one call of the client, such as `client.v1.customers.list`. */
export interface ClientAnswer {
  readonly call: string;
  /** JSON. */
  readonly text: string;
}

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

const HEAD = `import type Metronome from '@metronome/sdk';

/**
 * The answer of a call; for a list one page, whose \`next_page\` is null at the end. Calls that the client declares
 * without an answer may return an object.
 */
type Answer<Call> = Call extends (...args: never[]) => PromiseLike<infer Result>
  ? Result extends void ? { readonly other?: never } & Record<string, unknown>
  : Result extends { data: infer Items; getPaginatedItems: unknown }
    ? { data: Items; next_page: string | null }
    : Result
  : never;

type Mutable<Value> = Value extends object
  ? { -readonly [Name in keyof Value]: Mutable<Value[Name]> }
  : Value;

declare function fits<Expected, Actual extends Expected>(): Actual;
`;

const OPTIONS = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
  types: [],
};

/** The errors of the compiler; empty where every answer fits. Reads the declarations once for all. */
export async function misfits(answers: readonly ClientAnswer[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'client-answers-'));
  try {
    await symlink(MODULES, join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'answers.ts'), programOf(answers));
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: OPTIONS, files: ['answers.ts'] }),
    );
    const compiler = join(MODULES, 'typescript/bin/tsc');
    await promisify(execFile)(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], {
      maxBuffer: 64_000_000,
    });
    return '';
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'stdout' in error) return String(error.stdout);
    throw error;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function programOf(answers: readonly ClientAnswer[]): string {
  const calls = [...new Set(answers.map(({ call }) => call))];
  const number = new Map(calls.map((call, index) => [call, index]));
  const types = calls.map(
    (call) => `type ${name(call)}${number.get(call)} = Answer<Metronome${path(call)}>;`,
  );
  // A type that everything fits would check nothing.
  const controls = calls.map(
    (call) => `// @ts-expect-error\nfits<${name(call)}${number.get(call)}, { readonly other: 'answer' }>();`,
  );
  const checks = answers.map(
    ({ call, text }, index) =>
      `const answer${index} = ${text} as const;\nfits<${name(call)}${number.get(call)}, Mutable<typeof answer${index}>>();`,
  );
  return [HEAD, ...types, ...controls, ...checks, ''].join('\n');
}

/** For messages of the compiler. */
function name(call: string): string {
  return call.slice('client.'.length).replaceAll('.', '_');
}

function path(call: string): string {
  return call
    .split('.')
    .slice(1)
    .map((part) => `['${part}']`)
    .join('');
}
