/** The configuration of a command: that of its service. */

import { type Config, loadConfig, processEnvironment } from '../../config.ts';
import { misspeltLine, misspeltSettings } from '../failures/misspelt-settings.ts';

/** Reports on standard error which variables are ignored as misspelt. Throws `ConfigError` like `loadConfig`. */
export function commandConfig(): Config {
  const env = processEnvironment();
  for (const misspelt of misspeltSettings(env)) process.stderr.write(`${misspeltLine(misspelt)}\n`);
  return loadConfig(env);
}
