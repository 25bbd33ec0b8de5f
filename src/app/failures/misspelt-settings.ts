/** Finds variables of the environment that are probably misspelt settings. */
import { type Environment, SETTINGS } from '../../config.ts';
import { nearestName } from '../../core/nearest-name.ts';

/** A variable that is not a setting, and the setting that it is probably meant to be. */
export interface MisspeltSetting {
  readonly variable: string;
  readonly nearest: string;
}

/** Short names with one different letter are often other variables. */
const SHORT_NAME_LENGTH = 8;

/**
 * Variables that nearly match a setting: they would be ignored silently. The environment has many others, so a merely
 * similar name does not count.
 */
export function misspeltSettings(env: Environment): readonly MisspeltSetting[] {
  const known = SETTINGS.map(({ name }) => name);
  const misspelt: MisspeltSetting[] = [];
  for (const [variable, value] of Object.entries(env)) {
    if (value === undefined || value === '' || known.includes(variable)) continue;
    const slipsMax = variable.length <= SHORT_NAME_LENGTH ? 1 : 2;
    const nearest = nearestName(variable.replaceAll('-', '_'), known, () => slipsMax);
    if (nearest !== null) misspelt.push({ variable, nearest });
  }
  return misspelt;
}

/** One line for the operator. */
export function misspeltLine({ variable, nearest }: MisspeltSetting): string {
  return `${variable} is not a setting and is ignored: did you mean ${nearest}?`;
}
