/**
 * The attributes that identify the customer of a span: by name, in the order of the setting, each in the span and then
 * in its resource. A preset represents the attributes that one gateway or SDK sends.
 */

const PRESET_PREFIX = 'preset:';

/** Sources are in docs/how-to/sources/. */
const PRESETS: Readonly<Record<string, readonly string[]>> = {
  // Each id as in version 2, as in version 1, and as version 2 promotes metadata.
  litellm: [
    'litellm.team.id',
    'metadata.user_api_key_team_id',
    'litellm.metadata.user_api_key_team_id',
    'litellm.end_user.id',
    'metadata.user_api_key_end_user_id',
    'litellm.metadata.user_api_key_end_user_id',
    'litellm.api_key.hash',
    'metadata.user_api_key_hash',
    'litellm.metadata.user_api_key_hash',
  ],
  openrouter: ['user.id', 'trace.metadata.openrouter.api_key_name'],
  // Versions 5 and 6 send metadata, version 7 its runtime context.
  vercel: [
    'ai.telemetry.metadata.customerId',
    'ai.settings.context.customerId',
    'ai.telemetry.metadata.userId',
    'ai.settings.context.userId',
  ],
  langfuse: ['langfuse.user.id', 'user.id'],
  portkey: ['portkey.metadata._user', 'metadata._user', 'user.id'],
};

export const CUSTOMER_PRESETS: readonly string[] = Object.keys(PRESETS).map(
  (name) => `${PRESET_PREFIX}${name}`,
);

const ATTRIBUTE = /^[\x21-\x7e]{1,256}$/;

/** The attributes of an entry of the setting; null if it is neither a name nor a preset. */
export function customerAttributes(entry: string): readonly string[] | null {
  if (entry.startsWith(PRESET_PREFIX)) return presetOf(entry.slice(PRESET_PREFIX.length));
  return ATTRIBUTE.test(entry) ? [entry] : null;
}

function presetOf(name: string): readonly string[] | null {
  return Object.hasOwn(PRESETS, name) ? (PRESETS[name] ?? null) : null;
}
