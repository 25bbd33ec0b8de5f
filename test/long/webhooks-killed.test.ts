/** As `test/integration/webhooks-killed.test.ts`, with more messages than one round of any process. */
import { expect, it } from 'vitest';
import { databaseForFile } from '../support/file-fixtures.ts';
import { expectAllDelivered } from '../support/killed-webhooks.ts';

const database = await databaseForFile();

it('delivers each of 10,000 messages though two processes are killed on the way', async () => {
  await expect(expectAllDelivered(database, 10_000)).resolves.toBeUndefined();
});
