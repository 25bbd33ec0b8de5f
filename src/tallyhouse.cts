#!/usr/bin/env -S node --max-semi-space-size=64 --heap-growing-percent=100 --no-allocation-site-pretenuring
/**
 * The command `tallyhouse`. Some settings of the process must be set before anything is loaded, so this is a CommonJS
 * file. Settings of the operator stay: the environment first, then the file with settings.
 */
const { statSync }: typeof import('node:fs') = require('node:fs');
const { totalmem }: typeof import('node:os') = require('node:os');

/**
 * A call that names a file reads that file. The name stands before `--`, after which nothing is an option. Node 20
 * reads the option itself as well, before this file, and ends with 9 where there is no such file.
 */
function environmentFile(args: readonly string[]): string | undefined {
  const options = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  const at = options.findLastIndex((each) => each === '--env-file' || each.startsWith('--env-file='));
  const option = options[at];
  if (option === undefined) return undefined;
  return option === '--env-file' ? options[at + 1] : option.slice('--env-file='.length);
}

/** Whether the program can continue. Variables that are set, also to nothing, are not changed. */
function readEnvironmentFile(): boolean {
  const named = environmentFile(process.argv.slice(2));
  // Nobody has to have a file .env, and a folder of that name is something else.
  if (named === undefined && statSync('.env', { throwIfNoEntry: false })?.isFile() !== true) return true;
  try {
    process.loadEnvFile(named ?? '.env');
    return true;
  } catch (error) {
    process.stderr.write(`tallyhouse: the settings of ${named ?? '.env'} cannot be read: ${String(error)}\n`);
    process.exitCode = 2;
    return false;
  }
}

const LITTLE_MEMORY_BYTES = 4 * 1024 ** 3;

/** The memory of the machine, or of its container. */
function hasLittleMemory(): boolean {
  const constrained = process.constrainedMemory();
  return Math.min(constrained > 0 ? constrained : totalmem(), totalmem()) < LITTLE_MEMORY_BYTES;
}

if (readEnvironmentFile()) {
  // The embedded ClickHouse runs its queries on Node's worker threads. Node fixes their number, four by default, the first
  // time one is used, which loading an ES module already does. An empty text would be one thread.
  process.env.UV_THREADPOOL_SIZE ||= '16';

  // How the allocator of the embedded ClickHouse keeps memory. Queries and merges need the same large buffers again and
  // again: pages that are free stay for 20 seconds instead of five, and are fetched by two megabytes instead of four
  // kilobytes where the system allows it. A page that was given back costs a fault when it is needed again.
  // Where there is little memory, as in a small container, they are given back at once.
  process.env.JE_MALLOC_CONF ||= hasLittleMemory()
    ? 'thp:default,dirty_decay_ms:500,muzzy_decay_ms:0'
    : 'thp:always,dirty_decay_ms:20000';

  import('./app/cli/main.js').catch((error: unknown) => {
    process.stderr.write(`tallyhouse: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = 1;
  });
}
