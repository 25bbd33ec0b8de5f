/**
 * Public traces of LLM requests, from their lines to invoice, breakdowns and margin. TOKEN_TRACES names their files,
 * separated by commas: CSV with the columns TIMESTAMP, ContextTokens and GeneratedTokens, such as the Azure LLM inference
 * traces of November 2023. Without it nothing is tried.
 */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { expectBilledTrace, traceLines } from '../support/billed-trace.ts';
import { startTestService } from '../support/service.ts';

const files = (process.env.TOKEN_TRACES ?? '').split(',').filter((file) => file !== '');

const services: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const service of services) await service.close();
});

test.skipIf(files.length > 0)('without files nothing is tried: name them in TOKEN_TRACES', ({ skip }) =>
  skip(),
);

test.each(files)('every figure of %s is that computed from its lines', async (file) => {
  const lines = traceLines(await readFile(file, 'utf8'));
  expect([basename(file), lines.length > 0]).toEqual([basename(file), true]);
  const service = await startTestService({ sandboxNow: '2026-11-10T00:00:00Z' });
  services.push(service);
  await expectBilledTrace(service, lines);
});
