/**
 * The API reference as one page of HTML, rendered from the OpenAPI document.
 *
 * The page loads nothing: styles and the filter script are inline, and its content security policy allows these
 * two texts and nothing else. All text from the document is escaped.
 */
import { createHash } from 'node:crypto';
import { DOCS_SCRIPT, DOCS_STYLE } from './docs-assets.ts';
import { escapeHtml, prose, schemaHtml } from './docs-schema.ts';
import type { JsonSchema, OpenApiDocument, Operation, Parameter } from './openapi.ts';
import { exampleOf } from './schema-example.ts';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src ${sourceOf(DOCS_STYLE)}`,
  `script-src ${sourceOf(DOCS_SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
  // No other site may show the page inside its own.
  "frame-ancestors 'none'",
].join('; ');

export const DOCS_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

/** An inline text as a source of a content security policy. */
function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** The complete page. Deterministic: the same document gives the same bytes. */
export function docsPage(document: OpenApiDocument): string {
  const entries = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Entry => ({ method, path, operation })),
  );
  const groups = document.tags.map(({ name }) => ({
    name,
    entries: entries.filter(({ operation }) => operation.tags[0] === name),
  }));
  const title = `${document.info.title} ${document.info.version}: API reference`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${DOCS_STYLE}</style>
</head>
<body>
<nav aria-label="Operations">
<h1>${escapeHtml(document.info.title)}</h1>
<input id="filter" type="search" placeholder="Filter ( / )" aria-label="Filter operations">
${groups.map(navigationGroup).join('\n')}
<section><h2>schemas</h2><ul>${Object.keys(document.components.schemas).sort().map(schemaLink).join('')}</ul></section>
</nav>
<main>
<header><h1>${escapeHtml(title)}</h1>${prose(document.info.description)}
<p>The same as a machine-readable document: <a href="openapi.json">openapi.json</a> (OpenAPI ${document.openapi}).</p></header>
${groups.flatMap((group) => group.entries.map((entry) => operationSection(entry, document))).join('\n')}
<h2 class="group">Schemas</h2>
${Object.entries(document.components.schemas)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, schema]) => componentSection(name, schema))
  .join('\n')}
</main>
<script>${DOCS_SCRIPT}</script>
</body>
</html>
`;
}

function navigationGroup(group: { readonly name: string; readonly entries: readonly Entry[] }): string {
  const items = group.entries.map(({ method, path, operation }) => {
    const words = `${method} ${path} ${operation.summary} ${operation.operationId}`.toLowerCase();
    return `<li data-words="${escapeHtml(words)}"><a href="#${escapeHtml(operation.operationId)}" title="${escapeHtml(path)}">${methodBadge(method)}${escapeHtml(operation.summary)}</a></li>`;
  });
  return `<section><h2>${escapeHtml(group.name)}</h2><ul>${items.join('')}</ul></section>`;
}

function schemaLink(name: string): string {
  return `<li data-words="${escapeHtml(name.toLowerCase())}"><a href="#schema-${escapeHtml(name)}">${escapeHtml(name)}</a></li>`;
}

function methodBadge(method: string): string {
  return `<span class="method ${escapeHtml(method)}">${escapeHtml(method.toUpperCase())}</span>`;
}

function operationSection({ method, path, operation }: Entry, document: OpenApiDocument): string {
  const request = operation.requestBody?.content['application/json']?.schema;
  return `<article id="${escapeHtml(operation.operationId)}">
<h2><a href="#${escapeHtml(operation.operationId)}">${escapeHtml(operation.summary)}</a></h2>
<p class="endpoint">${methodBadge(method)}<code>${escapeHtml(path)}</code></p>
${prose(operation.description ?? '')}
${parametersTable(operation.parameters)}
${request === undefined ? '' : `<h3>Body</h3>${schemaHtml(request)}`}
${requestExample({ method, path, operation })}
<h3>Answers</h3>
${Object.entries(operation.responses)
  .map(([status, response]) => responseHtml(status, response, document))
  .join('\n')}
</article>`;
}

function parametersTable(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(
    (parameter) =>
      `<tr><td><code>${escapeHtml(parameter.name)}</code></td><td>${parameter.in}${parameter.required ? ', required' : ''}</td><td>${schemaHtml(parameter.schema)}${prose(parameter.description ?? '')}</td></tr>`,
  );
  return `<h3>Parameters</h3><table>${rows.join('')}</table>`;
}

/** A `curl` command that works when pasted, given a token in the environment and ids of one's own. */
function requestExample({ method, path, operation }: Entry): string {
  const address = examplePath(path, operation.parameters);
  const lines = [`curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$TALLYHOUSE_URL${address}"`];
  if (operation.security.length > 0) lines.push('-H "Authorization: Bearer $TALLYHOUSE_TOKEN"');
  const body = operation.requestBody?.content['application/json']?.example;
  if (body !== undefined) {
    const text = JSON.stringify(body, null, 2);
    lines.push('-H "Content-Type: application/json"', `-d '${text.replaceAll("'", "'\\''")}'`);
  }
  return `<details><summary>Example request</summary><pre>${escapeHtml(lines.join(' \\\n  '))}</pre></details>`;
}

/** With the examples of its parameters; a member of the path without one keeps its name in braces. */
function examplePath(path: string, parameters: readonly Parameter[]): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, in: place, example } of parameters) {
    if (example === undefined) continue;
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(example));
    else query.set(name, String(example));
  }
  return query.size === 0 ? filled : `${filled}?${query}`;
}

function responseHtml(
  status: string,
  response: Operation['responses'][string],
  document: OpenApiDocument,
): string {
  const [mediaType, content] = Object.entries(response.content ?? {})[0] ?? [];
  const head = `<b class="status s${escapeHtml(status.charAt(0))}">${escapeHtml(status)}</b> ${escapeHtml(response.description)}`;
  if (content === undefined || mediaType === undefined) return `<p>${head}</p>`;
  if (status !== '200') return `<p>${head} ${schemaHtml(content.schema)}</p>`;
  if (mediaType !== 'application/json') return `<p>${head} <code>${escapeHtml(mediaType)}</code></p>`;
  const example = JSON.stringify(exampleOf(content.schema, document.components.schemas), null, 2);
  return `<div><p>${head}</p>${schemaHtml(content.schema)}<details><summary>Example answer</summary><pre>${escapeHtml(example)}</pre></details>${csvHtml(response.content)}</div>`;
}

function componentSection(name: string, schema: JsonSchema): string {
  const id = `schema-${escapeHtml(name)}`;
  return `<article id="${id}"><h2><a href="#${id}">${escapeHtml(name)}</a></h2>${schemaHtml(schema)}</article>`;
}

function csvHtml(content: Operation['responses'][string]['content']): string {
  const columns = content?.['text/csv']?.schema.description;
  if (columns === undefined) return '';
  return `<details><summary>As CSV</summary><pre>${escapeHtml(columns)}</pre></details>`;
}
