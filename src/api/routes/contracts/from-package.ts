/** Creating a contract from a package. */
import { z } from 'zod';
import type { ContractFromPackageInput } from '../../../billing/packages/contract-from-package.ts';
import { NOT_A_FIELD } from '../../http/unknown-fields.ts';
import { record } from '../../wire/record.ts';
import { besidePackage, createContract } from './input.ts';

const companions = record(besidePackage).input.strict;

/** Refuses members that must not be combined with a package. Null counts as absent. */
export const createContractBody = z.preprocess((value, context) => {
  const members = Object.entries(z.record(z.string(), z.unknown()).safeParse(value).data ?? {});
  const given = Object.fromEntries(members.filter(([, member]) => member != null));
  const named = ['package_id', 'package_alias'].find((name) => Object.hasOwn(given, name));
  if (named === undefined) return value;
  for (const issue of companions.safeParse(given).error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys') continue;
    const message = issue.path.length === 0 ? `cannot be combined with ${named}` : undefined;
    for (const name of issue.keys) {
      context.addIssue({ code: 'custom', path: [...issue.path, name], message: message ?? NOT_A_FIELD });
    }
  }
  return value;
}, createContract.input.tolerant);

type CreateContractBody = z.output<typeof createContractBody>;

export function namesPackage({ packageId, packageAlias }: CreateContractBody): boolean {
  return packageId !== null || packageAlias !== null;
}

export function contractFromPackageFromWire(
  body: CreateContractBody,
  createdBy: string,
): ContractFromPackageInput {
  const { customerId, startingAt, packageId, packageAlias, uniquenessKey, transition, customFields } = body;
  return {
    customerId,
    startingAt,
    packageId,
    packageAlias,
    uniquenessKey,
    transition,
    customFields,
    createdBy,
  };
}
