/** Runs the work of a subcommand after its arguments are parsed. */

/** Does the work; its exit code is that of the program. */
export type Run<Call> = (call: Call) => Promise<void>;
