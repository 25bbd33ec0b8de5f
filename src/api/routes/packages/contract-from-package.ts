/** The part of creating a contract in which a package says everything. */
import { z } from 'zod';
import type { ContractFromPackageInput } from '../../../billing/packages/contract-from-package.ts';
import { unknownMembers } from '../../http/strict-body.ts';
import { transitionFromWire, type transitionInput } from '../contracts/input.ts';

/** What may stand beside `package_id` or `package_alias`. */
const COMPANIONS: readonly string[] = [
  'customer_id',
  'starting_at',
  'package_id',
  'package_alias',
  'uniqueness_key',
  'transition',
  'custom_fields',
];

/** `schema`, refusing every other member where a package is named; null counts as left out. */
export function aloneWithPackage<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value, context) => {
    const members = Object.entries(z.record(z.string(), z.unknown()).safeParse(value).data ?? {});
    const given = members.filter(([, member]) => member != null).map(([name]) => name);
    const named = ['package_id', 'package_alias'].find((name) => given.includes(name));
    if (named === undefined) return value;
    for (const name of given) {
      if (COMPANIONS.includes(name)) continue;
      context.addIssue({ code: 'custom', path: [name], message: `cannot be combined with ${named}` });
    }
    const companions = Object.fromEntries(members.filter(([name]) => COMPANIONS.includes(name)));
    for (const path of unknownMembers(schema, companions)) {
      context.addIssue({ code: 'custom', path, message: 'is not a field of this request' });
    }
    return value;
  }, schema);
}

interface PackageModeBody {
  readonly customer_id: string;
  readonly starting_at: number;
  readonly package_id?: string | null | undefined;
  readonly package_alias?: string | null | undefined;
  readonly uniqueness_key?: string | null | undefined;
  readonly transition?: z.output<typeof transitionInput> | null | undefined;
  readonly custom_fields?: Readonly<Record<string, string>> | null | undefined;
}

export function namesPackage(body: PackageModeBody): boolean {
  return body.package_id != null || body.package_alias != null;
}

export function contractFromPackageFromWire(
  body: PackageModeBody,
  createdBy: string,
): ContractFromPackageInput {
  return {
    customerId: body.customer_id,
    startingAt: body.starting_at,
    packageId: body.package_id ?? null,
    packageAlias: body.package_alias ?? null,
    uniquenessKey: body.uniqueness_key ?? null,
    transition: body.transition == null ? null : transitionFromWire(body.transition),
    customFields: body.custom_fields ?? {},
    createdBy,
  };
}
