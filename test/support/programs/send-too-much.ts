/**
 * More connections than the service can serve, in a separate process. Prints a line of JSON (`Overload`).
 *
 * Argument: `OverloadOptions` as JSON.
 */
import { overload } from '../overload/overload.ts';

process.stdout.write(`${JSON.stringify(await overload(JSON.parse(process.argv[2] ?? '{}')))}\n`);
