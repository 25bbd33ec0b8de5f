/** Checks that there is a backup, and that it is the last one that was due. */
import { type Config, processEnvironment } from '../../../config.ts';
import { nextDue } from '../../../core/backup-schedule.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import { openPlace } from '../../backups/open-place.ts';
import { lastBackup } from '../../backups/repository.ts';
import { CommandFailure } from '../../failures/command-failure.ts';
import { type Finding, fine, unknown, wrong } from './finding.ts';

export async function checkBackups(
  { backupDir, backupSchedule }: Pick<Config, 'backupDir' | 'backupSchedule'>,
  now: Instant,
): Promise<readonly Finding[]> {
  if (backupDir === undefined)
    return [
      unknown(
        'backup',
        'none is known: BACKUP_DIR is not set, so only you know when the last one was created',
      ),
    ];
  const last = await foundIn(backupDir);
  if (last instanceof CommandFailure) return [wrong('backup', `BACKUP_DIR: ${last.message}`)];
  if (last === null) {
    const none = `there is none in BACKUP_DIR ${backupDir}`;
    const hint = backupSchedule === undefined ? ': make one with tallyhouse backup' : ' yet';
    return [wrong('backup', `${none}${hint}`)];
  }
  const text = `the last one in ${backupDir} is of ${formatInstant(last.moment)}`;
  // A backup that has just become due may still be running; one that is overdue by a second period is missed.
  const due = backupSchedule === undefined ? null : nextDue(backupSchedule, last.moment);
  const second = due === null || backupSchedule === undefined ? null : nextDue(backupSchedule, due);
  if (second === null || second > now) return [fine('backup', text)];
  return [
    wrong('backup', `${text}, and BACKUP_SCHEDULE has passed since: the log of the service has the reason`),
  ];
}

/** A failure shows that the store does not respond. */
async function foundIn(backupDir: string): Promise<Awaited<ReturnType<typeof lastBackup>> | CommandFailure> {
  try {
    return await lastBackup(openPlace(backupDir, processEnvironment()));
  } catch (error) {
    if (error instanceof CommandFailure) return error;
    throw error;
  }
}
