/** The version of the service, as package.json has it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { PACKAGE_ROOT } from './core/package-root.ts';

const packageJson = z.object({ version: z.string() });

export const VERSION = packageJson.parse(
  JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')),
).version;
