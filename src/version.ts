/** The version of the service, as package.json has it. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const packageJson = z.object({ version: z.string() });

/** package.json stands one level above this file, in src/ as in dist/. */
export const VERSION = packageJson.parse(
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')),
).version;
