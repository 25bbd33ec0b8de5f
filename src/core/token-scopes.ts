/** What API tokens may do, and how long their names may be. */

export const TOKEN_SCOPES = ['ingest', 'read', 'write'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

export const TOKEN_NAME_LENGTH_MAX = 200;
