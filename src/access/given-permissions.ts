/** Nobody gives out a permission that is not his: by a token, a role, an invitation. */
import { Refusal } from '../core/errors.ts';
import { missingOf, type Permission, type Permissions } from '../core/permissions.ts';

/** Refuses (`forbidden`) what `giver` lacks; null: the operator, who has all. */
export function refuseMore(giver: Permissions | null, wanted: Iterable<Permission>): void {
  const missing = giver === null ? null : missingOf(giver, wanted);
  if (missing === null) return;
  throw new Refusal('forbidden', `This would give out the permission ${missing}, which you do not have`);
}
