/** The command that prints the catalogue of a running service as a file (docs/how-to/prices-as-code.md). */
import { EXIT } from '../../failures/command-failure.ts';
import { findService, type ServiceArguments } from '../running-service.ts';
import { exportedFile } from './exported-file.ts';
import { readCatalogue } from './live-catalogue.ts';

/** Returns the exit code. Throws a `CommandFailure` if there is no answer. */
export async function exportCommand(given: ServiceArguments): Promise<number> {
  process.stdout.write(exportedFile(await readCatalogue(await findService(given))));
  return EXIT.done;
}
