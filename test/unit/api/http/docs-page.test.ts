import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { route } from '../../../../src/api/http/route.ts';
import { testApp } from '../fixtures.ts';

const EVIL = `</script><script>alert("1")</script><img src=x onerror='x'>`;

const evilRoute = route({
  method: 'post',
  path: '/v1/evil',
  operationId: 'evil',
  summary: EVIL,
  description: EVIL,
  tags: [`tag ${EVIL}`],
  scope: 'read',
  body: z.object({ [`member ${EVIL}`]: z.enum([EVIL]).meta({ description: EVIL, example: EVIL }) }),
  response: z.object({ a: z.string() }).meta({ id: 'Evil', description: EVIL }),
  handler: async () => ({ a: '' }),
});

async function page(): Promise<string> {
  return String((await testApp([evilRoute]).client.get('/docs')).body);
}

describe('the reference page', () => {
  it('shows every operation and every component, each behind its own anchor', async () => {
    const { client, routes } = testApp([evilRoute]);
    const html = String((await client.get('/docs')).body);
    for (const { operationId } of routes) {
      expect(html).toContain(`<article id="${operationId}">`);
      expect(html).toContain(`href="#${operationId}"`);
    }
    expect(html).toContain('<article id="schema-UsageEvent">');
    expect(html).toContain('transaction_id');
    const anchors = [...html.matchAll(/href="#([^"]+)"/g)].map(([, anchor]) => anchor);
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    expect(anchors.filter((anchor) => !ids.has(String(anchor)))).toEqual([]);
  });

  it('escapes whatever comes from the document', async () => {
    const html = await page();
    expect(html.match(/<script>/g)).toHaveLength(1);
    expect(html).not.toContain('<img');
    expect(html).toContain('&lt;img src=x onerror=&#39;x&#39;&gt;');
  });

  it('loads nothing from anywhere', async () => {
    const html = await page();
    expect(html).not.toMatch(/\b(?:src|href)="(?:https?:)?\/\//);
    expect(html).not.toMatch(/@import|url\(/);
    const response = await testApp([]).hono.request('/docs');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('runs and shows its own script and style only, inside no other site', async () => {
    const response = await testApp([]).hono.request('/docs');
    const html = await response.text();
    const policy = String(response.headers.get('content-security-policy'));
    const sources = [...html.matchAll(/<(?:script|style)>([\s\S]*?)<\/(?:script|style)>/g)].map(
      ([, text]) => `'sha256-${createHash('sha256').update(String(text)).digest('base64')}'`,
    );
    expect(sources).toHaveLength(2);
    for (const source of sources) expect(policy).toContain(source);
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("frame-ancestors 'none'");
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('has examples that parse as the JSON they are', async () => {
    const html = await page();
    const examples = [...html.matchAll(/<summary>Example answer<\/summary><pre>([\s\S]*?)<\/pre>/g)];
    expect(examples.length).toBeGreaterThan(2);
    for (const [, text] of examples) {
      expect(() => JSON.parse(String(text).replaceAll('&quot;', '"').replaceAll('&#39;', "'"))).not.toThrow();
    }
  });
});
