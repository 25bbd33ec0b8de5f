/** Takes the data directory named by its argument, says so, and holds it until it is killed. */
import { takeDataDirectory } from '../../../src/embedded/data-directory.ts';

await takeDataDirectory(process.argv[2] ?? '');
process.stdout.write('held\n');
setInterval(() => {}, 60_000);
