/**
 * The image, built in two ways: by carrying out the steps of the Dockerfile in empty directories, which needs npm only,
 * and by buildah, which makes the base image from Debian and the Node of this machine.
 */
import { access, cp, mkdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Program, runCommand } from './child-process.ts';
import {
  CHECKOUT,
  environmentOf,
  type ImageConfig,
  readDockerfile,
  readImageConfig,
  type Stage,
} from './dockerfile.ts';

export interface BuiltImage {
  readonly config: ImageConfig;
  /** Where its root is on this machine. */
  readonly root: string;
  /** Runs a command in it, in the directory and with the environment that the image gives a process. */
  run(command: readonly string[], env: Readonly<Record<string, string>>): Program;
  remove(): Promise<void>;
}

/** Runs a command to its end. Throws, with what it printed, unless that is 0. */
async function run(command: string, args: readonly string[], env: Record<string, string>, cwd?: string) {
  const program = runCommand(command, args, { HOME: process.env.HOME ?? '/root', ...env }, cwd);
  const code = await program.ended;
  if (code === 0) return program.stdout();
  throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${program.stdout()}${program.stderr()}`);
}

/** Takes the place of the pinned base, which only a registry of images has. */
const BASE = 'localhost/node-base';

/** Packages come from npm's cache where they are in it. */
const NPM = { NPM_CONFIG_PREFER_OFFLINE: 'true', NPM_CONFIG_AUDIT: 'false', NPM_CONFIG_FUND: 'false' };

/** Carries out the steps of every stage below `directory`, which becomes one root for each. */
export async function carryOutDockerfile(directory: string): Promise<BuiltImage> {
  const stages = await readDockerfile();
  const rootOf = (name: string | null) => join(directory, name ?? 'image');
  for (const stage of stages) await carryOutStage(stage, rootOf);
  const config = await readImageConfig();
  const root = rootOf(null);
  return {
    config,
    root,
    run: ([command = '', ...args], env) =>
      // DATA_DIR of the image is an absolute path.
      runCommand(
        command,
        args,
        { ...config.env, DATA_DIR: join(root, 'data'), HOME: root, ...env },
        join(root, 'app'),
      ),
    remove: async () => {},
  };
}

async function carryOutStage({ name, steps }: Stage, rootOf: (name: string | null) => string): Promise<void> {
  const root = rootOf(name);
  let directory = root;
  let env: Record<string, string> = { ...NPM };
  const placeOf = (path: string) => join(path.startsWith('/') ? root : directory, path);
  for (const step of steps) {
    if (step.name === 'WORKDIR') {
      directory = join(root, step.text);
      await mkdir(directory, { recursive: true });
    } else if (step.name === 'ENV') {
      env = { ...env, ...environmentOf(step.text) };
    } else if (step.name === 'COPY') {
      await copy(step.text, placeOf, rootOf);
    } else if (step.name === 'RUN' && step.text.startsWith('npm ')) {
      await run('sh', ['-c', withoutCleaning(step.text)], env, directory);
    } else if (step.name === 'RUN') {
      const made = /^mkdir (\/\S+) && chown node:node \1$/.exec(step.text)?.[1];
      if (made === undefined) throw new Error(`a step that this test cannot carry out: RUN ${step.text}`);
      await mkdir(join(root, made));
    } else if (!['USER', 'VOLUME', 'EXPOSE', 'HEALTHCHECK', 'CMD'].includes(step.name)) {
      throw new Error(`a step that this test does not know: ${step.name} ${step.text}`);
    }
  }
}

/** The cache of this machine is not the image's. */
function withoutCleaning(command: string): string {
  return command.replace(' && npm cache clean --force', '');
}

/** Only what .dockerignore lets through is there to be copied. */
async function copy(
  text: string,
  placeOf: (path: string) => string,
  rootOf: (name: string | null) => string,
): Promise<void> {
  const [, from, rest = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(text) ?? [];
  const [to = '', ...names] = rest.split(' ').reverse();
  const given = (await readFile(join(CHECKOUT, '.dockerignore'), 'utf8')).split('\n');
  for (const name of names) {
    const [top = ''] = name.split('/');
    if (from === undefined && !given.includes(`!${top}`)) throw new Error(`.dockerignore hides ${name}`);
    const source = join(from === undefined ? CHECKOUT : rootOf(from), name);
    const target = to.endsWith('/') ? join(placeOf(to), basename(name)) : placeOf(to);
    await mkdir(dirname(target), { recursive: true });
    await cp(source, target, { recursive: true });
  }
}

/** Whether buildah and what makes a base for it are here, and the minutes that it takes are to be spent. */
export async function hasBuildah(): Promise<boolean> {
  const found = await Promise.all(['/usr/bin/buildah', '/usr/sbin/debootstrap'].map(isThere));
  return process.env.CI === 'true' && process.getuid?.() === 0 && found.every(Boolean);
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** Builds the Dockerfile with buildah. All of its files are below `directory`. */
export async function buildWithBuildah(directory: string): Promise<BuiltImage> {
  const base = join(directory, 'base');
  await makeBase(base);
  const store = [
    '--storage-driver',
    'vfs',
    '--root',
    join(directory, 'store'),
    '--runroot',
    join(directory, 'run'),
  ];
  const buildah = async (...args: string[]) => (await run('buildah', [...store, ...args], {})).trim();
  const empty = await buildah('from', 'scratch');
  await buildah('copy', '--quiet', empty, base, '/');
  await buildah('commit', '--quiet', '--rm', empty, BASE);
  await buildah(
    'build',
    '--isolation',
    'chroot',
    '--pull-never',
    '--build-arg',
    `NODE_IMAGE=${BASE}`,
    '--format',
    'docker',
    '--tag',
    'tallyhouse',
    CHECKOUT,
  );
  const container = await buildah('from', '--pull-never', 'localhost/tallyhouse');
  const root = await buildah('mount', container);
  const config = await readImageConfig();
  return {
    config,
    root,
    // A signal to `buildah run` would not reach the process.
    run: (command, env) =>
      runCommand(
        'chroot',
        ['--userspec=node:node', root, 'sh', '-c', 'cd /app && exec "$@"', 'sh', ...command],
        { ...config.env, HOME: '/home/node', ...env },
      ),
    remove: async () => {
      await buildah('umount', container);
      await buildah('rm', '--all');
      await buildah('rmi', '--all', '--force');
    },
  };
}

/** A Debian with the Node and npm of this machine, and an account `node`, as the official image has them. */
async function makeBase(base: string): Promise<void> {
  const release = await readFile('/etc/os-release', 'utf8');
  const suite = /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1] ?? 'stable';
  await run('debootstrap', ['--variant=minbase', suite, base], {});
  const npm = (await run('npm', ['root', '--global'], {})).trim();
  await cp(process.execPath, join(base, 'usr/bin/node'));
  await cp(join(npm, 'npm'), join(base, 'usr/lib/node_modules/npm'), { recursive: true });
  // How this machine reaches the registry.
  const settings = (await run('npm', ['config', 'get', 'globalconfig'], {})).trim();
  for (const path of [settings, '/etc/ssl/certs/ca-certificates.crt']) {
    if (await isThere(path)) await cp(path, join(base, path));
  }
  await run('chroot', [base, 'ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', '/usr/bin/npm'], {});
  await run('chroot', [base, 'useradd', '--create-home', '--uid', '1000', 'node'], {});
}
