/** The package as `npm pack` makes it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { runCommand } from './child-process.ts';

const ROOT = join(import.meta.dirname, '../..');

const described = z.object({
  filename: z.string(),
  size: z.number(),
  unpackedSize: z.number(),
  files: z.array(z.object({ path: z.string(), size: z.number(), mode: z.number() })),
});
export type Packed = z.output<typeof described>;

/** Writes it into `directory`. */
export async function packInto(directory: string): Promise<Packed> {
  const args = ['pack', '--json', '--silent', '--pack-destination', directory];
  const program = runCommand('npm', args, { HOME: process.env.HOME ?? '/root' });
  const code = await program.ended;
  if (code !== 0) throw new Error(`npm pack ended with ${code}: ${program.stderr()}`);
  // The output of scripts stands before the list; newer versions of npm name the package.
  const [, text = ''] = /^([[{][\s\S]*)$/m.exec(program.stdout()) ?? [];
  const answer: unknown = JSON.parse(text);
  return described.parse(
    Object.values(z.record(z.string(), z.unknown()).or(z.array(z.unknown())).parse(answer))[0],
  );
}

const lock = z.object({
  packages: z.record(z.string(), z.object({ dev: z.boolean().optional(), link: z.boolean().optional() })),
});

/** Names of the packages that an installation without development packages has at its top. */
export async function productionPackages(): Promise<string[]> {
  const { packages } = lock.parse(JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')));
  return Object.entries(packages).flatMap(([path, { dev }]) => {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
    return name === undefined || dev === true ? [] : [name];
  });
}
