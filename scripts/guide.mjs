/**
 * Builds docs/ into guide/site/, which the service shows at /guide. With --if-needed it does nothing when guide/ was
 * built from exactly the present pages. It is a step of `npm run build` and of the package, and none of `npm start`: it
 * takes longer than all of the rest, and the service runs without it.
 *
 * The pages of the generator have scripts and styles in themselves. They are moved into files, so that the policy of the
 * guide is that of the console. A link to a page that is not there fails the build.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'guide', '.built-from');

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function sourcesHash() {
  const hash = createHash('sha256');
  const others = ['CHANGELOG.md', 'package.json', 'scripts/guide.mjs'].map((name) => join(root, name));
  for (const path of [...filesBelow(join(root, 'docs')), ...others]) {
    hash
      .update(`${path.slice(root.length)}\0`)
      .update(readFileSync(path))
      .update('\0');
  }
  return hash.digest('hex');
}

/** From a copy, because the generator writes beside its sources: two builds at once would have the same place. */
function generate(directory) {
  cpSync(join(root, 'docs'), join(directory, 'docs'), { recursive: true });
  cpSync(join(root, 'CHANGELOG.md'), join(directory, 'CHANGELOG.md'));
  // The front page can name files of this folder only.
  cpSync(join(root, 'docs/images/invoice.jpg'), join(directory, 'docs/public/invoice.jpg'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/vitepress/bin/vitepress.js'), 'build', join(directory, 'docs')],
    {
      cwd: root,
      encoding: 'utf8',
      env: {
        ...process.env,
        GUIDE_OUT: join(directory, 'site'),
        GUIDE_VERSION: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
        GUIDE_CACHE: join(directory, 'cache'),
        GUIDE_BUNDLED: join(directory, 'bundled.json'),
      },
    },
  );
  if (status !== 0) throw new Error(`the guide cannot be built:\n${stdout}${stderr}`);
}

function withFilesForScripts(html, site) {
  return html
    .replaceAll(/<script([^>]*)>([^<][\s\S]*?)<\/script>/g, (_, attributes, code) => {
      const name = `assets/inline.${createHash('sha256').update(code).digest('hex').slice(0, 8)}.js`;
      writeFileSync(join(site, name), code);
      return `<script${attributes} src="/guide/${name}"></script>`;
    })
    .replaceAll(/ style="[^"]*"/g, '');
}

function build(fresh) {
  generate(fresh);
  const site = join(fresh, 'site');
  rmSync(join(site, 'hashmap.json'), { force: true });
  for (const path of filesBelow(site).filter((each) => each.endsWith('.html'))) {
    writeFileSync(path, withFilesForScripts(readFileSync(path, 'utf8'), site));
  }
  for (const name of ['docs', 'cache', 'CHANGELOG.md', 'package.json']) {
    rmSync(join(fresh, name), { recursive: true, force: true });
  }
  writeFileSync(join(fresh, '.built-from'), hash);
  rmSync(join(root, 'guide'), { recursive: true, force: true });
  renameSync(fresh, join(root, 'guide'));
}

const hash = sourcesHash();
const isCurrent = existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
if (!(process.argv.includes('--if-needed') && isCurrent)) {
  const fresh = join(root, `guide.${process.pid}`);
  mkdirSync(fresh);
  try {
    build(fresh);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
