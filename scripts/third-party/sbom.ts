/**
 * The bill of materials in CycloneDX. npm makes it from the lockfile; what the build puts into dist/ is added to it,
 * and what would differ between two runs on the same tree (a time, a random number, the name of the folder) is taken out.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { BundledPackage } from './bundled.ts';
import { ROOT, type ThirdPartyPackage } from './lock.ts';

const component = z.looseObject({ 'bom-ref': z.string(), name: z.string(), version: z.string() });
const document = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  metadata: z.looseObject({ component }),
  components: z.array(component),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});
export type BillOfMaterials = z.output<typeof document>;

/** It prints a megabyte. */
const OUTPUT_BYTES_MAX = 64_000_000;

export async function billOfMaterials(
  installed: readonly ThirdPartyPackage[],
  bundled: readonly BundledPackage[],
): Promise<BillOfMaterials> {
  const all = await npmSbom();
  const isInstalled = new Set(installed.map(refOf));
  const isPart = new Set(bundled.map(refOf));
  const known = new Set(all.components.map((each) => each['bom-ref']));
  const components = all.components
    .filter((each) => isInstalled.has(each['bom-ref']) || isPart.has(each['bom-ref']))
    .map((each) => (isInstalled.has(each['bom-ref']) ? each : { ...each, scope: 'required' }))
    .concat(bundled.filter((part) => !known.has(refOf(part))).map(componentOf));
  const root = all.metadata.component['bom-ref'];
  const refs = new Set([root, ...components.map((each) => each['bom-ref'])]);
  const { serialNumber: _, ...rest } = all;
  const { timestamp: __, ...metadata } = all.metadata;
  return {
    ...rest,
    metadata: {
      ...metadata,
      component: { ...metadata.component, type: 'application', name: 'tallyhouse' },
    },
    components: components.sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
    dependencies: all.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) })),
  };
}

/**
 * The bill of materials of all packages: with `--omit dev` npm leaves out those that development packages need as
 * well, such as zod.
 */
async function npmSbom(): Promise<BillOfMaterials> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, maxBuffer: OUTPUT_BYTES_MAX });
  return document.parse(JSON.parse(stdout));
}

type Component = BillOfMaterials['components'][number];

function refOf({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${name}@${version}`;
}

/** The component of a package that is in no lockfile: the viewer of the API reference. */
function componentOf({ name, version, identifier }: BundledPackage): Component {
  return {
    'bom-ref': refOf({ name, version }),
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: [{ license: { id: identifier } }],
  };
}
