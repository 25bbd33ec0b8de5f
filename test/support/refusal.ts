import { expect } from 'vitest';
import type { ApiClient } from './api-client.ts';

/** The message of a request that is refused with this status. */
export async function refusalOf(api: ApiClient, path: string, body: object, status = 400): Promise<string> {
  const answer = await api.send('POST', path, body);
  expect(answer.status).toBe(status);
  return answer.text('message');
}
