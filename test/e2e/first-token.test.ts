/** The token of the first start, which commands find in DATA_DIR/api-token. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Program, runProgram } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';

let env: { readonly DATA_DIR: string; readonly LOG_LEVEL: string; readonly PORT: string };
let service: Program;
let url: string;
beforeAll(async () => {
  env = { DATA_DIR: await createDataDirectory(), LOG_LEVEL: 'fatal', PORT: '0' };
  service = runProgram('src/main.ts', [], env);
  await service.said('shown only this once');
  url = /ready at (\S+)/.exec(service.stdout())?.[1] ?? '';
});
afterAll(async () => {
  service.child.kill('SIGKILL');
  await service.ended;
});

const keptToken = async () => (await readFile(join(env.DATA_DIR, 'api-token'), 'utf8')).trim();

async function run(...args: readonly string[]) {
  const command = runProgram('src/app/cli/main.ts', args, { ...env, PORT: new URL(url).port });
  return { code: await command.ended, stdout: command.stdout(), stderr: command.stderr() };
}
const ask = () => run('sql', 'SELECT count(*) AS n FROM customers');
const token = (...args: readonly string[]) => run('token', ...args);

async function call(path: string, body?: object): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${await keptToken()}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

/** The id of the token of this name that works. */
async function idOf(name: string): Promise<string> {
  const line = (await token('list')).stdout
    .split('\n')
    .find((each) => / works /.test(each) && each.endsWith(`"${name}"`));
  return line?.slice(0, 36) ?? '';
}

describe('the token of the first start', () => {
  it('the token of the first start is replaced in its file when the command rotates it', async () => {
    const former = await keptToken();
    const rotated = await token('rotate', await idOf('first token'));
    expect(rotated.code).toBe(0);
    expect(rotated.stdout).toContain(`kept in ${join(env.DATA_DIR, 'api-token')}`);
    expect(await keptToken()).not.toBe(former);
    expect(rotated.stdout.trimEnd().split(/\s/).at(-1)).toBe(await keptToken());
    expect((await ask()).code).toBe(0);
  });

  it('the token of the first start is replaced in its file when a request rotates it', async () => {
    const former = await keptToken();
    const { status, text } = await call('/v1/tokens/rotate', { id: await idOf('first token') });
    expect(status).toBe(200);
    expect(await keptToken()).not.toBe(former);
    expect(text).toContain(await keptToken());
    expect((await ask()).code).toBe(0);
  });

  it('the token of the first start stays in its file when another token is rotated', async () => {
    const kept = await keptToken();
    await token('create', '--name', 'ci', '--scope', 'read');
    const rotated = await token('rotate', await idOf('ci'));
    expect(rotated.stdout).not.toContain('kept in');
    expect((await call('/v1/tokens/rotate', { id: await idOf('ci') })).status).toBe(200);
    expect(await keptToken()).toBe(kept);
  });

  it('the token of the first start is named with its file where it is not taken', async () => {
    await writeFile(join(env.DATA_DIR, 'api-token'), 'th_of-somebody-else\n');
    const refused = await ask();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/ answers 401: /);
    expect(refused.stderr).toContain(`the token of ${join(env.DATA_DIR, 'api-token')}`);
    expect(refused.stderr).not.toContain('th_of-somebody-else');
  });
});
