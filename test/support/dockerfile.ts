/** The Dockerfile as data, for the tests that carry out its steps and that read it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

export const CHECKOUT = join(import.meta.dirname, '../..');

/** One instruction: its name, such as `COPY`, and the text after it, with continued lines joined. */
interface Step {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  /** Null for the last one, which is the image. */
  readonly name: string | null;
  readonly steps: readonly Step[];
}

export async function readDockerfile(): Promise<readonly Stage[]> {
  const text = await readFile(join(CHECKOUT, 'Dockerfile'), 'utf8');
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  const stages: Array<{ name: string | null; steps: Step[] }> = [];
  for (const line of lines.filter((each) => each.trim() !== '')) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (name === 'FROM') stages.push({ name: / AS (\w+)$/.exec(rest)?.[1] ?? null, steps: [] });
    else stages.at(-1)?.steps.push({ name, text: rest });
  }
  return stages;
}

/** The settings of the image for the process in it. */
export interface ImageConfig {
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

export async function readImageConfig(): Promise<ImageConfig> {
  const steps = (await readDockerfile()).at(-1)?.steps ?? [];
  const textsOf = (name: string) => steps.filter((step) => step.name === name).map(({ text }) => text);
  const list = z.array(z.string());
  return {
    env: Object.assign({}, ...textsOf('ENV').map(environmentOf)) as Record<string, string>,
    command: list.parse(JSON.parse(textsOf('CMD').join(''))),
    healthCheck: list.parse(
      JSON.parse(
        textsOf('HEALTHCHECK')
          .join('')
          .replace(/^.*? CMD /, ''),
      ),
    ),
  };
}

/** The values of `ENV A=x B=y`. */
export function environmentOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(' ').map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}
