/** `npm run reference`: writes the pages of docs/reference/. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PACKAGE_ROOT } from '../src/core/package-root.ts';
import { referencePages } from './reference/pages.ts';

for (const [path, text] of referencePages()) {
  const file = join(PACKAGE_ROOT, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
