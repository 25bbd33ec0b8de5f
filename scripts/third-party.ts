/**
 * `npm run third-party`: writes `sbom.cdx.json` and `THIRD_PARTY_LICENSES`, which the package has beside the program.
 * Both are of what is installed with it and of what the build put into dist/, so they come after the build. They are
 * written when the package is packed (`prepack`) and are not committed: nothing can drift.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundledPackages } from './third-party/bundled.ts';
import { licenceList } from './third-party/licences.ts';
import { productionPackages, ROOT } from './third-party/lock.ts';
import { billOfMaterials } from './third-party/sbom.ts';

const installed = await productionPackages();
const bundled = await bundledPackages();
const bill = await billOfMaterials(installed, bundled);
await writeFile(join(ROOT, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
await writeFile(join(ROOT, 'THIRD_PARTY_LICENSES'), await licenceList(installed, bundled));
