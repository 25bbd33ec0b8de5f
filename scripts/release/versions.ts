/** The places that state the version of the product. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Place {
  readonly file: string;
  /** With the version as its second group. */
  readonly pattern: RegExp;
}

const PLACES: readonly Place[] = [
  { file: 'package.json', pattern: /^(\{\n {2}"name": "tallyhouse",\n {2}"version": ")([^"]+)/ },
  { file: 'package-lock.json', pattern: /^(\{\n {2}"name": "tallyhouse",\n {2}"version": ")([^"]+)/ },
  { file: 'package-lock.json', pattern: /("": \{\n {6}"name": "tallyhouse",\n {6}"version": ")([^"]+)/ },
  { file: 'deploy/helm/tallyhouse/Chart.yaml', pattern: /(^version: )(\S+)/m },
  { file: 'deploy/helm/tallyhouse/Chart.yaml', pattern: /(^appVersion: ")([^"]+)/m },
];

/** The version at each place, by its file. */
export async function statedVersions(
  root: string,
): Promise<ReadonlyArray<{ readonly file: string; readonly version: string }>> {
  return await Promise.all(
    PLACES.map(async ({ file, pattern }) => {
      const [, , version] = pattern.exec(await readFile(join(root, file), 'utf8')) ?? [];
      if (version === undefined) throw new Error(`${file} states no version`);
      return { file, version };
    }),
  );
}

export async function writeVersions(root: string, version: string): Promise<void> {
  for (const { file, pattern } of PLACES) {
    const text = await readFile(join(root, file), 'utf8');
    await writeFile(join(root, file), text.replace(pattern, `$1${version}`));
  }
}
