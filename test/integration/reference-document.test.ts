/** The document of the reference: units of every number, groups in the order of work, and its forms as text and page. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { VIEWER } from '../../src/api/http/reference-page.ts';
import { TAGS } from '../../src/api/http/tags.ts';
import { serviceForFile } from '../support/file-fixtures.ts';

const service = await serviceForFile();

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
}

interface Named {
  readonly place: string;
  readonly name: string;
  readonly schema: Schema;
}

const document = z
  .object({
    tags: z.array(z.object({ name: z.string(), description: z.string().optional() })),
    paths: z.record(z.string(), z.record(z.string(), z.looseObject({ summary: z.string() }))),
    components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
  })
  .parse((await service.api.get('/openapi.json')).body);

/** Every member of every schema, wherever it stands. */
function membersOf(value: unknown, place: string): Named[] {
  if (typeof value !== 'object' || value === null) return [];
  const { properties } = value as Schema;
  const own = Object.entries(properties ?? {}).map(([name, schema]) => ({
    place: `${place}.${name}`,
    name,
    schema,
  }));
  const inner = Object.entries(value).flatMap(([name, member]) => membersOf(member, `${place}/${name}`));
  return [...own, ...inner];
}

function isNumber(schema: Schema, kind: 'number' | 'integer'): boolean {
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  if (typeof schema.additionalProperties === 'object') inner.push(schema.additionalProperties);
  if (schema.items !== undefined) inner.push(schema.items);
  return [schema.type].flat().includes(kind) || inner.some((each) => isNumber(each, kind));
}

const SAYS_UNIT = /Unit: |without a unit/;
/** Names of whole numbers that are amounts of something. */
const QUANTITY = /quantity|amount|price|total|balance$|_days$|_hours$|event_count|initial_unassigned_seats/;

describe('the document', () => {
  const members = membersOf(document, 'openapi');

  it('the document says the unit of every number that is no count of rows', () => {
    expect(members.length).toBeGreaterThan(1_000);
    const numbers = members.filter(
      // Those of spans are of the protocol that sends them.
      ({ place, name, schema }) =>
        !place.includes('/Otlp') &&
        (isNumber(schema, 'number') || (isNumber(schema, 'integer') && QUANTITY.test(name))),
    );
    expect(numbers.length).toBeGreaterThan(300);
    const silent = numbers.filter(({ schema }) => !SAYS_UNIT.test(schema.description ?? ''));
    expect(silent.map(({ place }) => place)).toEqual([]);
  });

  it('the document says the unit of decimals that are sent as text', () => {
    const tier = members.filter(({ place }) => /TierMetadata\.(?:size|starting_at)$/.test(place));
    expect(tier.map(({ name }) => name).sort()).toEqual(['size', 'starting_at']);
    for (const { schema } of tier) expect(schema.description).toMatch(SAYS_UNIT);
  });

  it('the document has its groups in the order of work, and all of them', () => {
    expect(document.tags.map(({ name }) => name)).toEqual(TAGS.map(({ name }) => name));
    for (const { description } of document.tags) expect(description).toBeTruthy();
  });
});

describe('/llms.txt', () => {
  it('/llms.txt has every operation on a line, with the way to the page and the document', async () => {
    const text = String((await service.api.get('/llms.txt', { token: null })).body);
    expect(text.startsWith('# tallyhouse\n\n> ')).toBe(true);
    expect(text).toContain('(/openapi.json)');
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { summary }] of Object.entries(methods)) {
        expect(text).toContain(`- [${method.toUpperCase()} ${path}](/docs#tag/`);
        expect(text).toContain(`): ${summary}\n`);
      }
    }
  });
});

describe('the page', () => {
  it('the page runs the file of the vendored viewer and our own, and speaks to this service alone', async () => {
    const page = await fetch(`${service.url}/docs`);
    const html = await page.text();
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    const scripts = [...html.matchAll(/<script([^>]*)>([^<]*)/g)].map(([, attributes, text]) => [
      attributes,
      text,
    ]);
    expect(scripts).toEqual([
      [` src="/docs/assets/standalone-${VIEWER.version}.js" integrity="${VIEWER.integrity}"`, ''],
      [' src="/docs/assets/start.js"', ''],
    ]);
    const start = await (await fetch(`${service.url}/docs/assets/start.js`)).text();
    for (const off of ['withDefaultFonts: false', 'telemetry: false', 'agent: { disabled: true }']) {
      expect(start).toContain(off);
    }
    expect(start).not.toMatch(/https?:|proxy/);
  });

  it('the page has the vendored file as it was released, compressed and kept by browsers', async () => {
    const folder = new URL('../../vendor/api-reference/', import.meta.url);
    const record: unknown = JSON.parse(await readFile(new URL('vendored.json', folder), 'utf8'));
    expect(record).toMatchObject({
      version: VIEWER.version,
      fileIntegrity: VIEWER.integrity,
      licence: 'MIT',
    });
    const packed = await readFile(new URL('standalone.js.br', folder));
    const hash = createHash('sha384').update(brotliDecompressSync(packed)).digest('base64');
    expect(`sha384-${hash}`).toBe(VIEWER.integrity);
    const path = `/docs/assets/standalone-${VIEWER.version}.js`;
    for (const encoding of ['br', 'gzip']) {
      const file = await fetch(service.url + path, { headers: { 'accept-encoding': encoding } });
      expect([file.headers.get('content-encoding'), file.headers.get('cache-control')]).toEqual([
        encoding,
        'public, max-age=31536000, immutable',
      ]);
    }
    expect((await fetch(`${service.url}/docs/assets/../vendored.json`)).status).toBe(404);
    expect((await fetch(`${service.url}/docs/assets/other.js`)).status).toBe(404);
  });
});
