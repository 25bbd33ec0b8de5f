/** The texts of the licences of what is installed with the package and of what is in its files. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { BundledPackage } from './bundled.ts';
import { ROOT, type ThirdPartyPackage } from './lock.ts';

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice|unlicense)(?:[.-].*)?$/i;
const RULE = '-'.repeat(80);

interface Licensed {
  readonly title: string;
  readonly licence: string;
  readonly texts: readonly string[];
}

export async function licenceList(
  installed: readonly ThirdPartyPackage[],
  bundled: readonly BundledPackage[],
): Promise<string> {
  const all = [...(await Promise.all(installed.map(ofInstalled))), ...bundled.map(ofBundled)];
  const byTitle = new Map(all.map((each) => [each.title, each]));
  const sorted = [...byTitle.values()].sort((a, b) => (a.title < b.title ? -1 : 1));
  return `${HEAD}\n${sorted.map(section).join('\n')}`;
}

const HEAD = `tallyhouse is under the Apache License 2.0 (LICENSE). It is installed with the packages below, and its files
under dist/ and guide/ have parts of those that are marked so. Packages of other platforms are named without their text.
`;

function section({ title, licence, texts }: Licensed): string {
  return [RULE, title, `Licence: ${licence}`, '', ...texts.map((text) => `${text}\n`)].join('\n');
}

async function ofInstalled({ name, version, licence, path }: ThirdPartyPackage): Promise<Licensed> {
  const title = `${name} ${version}`;
  const folder = join(ROOT, path);
  const files = await readdir(folder).catch(() => null);
  if (files === null) {
    return { title, licence: licence ?? 'as of its other platforms', texts: ['Of another platform.'] };
  }
  const texts = files
    .filter((file) => LICENCE_FILE.test(file))
    .sort()
    .map(async (file) => (await readFile(join(folder, file), 'utf8')).trim());
  return {
    title,
    licence: licence ?? (await statedLicence(folder)) ?? 'as its text says',
    texts: await Promise.all(texts),
  };
}

const stated = z.object({
  license: z.string().optional(),
  licenses: z.array(z.object({ type: z.string() })).optional(),
});

/** Older packages have a list, which lockfiles leave out. */
async function statedLicence(folder: string): Promise<string | undefined> {
  const { license, licenses } = stated.parse(
    JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')),
  );
  return license ?? licenses?.map(({ type }) => type).join(' OR ');
}

function ofBundled({ name, version, identifier, text, where }: BundledPackage): Licensed {
  return {
    title: `${name} ${version} (in ${where})`,
    licence: identifier ?? 'as its text says',
    texts: text === null ? [] : [text.trim()],
  };
}
