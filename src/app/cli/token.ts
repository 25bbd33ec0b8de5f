/** The command line of `tallyhouse token`. */
import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { TOKEN_NAME_LENGTH_MAX, TOKEN_SCOPES } from '../../core/token-scopes.ts';
import type { TokenCall } from '../commands/token-command.ts';
import type { Run } from './run.ts';
import { described } from './subcommand.ts';
import { instantOf, textUpTo } from './values.ts';

const BESIDE = 'It works beside the running service, with the same environment.';
const EXPIRES = 'RFC 3339, such as 2027-01-01T00:00:00Z; the token works before it';
const JSON_OPTION = ['--json', 'one JSON document instead of text'] as const;

export function defineToken(program: CommandUnknownOpts, run: Run<TokenCall>): void {
  const token = described(program.command('token'), {
    summary: 'create, list, rotate and revoke API tokens',
    description: `Manages API tokens. ${BESIDE}`,
    examples: [
      ['tallyhouse token create --name ci --scope read', 'prints the token, only this once'],
      ['tallyhouse token list', 'all tokens, without their texts'],
    ],
  });
  defineCreate(token, run);
  described(token.command('list'), {
    summary: 'all tokens, without their texts',
    description: 'Lists all tokens with scope, state and last use. Their texts are kept nowhere.',
    examples: [['tallyhouse token list --json', 'the same for programs']],
  })
    .option(...JSON_OPTION)
    .action(({ json = false }) => run({ kind: 'list', json }));
  defineChanges(token, run);
}

function defineCreate(token: CommandUnknownOpts, run: Run<TokenCall>): void {
  described(token.command('create'), {
    summary: 'make a token and print it, only this once',
    description: 'Makes a token and prints it as the last word, only this once.',
    examples: [
      ['tallyhouse token create --name gateway --scope ingest', 'for senders of usage'],
      [
        'tallyhouse token create --name audit --scope read --expires 2027-01-01T00:00:00Z',
        'until that instant',
      ],
    ],
    notes: 'Scopes: ingest sends usage events, read is everything that only reads, write is everything.',
  })
    .requiredOption('--name <name>', 'what the token is for', textUpTo(TOKEN_NAME_LENGTH_MAX))
    .addOption(new Option('--scope <scope>', 'what it may do').choices(TOKEN_SCOPES).makeOptionMandatory())
    .option('--expires <time>', EXPIRES, instantOf)
    .option(...JSON_OPTION)
    .action(({ name, scope, expires, json = false }) =>
      run({ kind: 'create', name, scope, expiresAt: expires ?? null, json }),
    );
}

function defineChanges(token: CommandUnknownOpts, run: Run<TokenCall>): void {
  described(token.command('rotate'), {
    summary: 'revoke a token and print a new one of its name and scope',
    description:
      'Revokes a token and prints a new one of the same name and scope. The token of the first start is replaced in DATA_DIR/api-token.',
    examples: [
      ['tallyhouse token rotate 5a0d2c1e-0f43-4c0a-9d3c-6f1f7f1f2a11', 'the id is shown by token list'],
    ],
  })
    .argument('<id>', 'which token')
    .option('--expires <time>', EXPIRES, instantOf)
    .option(...JSON_OPTION)
    .action((id, { expires, json = false }) => run({ kind: 'rotate', id, expiresAt: expires, json }));
  described(token.command('revoke'), {
    summary: 'stop a token at once, in every process',
    description: 'Stops a token at once, in every process.',
    examples: [
      ['tallyhouse token revoke 5a0d2c1e-0f43-4c0a-9d3c-6f1f7f1f2a11', 'the id is shown by token list'],
    ],
  })
    .argument('<id>', 'which token')
    .option(...JSON_OPTION)
    .action((id, { json = false }) => run({ kind: 'revoke', id, json }));
}
