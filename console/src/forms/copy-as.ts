/** The requests of a form as text: for a shell with curl, and for TypeScript with the official client. Pure. */
import { writeExact } from '../api/exact.ts';
import { CLIENT_CALLS } from './client-calls.ts';

export interface FormRequest {
  /** `POST /v1/customers/{customer_id}/setName` */
  readonly operation: string;
  /** Values of the path, and maybe others. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const BRACES = /\{(\w+)\}/g;

function addressOf({ operation, params }: FormRequest): { readonly method: string; readonly path: string } {
  const [method = '', path = ''] = operation.split(' ');
  return { method, path: path.replaceAll(BRACES, (_all, name: string) => String(params[name] ?? '')) };
}

/** The token is that of the shell that runs it. */
export function curlText(requests: readonly FormRequest[], origin: string): string {
  return requests
    .map((request) => {
      const { method, path } = addressOf(request);
      return [
        `curl -X ${method} ${quoted(origin + path)} \\`,
        '  -H "Authorization: Bearer $TALLYHOUSE_TOKEN" \\',
        "  -H 'Content-Type: application/json' \\",
        `  -d ${quoted(writeExact(request.body, 2))}`,
      ].join('\n');
    })
    .join('\n\n');
}

/** A text that a shell reads as it is. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Operations that the client does not have are posted with it. */
export function clientText(requests: readonly FormRequest[], origin: string): string {
  const calls = requests.map((request) => {
    const call = CLIENT_CALLS[request.operation];
    if (call === undefined) {
      const { path } = addressOf(request);
      return `await client.post(${JSON.stringify(path)}, { body: ${writeExact(request.body, 2)} });`;
    }
    const inPath = [...request.operation.matchAll(BRACES)].map(([, name = '']) => [
      name,
      request.params[name],
    ]);
    return `await ${call}(${writeExact({ ...Object.fromEntries(inPath), ...request.body }, 2)});`;
  });
  return [
    "import Metronome from '@metronome/sdk';",
    '',
    `const client = new Metronome({ baseURL: ${JSON.stringify(origin)}, bearerToken: process.env.TALLYHOUSE_TOKEN });`,
    '',
    ...calls,
  ].join('\n');
}
