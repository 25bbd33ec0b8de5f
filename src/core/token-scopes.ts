/** The scopes of API tokens, and the longest name of a token. */

export const TOKEN_SCOPES = ['ingest', 'read', 'write'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

export const TOKEN_NAME_LENGTH_MAX = 200;
