/** The command line of `tallyhouse user`. */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import type { UserCall } from '../commands/user-command.ts';
import type { Run } from './run.ts';
import { described } from './subcommand.ts';
import { textUpTo } from './values.ts';

const WHO = 'address or id, as user list shows them';
const JSON_OPTION = ['--json', 'one JSON document instead of text'] as const;

export function defineUser(program: CommandUnknownOpts, run: Run<UserCall>): void {
  const user = described(program.command('user'), {
    summary: 'invite persons to the console, and change what they may do',
    description:
      'Manages the persons who sign in to the console. It works beside the running service, with the same environment.',
    examples: [
      ['tallyhouse user invite kim@acme.example --role finance', 'prints a link that opens once'],
      ['tallyhouse user list', 'all persons, with their roles'],
    ],
  });
  described(user.command('invite'), {
    summary: 'print a link with which a person sets a passkey',
    description: 'Prints a link with which the person sets a passkey, once, within seven days.',
    examples: [['tallyhouse user invite kim@acme.example --role support --name Kim', 'with a name']],
    notes: 'Roles: admin, finance, support, analyst, developer, and those of POST /v1/roles/create.',
  })
    .argument('<address>', 'e-mail address', textUpTo(320))
    .requiredOption('--role <role>', 'what the person may do', textUpTo(63))
    .option('--name <name>', 'name, if it is not the address', textUpTo(200))
    .option(...JSON_OPTION)
    .action((email, { role, name = null, json = false }) => run({ kind: 'invite', email, role, name, json }));
  described(user.command('list'), {
    summary: 'all persons, with their roles',
    description: 'Lists all persons with id, roles, state and address.',
    examples: [['tallyhouse user list --json', 'the same for programs']],
  })
    .option(...JSON_OPTION)
    .action(({ json = false }) => run({ kind: 'list', json }));
  defineChanges(user, run);
}

function defineChanges(user: CommandUnknownOpts, run: Run<UserCall>): void {
  described(user.command('role'), {
    summary: 'give a person another role',
    description: 'Gives a person another role, which counts from the next request on.',
    examples: [['tallyhouse user role kim@acme.example support', 'instead of the role before']],
  })
    .argument('<person>', WHO)
    .argument('<role>', 'what the person may do', textUpTo(63))
    .option(...JSON_OPTION)
    .action((who, role, { json = false }) => run({ kind: 'role', who, role, json }));
  described(user.command('disable'), {
    summary: 'end all sessions of a person at once, and allow no other',
    description: 'Ends all sessions of a person at once, in every process, and allows no other.',
    examples: [['tallyhouse user disable kim@acme.example --undo', 'lets the person sign in again']],
  })
    .argument('<person>', WHO)
    .option('--undo', 'let the person sign in again')
    .option(...JSON_OPTION)
    .action((who, { undo = false, json = false }) => run({ kind: 'disable', who, isDisabled: !undo, json }));
  described(user.command('reset'), {
    summary: 'remove the passkeys of a person, and print a link for a new one',
    description: 'Removes the passkeys of a person, ends all sessions, and prints a link for a new passkey.',
    examples: [['tallyhouse user reset kim@acme.example', 'for a person who lost the device']],
  })
    .argument('<person>', WHO)
    .option(...JSON_OPTION)
    .action((who, { json = false }) => run({ kind: 'reset', who, json }));
}
