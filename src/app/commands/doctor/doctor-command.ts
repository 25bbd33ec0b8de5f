/** The command that finds problems of the machine, the settings, the stores and the service. Changes nothing. */

import { type Config, ConfigError, type Environment, loadConfig } from '../../../config.ts';
import { memoryOfProcess } from '../../../core/process-memory.ts';
import { EXIT } from '../../failures/command-failure.ts';
import { misspeltLine, misspeltSettings } from '../../failures/misspelt-settings.ts';
import { createTerminal, type Terminal } from '../terminal/terminal.ts';
import { checkBackups } from './backups.ts';
import { checkClickHouse } from './clickhouse.ts';
import { type Finding, fine, looked, wrong } from './finding.ts';
import { checkDisk, checkMemory, checkNode } from './machine.ts';
import { checkMove } from './move.ts';
import { checkPort } from './port.ts';
import { checkPostgres, dataIdOf } from './postgresql.ts';

export interface DoctorOptions {
  /** One JSON document instead of lines. */
  readonly json: boolean;
}

/** Returns the exit code: that of a failure if something is wrong. */
export async function doctorCommand({ json }: DoctorOptions, env: Environment): Promise<number> {
  const findings = await examine(env);
  const terminal = createTerminal(process.stdout);
  const bad = findings.filter(({ isFine }) => !isFine).length;
  if (json) {
    const shown = findings.map(({ check, isFine, isUnknown, message }) => ({
      ...{ check, ok: isFine, message },
      ...(isUnknown === true ? { unknown: true } : {}),
    }));
    terminal.line(JSON.stringify({ ok: bad === 0, findings: shown }, null, 2));
  } else {
    for (const finding of findings) {
      terminal.line(`${markOf(finding, terminal)} ${finding.check.padEnd(WIDTH)} ${finding.message}`);
    }
    terminal.line(
      bad === 0 ? 'Nothing is wrong.' : `${bad} ${bad === 1 ? 'thing is' : 'things are'} wrong. ${REMEDIES}`,
    );
  }
  return bad === 0 ? EXIT.done : EXIT.failed;
}

function markOf({ isFine, isUnknown }: Finding, terminal: Terminal): string {
  if (!isFine) return terminal.red('✗');
  return isUnknown === true ? terminal.yellow('!') : terminal.green('✓');
}

/** A service that does not start has no guide. */
const REMEDIES =
  'What to do: docs/how-to/operations.md#what-is-wrong, in a running service /guide/how-to/operations#what-is-wrong';

const WIDTH = 'PostgreSQL'.length;

async function examine(env: Environment): Promise<readonly Finding[]> {
  const { config, findings } = checkSettings(env);
  const node = checkNode(process.versions.node);
  if (config === null) return [node, ...findings];
  const checked = await Promise.all([
    looked('disk', () => checkDisk(config.dataDir)),
    looked('backup', () => checkBackups(config, Date.now())),
    looked('move', () => checkMove(config)),
    looked('port', () => checkPort(config, () => dataIdOf(config))),
    looked('PostgreSQL', () => checkPostgres(config)),
    looked('ClickHouse', () => checkClickHouse(config)),
  ]);
  return [node, checkMemory(config.knownIdsRecent, memoryOfProcess()), ...findings, ...checked.flat()];
}

function checkSettings(env: Environment): {
  readonly config: Config | null;
  readonly findings: readonly Finding[];
} {
  const misspelt = misspeltSettings(env).map((each) => wrong('settings', misspeltLine(each)));
  try {
    const config = loadConfig(env);
    return { config, findings: misspelt.length > 0 ? misspelt : [fine('settings', 'all can be used')] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { config: null, findings: [...misspelt, wrong('settings', error.message)] };
  }
}
