/**
 * Brings the viewer of the API reference into vendor/: one file of the package below, which is no dependency because its
 * tree of packages is 81 MB. Run it after a change of the version; it takes nothing but a file with the checksums that
 * stand in vendor/api-reference/vendored.json. With --accept it writes the checksums of what it has found there.
 *
 * The file is kept compressed, and its licence beside it. The build unpacks it (scripts/build.mjs).
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

const folder = resolve(fileURLToPath(new URL('../vendor/api-reference', import.meta.url)));
const recordPath = join(folder, 'vendored.json');
const record = JSON.parse(readFileSync(recordPath, 'utf8'));
const checksum = (algorithm, bytes) => `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`;

const work = mkdtempSync(join(tmpdir(), 'tallyhouse-vendor-'));
try {
  const run = (program, ...parameters) => execFileSync(program, parameters, { cwd: work, encoding: 'utf8' });
  const archive = run('npm', 'pack', '--silent', `${record.package}@${record.version}`).trim();
  run('tar', 'xzf', archive, `package/${record.file}`);
  const bytes = readFileSync(join(work, 'package', record.file));
  const found = {
    packageIntegrity: checksum('sha512', readFileSync(join(work, archive))),
    fileIntegrity: checksum('sha384', bytes),
  };
  for (const [name, value] of Object.entries(found)) {
    if (record[name] !== value && !process.argv.includes('--accept')) {
      throw new Error(`${name} is ${value}, not ${record[name]}: it is another file`);
    }
  }
  writeFileSync(
    join(folder, 'standalone.js.br'),
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      },
    }),
  );
  writeFileSync(recordPath, `${JSON.stringify({ ...record, ...found }, null, 2)}\n`);
} catch (error) {
  process.stderr.write(`${error}\n`);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
