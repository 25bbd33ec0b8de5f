/** Variables of the environment that are probably meant to be settings. */
import { type Environment, SETTINGS } from '../../config.ts';
import { nearestName } from '../../core/nearest-name.ts';

/** A variable that is no setting, and the one that it is probably a slip of. */
export interface MisspeltSetting {
  readonly variable: string;
  readonly nearest: string;
}

/** Of short names, one slip makes a name that others use. */
const SHORT_NAME_LENGTH = 8;

/**
 * Variables that are set and are nearly called like a setting: they would be ignored without a word. The environment
 * has many others, so a name that is only similar is none.
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
