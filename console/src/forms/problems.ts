/** Which fields a refusal of the API is about. Pure. */
import { entriesOf, type FormField, shownFields, type Values } from './field.ts';

interface Problems {
  /** The problem of each field, by its place with those of the lists around it: `credits[0].priority`. */
  readonly byField: ReadonlyMap<string, string>;
  /** The problems of no field of the form. */
  readonly rest: readonly string[];
}

const NAMED = /^([a-z_][\w.[\]]*): (.*)$/s;

/** The problems in a message such as `name: must not be empty; threshold: must be a number`. */
export function problemsOf(message: string, fields: readonly FormField[], values: Values): Problems {
  const places = placesOf(fields, values, '');
  const byField = new Map<string, string>();
  const rest: string[] = [];
  for (const text of partsOf(message)) {
    const [, named = '', problem = ''] = NAMED.exec(text) ?? [];
    const place = named === '' ? undefined : placeFor(named, places);
    if (place === undefined) rest.push(text);
    else byField.set(place, byField.has(place) ? `${byField.get(place)}; ${problem}` : problem);
  }
  return { byField, rest };
}

/** A part begins with the name of a field; text with a semicolon belongs to the part before. */
function partsOf(message: string): string[] {
  const parts: string[] = [];
  for (const piece of message.split('; ')) {
    if (parts.length === 0 || NAMED.test(piece)) parts.push(piece);
    else parts.push(`${parts.pop()}; ${piece}`);
  }
  return parts;
}

function placesOf(fields: readonly FormField[], values: Values, before: string): string[] {
  return shownFields(fields, values).flatMap(({ at, fields: inner = [] }) => {
    const place = `${before}${at}`;
    const entries = entriesOf(values, at);
    return [place, ...entries.flatMap((entry, index) => placesOf(inner, entry, `${place}[${index}].`))];
  });
}

/** The field itself, else the innermost field that contains it, else the first field inside of it. */
function placeFor(named: string, places: readonly string[]): string | undefined {
  const isWithin = (inner: string, outer: string) =>
    inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
  const around = places.filter((place) => place === named || isWithin(named, place));
  return around.sort((a, b) => b.length - a.length)[0] ?? places.find((place) => isWithin(place, named));
}
