/** The advisory locks of the database. They share one number space, so all of them are named here. */
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
  creditNoteNumbers: 7_206_455_188,
  eventCorrections: 7_206_455_189,
  backup: 7_206_455_191,
  move: 7_206_455_192,
} as const;

/** The first numbers of locks with two numbers; the second one identifies the locked object. */
export const LOCK_FAMILIES = { balances: 711_003, alertStates: 711_007, versions: 711_011 } as const;
