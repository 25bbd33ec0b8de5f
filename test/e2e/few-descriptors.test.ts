/** The service where the system lets it have few files and connections open. */
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { type Program, runCommand } from '../support/child-process.ts';
import { createDataDirectory } from '../support/data-directory.ts';

const TOKEN = 'token-of-this-test';
const LIMIT = 256;

let service: Program | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  service?.child.kill('SIGKILL');
  await service?.ended;
});

async function start(): Promise<string> {
  const env = { PORT: '0', DATA_DIR: await createDataDirectory(), API_TOKEN: TOKEN, LOG_LEVEL: 'warn' };
  const limited = `ulimit -n ${LIMIT} && exec "$0" dist/main.js`;
  service = runCommand('sh', ['-c', limited, process.execPath], env);
  await service.said('/docs');
  return /ready at (\S+)/.exec(service.stdout())?.[1] ?? '';
}

/** Resolves when the connection is opened, refused or closed. */
function open(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve());
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
    sockets.push(socket);
  });
}

it('the service with few descriptors answers 200, or 503 with Retry-After, and never 500, and continues when connections are closed', async () => {
  const url = await start();
  expect(service?.stdout()).toMatch(new RegExp(`Note: only ${LIMIT} files and connections may be open`));
  const call = (path: string, body?: object) =>
    fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const created = await call('/v1/customers', { name: 'Acme', ingest_aliases: ['acme'] });
  const { data } = (await created.json()) as { data: { id: string } };
  const usage = {
    customer_id: data.id,
    sql: 'SELECT COUNT(*) AS value FROM events',
    ...{ window_size: 'NONE', starting_on: '2026-11-01T00:00:00Z', ending_before: '2026-12-01T00:00:00Z' },
  };
  // This client keeps its connection; the others take what is left.
  const ask = () =>
    Promise.all([call(`/v1/customers/${data.id}/invoices`), call('/v1/billable-metrics/preview', usage)]);
  expect((await ask()).map(({ status }) => status)).toEqual([200, 200]);
  for (let group = 0; group < 8; group += 1) {
    await Promise.all(Array.from({ length: 50 }, () => open(Number(new URL(url).port))));
    // A connection that rests for seconds is closed, and no other one is available.
    await ask().catch(() => undefined);
  }
  const answers: Response[] = [];
  for (let round = 0; round < 10; round += 1) answers.push(...(await ask().catch(() => [])));
  expect(answers).toHaveLength(20);
  for (const answer of answers) {
    expect([200, 503]).toContain(answer.status);
    if (answer.status === 503) expect(answer.headers.get('retry-after')).not.toBeNull();
  }
  for (const socket of sockets) socket.destroy();
  await expect
    .poll(async () => (await ask().catch(() => [])).map(({ status }) => status))
    .toEqual([200, 200]);
  expect(service?.stderr()).not.toContain('request failed","');
});
