/** Runs the work of a subcommand once its arguments are understood. */

/** Does the work; its exit code becomes that of the program. */
export type Run<Call> = (call: Call) => Promise<void>;
