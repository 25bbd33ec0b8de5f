/** The receiver of docs/explanation/notifications.md, run as it is printed there. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { sendWebhook } from '../../../src/notifications/webhooks/send.ts';
import { newSecret, signatureHeaders } from '../../../src/notifications/webhooks/signature.ts';

const page = await readFile(new URL('../../../docs/explanation/notifications.md', import.meta.url), 'utf8');
const [, printed = ''] = /```js\n(.*?)\n```/s.exec(page) ?? [];

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const port = await freePort();
const secret = newSecret();
const program = printed.replace('listen(8080)', `listen(${port})`);
const receiver = spawn(process.execPath, ['--input-type=module', '--eval', program], {
  env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret },
});
let output = '';
receiver.stdout.on('data', (chunk) => {
  output += String(chunk);
});
afterAll(() => {
  receiver.kill('SIGKILL');
});

const message = { id: 'message-1', body: '{"id":"message-1","type":"contract.end"}' };
const send = () => {
  const headers = signatureHeaders([secret], message, Date.now());
  return sendWebhook(`http://127.0.0.1:${port}/`, { headers, body: message.body }, { allowPrivate: true });
};

it('the documented receiver has twelve lines, verifies a message, prints it and acknowledges it', async () => {
  expect(printed.split('\n')).toHaveLength(12);
  await expect.poll(async () => (await send()).status).toBe(204);
  await expect.poll(() => output).toContain("contract.end { id: 'message-1', type: 'contract.end' }");
});
