/** The tutorials print what they show, on a service that is started as they say. */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startTestService } from '../support/service.ts';
import { runBlocks, shownBlocks } from '../support/shown-blocks.ts';
import { createTestDirectory } from '../support/stores.ts';

const FOLDER = join(import.meta.dirname, '../../docs/tutorials');
const pages = (await readdir(FOLDER)).sort();

it('there are tutorials of the first invoice, SQL metric and paid invoice', () => {
  expect(pages).toEqual(['first-invoice.md', 'first-paid-invoice.md', 'first-sql-metric.md']);
});

describe.each(pages)('%s', (page) => {
  it('prints what it shows', async () => {
    const text = await readFile(join(FOLDER, page), 'utf8');
    const [, settings = ''] = /^((?:[A-Z_]+=\S+ )+)npm start$/m.exec(text) ?? [];
    const setting = (name: string) => new RegExp(`${name}=(\\S+)`).exec(settings)?.[1];
    const service = await startTestService({
      sandboxNow: setting('SANDBOX_NOW') ?? '',
      ...(setting('PAYMENT_PROVIDER') === 'simulated' ? { paymentProvider: 'simulated' as const } : {}),
    });
    const directory = await createTestDirectory();
    await mkdir(join(directory, setting('DATA_DIR') ?? ''));
    const blocks = shownBlocks(text);
    const { outputs, ended, stderr } = await runBlocks(
      blocks.map(({ commands }) => commands),
      directory,
      { 'http://127.0.0.1:3000': service.url, '$(cat .tutorial/api-token)': service.token },
    );
    await service.close();
    expect([ended, stderr]).toEqual([0, '']);
    expect(outputs).toEqual(blocks.map(({ printed }) => printed ?? ''));
    expect(blocks.filter(({ printed }) => printed !== undefined).length).toBeGreaterThan(2);
  });
});
