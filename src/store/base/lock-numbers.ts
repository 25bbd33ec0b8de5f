/** The advisory locks of the database. They have one number space, so that each is named here and nowhere else. */
export const LOCKS = {
  migration: 7_206_455_141,
  composites: 7_206_455_142,
  fieldDeclarations: 7_206_455_143,
  tokenCatalogue: 7_206_455_151,
  eventRetention: 7_206_455_161,
  wantedMessages: 7_206_455_171,
  telling: 7_206_455_172,
  alertCreation: 7_206_455_173,
  invoiceNumbers: 7_206_455_187,
  backup: 7_206_455_191,
  move: 7_206_455_192,
} as const;

/** The first numbers of locks that have two, of which the second says what is locked. */
export const LOCK_FAMILIES = { balances: 711_003, alertStates: 711_007 } as const;
