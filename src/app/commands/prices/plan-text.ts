/** A plan as people read it, and as programs do. Pure. */
import { stringifyJson } from '../../../api/base/json.ts';
import { formatInstant, type Instant } from '../../../core/time.ts';
import { canonicalText } from './canonical.ts';
import type { Terms } from './catalogue-file.ts';
import { nameOf } from './rate-steps.ts';
import type { Plan, Step } from './step.ts';

const SIGNS: Readonly<Record<Step['action'], string>> = { create: '+', change: '~', archive: '-' };

/** Rates of one card that are printed; a long price list is read in its file. */
const RATES_SHOWN_MAX = 100;
/** Objects that are named as missing in the files. */
const UNNAMED_SHOWN_MAX = 20;

export function planText({ steps, unnamed }: Plan, effectiveAt: Instant, prune: boolean): string {
  const shown = new Map<string, number>();
  const lines = steps.flatMap((step) => {
    if (step.kind !== 'rate') return lineOf(step);
    const count = (shown.get(step.key) ?? 0) + 1;
    shown.set(step.key, count);
    return count > RATES_SHOWN_MAX ? [] : lineOf(step);
  });
  const hidden = [...shown].flatMap(([card, count]) =>
    count > RATES_SHOWN_MAX ? [`  and ${count - RATES_SHOWN_MAX} more rates of rate card ${card}`] : [],
  );
  return `${[...lines, ...hidden, ...countLines(steps, effectiveAt), ...unnamedLines(unnamed, prune)].join('\n')}\n`;
}

function countLines(steps: readonly Step[], effectiveAt: Instant): string[] {
  if (steps.length === 0) return ['Nothing to do: the service has what the files say.'];
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length;
  return [
    '',
    `${count('create')} to create, ${count('change')} to change, ${count('archive')} to archive. Changes without a date begin at ${dayOf(formatInstant(effectiveAt))}.`,
  ];
}

function unnamedLines(unnamed: Plan['unnamed'], prune: boolean): string[] {
  if (unnamed.length === 0 || prune) return [];
  const names = unnamed.slice(0, UNNAMED_SHOWN_MAX).map(String).join(', ');
  const rest = unnamed.length > UNNAMED_SHOWN_MAX ? ' and others' : '';
  return [`Not in the files, and left alone without --prune: ${names}${rest}.`];
}

export function lineOf({ action, kind, key, from, to, before, after }: Step): string {
  const sign = SIGNS[action];
  const dates = `${from === null ? '' : ` from ${dayOf(from)}`}${to === null ? '' : ` to ${dayOf(to)}`}`;
  if (kind === 'rate' && after !== null) {
    const { product, pricing_group_values, billing_frequency, ...price } = after;
    const { product: _, pricing_group_values: __, billing_frequency: ___, ...old } = before ?? {};
    const change = before === null ? priceText(price) : `${priceText(old)} → ${priceText(price)}`;
    return `${sign} rate ${nameOf(after)} on ${key}${dates}: ${change}`;
  }
  const changes =
    action !== 'change'
      ? ''
      : `: ${Object.keys(after ?? {})
          .map((name) => `${name} ${valueText(before?.[name])} → ${valueText(after?.[name])}`)
          .join(', ')}`;
  return `${sign} ${kind} ${key}${dates}${changes}`;
}

/** `2026-12-01` for a midnight in UTC. */
function dayOf(instant: string): string {
  return instant.replace('T00:00:00.000Z', '').replace('.000Z', 'Z');
}

/** `3 to 1000, then 2 (volume)`. */
function priceText(terms: Terms): string {
  const { rate_type: type, price, tiers, tiers_mode: mode, entitled, unit, ...others } = terms;
  if (entitled === false) return 'ended';
  const percent = String(type).endsWith('PERCENTAGE') ? ' of the base' : '';
  const steps = Array.isArray(tiers) ? tiers.map(tierText).join(', then ') : String(price);
  const rest = Object.entries(others).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [`${name} ${valueText(value)}`],
  );
  const notes = [...(mode === 'volume' ? ['volume'] : []), ...rest];
  return `${steps}${percent}${unit === undefined ? '' : ` ${unit}`}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

function tierText(tier: Terms): string {
  const { size, price } = tier;
  return size === null || size === undefined ? String(price) : `${price} for ${size}`;
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' ? value : stringifyJson(value);
}

/** A step without its calls. Equal for the same step of two plans. */
export function stepForm({ action, kind, key, from, to, before, after }: Step) {
  return { action, kind, key, from, to, before, after };
}

export function stepText(step: ReturnType<typeof stepForm>): string {
  return canonicalText(stepForm({ ...step, calls: [], makes: null, rate: null }));
}
