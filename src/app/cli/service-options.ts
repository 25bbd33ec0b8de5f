/** Options of commands that call the running service. */
import type { ServiceArguments } from '../commands/running-service.ts';

export const URL_OPTION = ['--url <url>', 'where the service is'] as const;
export const TOKEN_OPTION = ['--token <token>', 'a token of scope read'] as const;
export const FINDING =
  'It finds the service and its token as the service does: PORT, HOST, API_TOKEN or DATA_DIR.';

export function serviceArguments(given: {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
}): ServiceArguments {
  return { url: given.url ?? null, token: given.token ?? null };
}
