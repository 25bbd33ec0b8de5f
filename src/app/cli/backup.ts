/** The command lines of `tallyhouse backup` and `restore` (docs/how-to/backups.md). */
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { backupPlaceOf } from '../../core/backup-settings.ts';
import {
  type BackupOptions,
  KEEP_MAX,
  RATE_MB_DEFAULT,
  RATE_MB_MAX,
  type RestoreOptions,
} from '../commands/backup/options.ts';
import type { Run } from './run.ts';
import { described } from './subcommand.ts';
import { countUpTo, textUpTo } from './values.ts';

const NAME_LENGTH_MAX = 100;

export function defineBackup(program: CommandUnknownOpts, run: Run<BackupOptions>): void {
  described(program.command('backup'), {
    summary: 'back up a running service',
    description:
      'Backs up both stores of the running service, of one moment: everything that was acknowledged before the call is in it. It works beside the service, with the same environment, and the service continues meanwhile. The first backup in a place copies everything, each later one what is new.',
    examples: [
      ['tallyhouse backup /mnt/backups', 'adds a backup'],
      ['tallyhouse backup /mnt/backups --keep 14', 'and removes all but the last 14'],
      ['tallyhouse backup /mnt/backups --rate 10', 'reads 10 MB in a second, at most'],
      ['tallyhouse backup s3://bucket/prefix', 'into an S3-compatible store'],
    ],
    notes:
      'The place has everything, secrets too: keep it where nobody else reads it, and not on the disk of DATA_DIR. s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and takes AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL. A ClickHouse server writes its part to BACKUP_CLICKHOUSE.',
  })
    .argument(
      '<place>',
      'of backups of these stores: a directory, created where there is none, or s3://bucket/prefix',
      textUpTo(4_096),
    )
    .option('--rate <MB>', 'most megabytes in a second', countUpTo(RATE_MB_MAX), RATE_MB_DEFAULT)
    .option('--keep <number>', 'how many backups stay; all by default', countUpTo(KEEP_MAX))
    .option('--full', 'a ClickHouse server writes everything again, instead of what is new')
    .option('--json', 'one JSON document instead of lines')
    .action((place, { rate: rateMb, keep, full: isFull = false, json = false }) =>
      run({ place: backupPlaceOf(place), rateMb, keep: keep ?? null, isFull, json }),
    );
}

export function defineRestore(program: CommandUnknownOpts, run: Run<RestoreOptions>): void {
  described(program.command('restore'), {
    summary: 'restore a backup into an empty DATA_DIR',
    description:
      'Restores a backup into an empty DATA_DIR, or one of servers into empty databases of DATABASE_URL and CLICKHOUSE_URL; others are refused. Every byte is checked before anything is written. Then events, invoices and ledgers are counted and reconciled. No invoice is issued and no message is sent until the service is started.',
    examples: [
      ['DATA_DIR=/srv/tallyhouse tallyhouse restore /mnt/backups', 'the last backup'],
      ['tallyhouse restore /mnt/backups --name 2026-11-27T01-30-00.000Z', 'another one'],
      ['tallyhouse restore /mnt/backups --check', 'only reads and checks it'],
    ],
    notes:
      'Do not start a restored service beside the one that was backed up: both would issue the same invoices.',
    exitCodes: '0 restored and everything agrees, 1 refused, failed, or differences were found, 2 wrong call',
  })
    .argument('<place>', 'of backups: a directory, or s3://bucket/prefix', textUpTo(4_096))
    .option('--name <name>', 'which one; the last one by default', textUpTo(NAME_LENGTH_MAX))
    .option('--check', 'write nothing')
    .action((place, { name, check = false }) =>
      run({ place: backupPlaceOf(place), name: name ?? null, isCheck: check }),
    );
}
