/** The lines of the Dockerfile, where nothing can build it: what they take is there, and what the service needs they take. */
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { CHECKOUT, readDockerfile, readImageConfig } from '../support/dockerfile.ts';

const read = (file: string) => readFile(join(CHECKOUT, file), 'utf8');
const text = await read('Dockerfile');
const stages = await readDockerfile();
const copied = (stage: (typeof stages)[number]) =>
  stage.steps
    .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from='))
    .flatMap(({ text }) => text.split(' ').slice(0, -1));

it('every stage is from the one base, which a digest pins and a build argument replaces', () => {
  const [, base] = /^ARG NODE_IMAGE=(\S+)$/m.exec(text) ?? [];
  expect(base).toMatch(/^node:\d+\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}$/);
  const sources = [...text.matchAll(/^FROM (?:--platform=\$BUILDPLATFORM )?(\S+)/gm)].map(
    ([, source]) => source,
  );
  const given = '$' + '{NODE_IMAGE}';
  expect(sources).toEqual([given, given]);
  // The stage that builds has no machine code; the image itself is of the requested platform.
  expect(/^FROM --platform.* AS build$/m.test(text)).toBe(true);
  expect(/^FROM \$\{NODE_IMAGE\}$/m.test(text)).toBe(true);
});

it('everything that is copied is there and reaches the build, and nothing else does', async () => {
  const names = [...new Set(stages.flatMap(copied))];
  for (const name of names) await expect(access(join(CHECKOUT, name))).resolves.toBeUndefined();
  const letThrough = (await read('.dockerignore'))
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  expect([...new Set(names.map((name) => name.split('/')[0]))].sort()).toEqual(letThrough.sort());
});

it('the image has what the package has to run, as an account without rights, at the places that it states', async () => {
  const image = stages.at(-1);
  if (image === undefined) throw new Error('the Dockerfile has no stage');
  const { files } = z.object({ files: z.array(z.string()) }).parse(JSON.parse(await read('package.json')));
  const folders = files.map((file) => file.split('/')[0]).filter((top) => /^[a-z]+$/.test(top ?? ''));
  const inImage = image.steps.filter(({ name }) => name === 'COPY').map(({ text }) => text);
  for (const folder of new Set(folders)) {
    expect(inImage.some((each) => each.endsWith(` ./${folder}`))).toBe(true);
  }
  const { env } = await readImageConfig();
  const textOf = (name: string) => image.steps.find((step) => step.name === name)?.text;
  expect([textOf('USER'), textOf('VOLUME'), textOf('EXPOSE')]).toEqual(['node', env.DATA_DIR, env.PORT]);
});

it('the image starts the service as npm start does, and builds with what is committed', async () => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(await read('package.json')));
  const { command } = await readImageConfig();
  expect(scripts.start).toContain(`exec ${command.join(' ')}`);
  const runs = stages.flatMap(({ steps }) => steps).filter(({ name }) => name === 'RUN');
  const npm = runs.flatMap(({ text }) => text.split(' && ')).filter((each) => each.startsWith('npm '));
  for (const each of npm) {
    const script = /^npm run (\S+)$/.exec(each)?.[1];
    expect(script === undefined ? /^npm (?:ci|cache) /.test(`${each} `) : script in scripts).toBe(true);
  }
  expect(npm).toContain('npm run build');
});
