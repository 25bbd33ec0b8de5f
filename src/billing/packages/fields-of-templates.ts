/** Which templates of a new package got which fields. Pure. */
import type { ObjectFields } from '../../core/custom-fields.ts';
import type { TermTemplates } from '../../core/terms/packages.ts';
import { located } from '../contracts/terms/fields-of-terms.ts';
import type { RelativeTerms } from './relative-terms.ts';

/** The fields of the templates of a package, which were created from `given` in its order. */
export function fieldsOfTemplates(given: RelativeTerms, made: TermTemplates): ObjectFields[] {
  return [
    ...located('package_commit', given.commits, made.commits, ['terms', 'commits']),
    ...located('package_credit', given.credits, made.credits, ['terms', 'credits']),
    ...located('package_scheduled_charge', given.scheduledCharges, made.scheduledCharges, [
      'terms',
      'scheduledCharges',
    ]),
    ...located('package_subscription', given.subscriptions, made.subscriptions, ['terms', 'subscriptions']),
  ];
}
