import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { firstToken } from '../../../src/embedded/api-token.ts';
import { createTestDirectory } from '../../support/stores.ts';

test('a token is generated once, kept for its owner only, and is the same from then on', async () => {
  const directory = await createTestDirectory();
  const made = await firstToken(directory);
  expect(made).toEqual({ token: expect.stringMatching(/^th_[\w-]{32}$/) });
  expect((await stat(join(directory, 'api-token'))).mode & 0o777).toBe(0o600);
  expect(await firstToken(directory)).toEqual(made);
});
