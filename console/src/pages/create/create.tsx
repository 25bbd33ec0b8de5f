/** Creates an object: `/console/create/customer`. The ids that are known already are in the address. */
import { getRouteApi } from '@tanstack/react-router';
import { NotFound } from '../../shell/not-found.tsx';
import { FORMS } from './created.tsx';

const route = getRouteApi('/create/$form');

export function Create() {
  const { form } = route.useParams();
  const known = route.useSearch();
  return Object.hasOwn(FORMS, form) ? FORMS[form]?.(known) : <NotFound />;
}
