/** The shell blocks of a page that a reader runs, each with its expected output if the page shows it. */
import { spawn } from 'node:child_process';

export interface ShownBlock {
  readonly commands: string;
  readonly printed: string | undefined;
}

export function shownBlocks(page: string): readonly ShownBlock[] {
  return [...page.matchAll(/```sh\n([\s\S]*?)```\n(?:```(?:json)?\n([\s\S]*?)```)?/g)].map(
    ([, commands = '', printed]) => ({ commands, printed }),
  );
}

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  /** Exit status, or the signal that ended it. */
  readonly ended: number | string | null;
}

/** The service runs in the process of the test, so the shell must not block it. */
export function runShell(script: string, directory: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const shell = spawn('bash', ['-c', script], { cwd: directory });
    let [stdout, stderr] = ['', ''];
    shell.stdout.on('data', (chunk) => (stdout += String(chunk)));
    shell.stderr.on('data', (chunk) => (stderr += String(chunk)));
    shell.on('error', reject);
    shell.on('close', (status, signal) => resolve({ stdout, stderr, ended: signal ?? status }));
  });
}

const END_OF_BLOCK = '-- end of block --';

/** Runs the commands of all blocks in one shell, with what a reader would have to replace, and returns what each printed. */
export async function runBlocks(
  commands: readonly string[],
  directory: string,
  replaced: Readonly<Record<string, string>>,
): Promise<Ran & { readonly outputs: readonly string[] }> {
  let script = commands.map((each) => `${each}\necho '${END_OF_BLOCK}'\n`).join('');
  for (const [text, value] of Object.entries(replaced)) script = script.replace(text, value);
  const ran = await runShell(script, directory);
  return { ...ran, outputs: ran.stdout.split(`${END_OF_BLOCK}\n`).slice(0, -1) };
}
