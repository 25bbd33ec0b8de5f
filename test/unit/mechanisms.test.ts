/** Mechanisms outside src/runtime/ are refused by `npm run floors` (docs/explanation/architecture.md, "Mechanisms"). */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { brokenRules, mechanismProblems } from '../../scripts/mechanisms.ts';

const folder = await mkdtemp(join(tmpdir(), 'mechanisms-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the check of mechanisms', () => {
  it.each([
    ['setInterval(look, 1_000);', ['interval']],
    ['setTimeout(look, 1_000);', []],
    ["import { AsyncLocalStorage } from 'node:async_hooks';", ['scope']],
    ['let last = work; function add(next) { last = last.then(next); }', ['chain', 'state']],
    ['class Queue { #last; add(next) { const run = this.#last.then(next); this.#last = run; } }', ['chain']],
    ['async function one(work) { const done = work.then(noResult); await done; }', []],
    ['export let count = 0;', ['state']],
    ['// biome-ignore lint/complexity/noExcessiveLinesPerFunction: short\nfunction f() {}', ['length']],
    [
      '// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: plain\nfunction f() {}',
      ['complexity'],
    ],
    ['const known = new WeakMap(); export const note = (key) => known.set(key, 1);', ['state']],
    ['export const known = createCache({ sizeMax: 10 });', ['state']],
    ['const queue = createSerialQueue(), later = 1;', ['state']],
    ['const poll = createPoll(options);', ['state']],
    ['const reads = createBatcher<Key, Row>(options);', ['state']],
    ["const KEY = createScopeKey<string>('request');", []],
    ['const indexOf = perObject(createIndex);', []],
    ['export function create() { const queue = createSerialQueue(); return queue; }', []],
    ['const KNOWN = new Set(["a"]); export const has = (key) => KNOWN.has(key);', []],
    ['export function create() { const known = new Map(); return { add: (key) => known.set(key, 1) }; }', []],
  ])('a source %j breaks the rules of mechanisms %j', (source, rules) => {
    expect(brokenRules('src/jobs/file.ts', source)).toEqual(rules);
  });

  it('mechanisms are refused outside src/runtime/, but for exceptions that are still needed', async () => {
    const files = ['src/runtime/poll.ts', 'src/jobs/planted.ts', 'src/jobs/allowed.ts', 'src/jobs/plain.ts'];
    for (const file of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), file.includes('plain') ? 'f();\n' : 'setInterval(f, 1);\n');
    }
    const exceptions = { interval: ['src/jobs/allowed.ts', 'src/jobs/plain.ts'] };
    expect(await mechanismProblems(folder, exceptions)).toEqual([
      '"interval src/jobs/plain.ts" is no exception any more: remove it from scripts/mechanisms.json',
      'src/jobs/planted.ts repeats work by setInterval: use createPoll of src/runtime/poll.ts',
    ]);
  });
});
