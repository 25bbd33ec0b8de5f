/** The steps of a plan for rate cards, without their rates. */
import { JsonNumber } from '../../../api/base/json.ts';
import { canonicalText } from './canonical.ts';
import { type FileCard, KEY_FIELD, type Terms } from './catalogue-file.ts';
import { fieldSteps, type HeldObject, keepKey, type Matched, type Planning, releaseKey } from './planning.ts';
import { rateSteps } from './rate-steps.ts';
import { post, Reference, type Step, step } from './step.ts';

const PATH = '/v1/contract-pricing/rate-cards';

export function cardSteps(planning: Planning, list: readonly Matched<FileCard>[]): Step[] {
  const before = new Map(planning.held.rate_cards.map((one) => [one.key, one]));
  return list.flatMap(({ one, held, isRenamed }) => {
    const old = held === null ? undefined : before.get(held.key);
    if (held === null || old === undefined) {
      return [createStep(planning, one), ...rateSteps(planning, one, null)];
    }
    if (old.currency !== one.currency) {
      planning.problems.push(
        `rate card ${one.key} is in ${old.currency}, which cannot change to ${one.currency}: give it another key`,
      );
      return [];
    }
    const renamed = isRenamed || (old.name !== one.name && !held.hasKeyField);
    return [
      ...(renamed ? [keepKey('rate card', held, one.key)] : []),
      ...headSteps(planning, held, old, one),
      ...fieldSteps('rate card', held, old.custom_fields, one),
      ...rateSteps(planning, one, old),
    ];
  });
}

function conversionsOf({ conversions }: FileCard): Terms[] {
  return conversions.map(({ unit, fiat_per_custom_credit }) => ({
    custom_credit_type_id: new Reference('pricing unit', unit),
    // The service answers it as text.
    fiat_per_custom_credit: new JsonNumber(String(fiat_per_custom_credit)),
  }));
}

function createStep(planning: Planning, one: FileCard): Step {
  const { key, name, description, currency, conversions, aliases, custom_fields: fields } = one;
  const body = {
    ...{ name, description, aliases },
    fiat_credit_type_id: new Reference('pricing unit', currency),
    credit_type_conversions: conversionsOf(one),
    custom_fields: { ...fields, [KEY_FIELD]: key },
  };
  return step({
    ...{
      action: 'create',
      kind: 'rate card',
      key,
      after: { name, description, currency, conversions, aliases },
    },
    calls: [...releaseKey(planning, 'rate card', key), post(`${PATH}/create`, body)],
    makes: new Reference('rate card', key),
  });
}

/** Name, description, aliases and conversions. */
function headSteps(planning: Planning, { id }: HeldObject, old: FileCard, one: FileCard): Step[] {
  const changed = (['name', 'description', 'aliases'] as const).filter(
    (name) => canonicalText(old[name]) !== canonicalText(one[name]),
  );
  const added = addedConversions(planning, old, one);
  if (changed.length === 0 && added.length === 0) return [];
  const picked = (card: FileCard) => Object.fromEntries(changed.map((name) => [name, card[name] ?? null]));
  const conversions = conversionsOf({ ...one, conversions: added });
  const body = {
    ...{ rate_card_id: id, ...picked(one) },
    ...(added.length === 0 ? {} : { add_credit_type_conversions: conversions }),
  };
  return [
    step({
      ...{ action: 'change', kind: 'rate card', key: one.key, before: picked(old) },
      after: { ...picked(one), ...(added.length === 0 ? {} : { conversions: added }) },
      calls: [post(`${PATH}/update`, body)],
    }),
  ];
}

/** A card keeps its conversions for good. */
function addedConversions(planning: Planning, old: FileCard, one: FileCard): FileCard['conversions'] {
  const before = new Map(old.conversions.map((conversion) => [conversion.unit, conversion]));
  const after = new Map(one.conversions.map((conversion) => [conversion.unit, conversion]));
  for (const [unit, conversion] of before) {
    if (canonicalText(after.get(unit)) === canonicalText(conversion)) continue;
    planning.problems.push(`rate card ${one.key} converts ${unit}, and that conversion cannot change`);
  }
  return one.conversions.filter(({ unit }) => !before.has(unit));
}
