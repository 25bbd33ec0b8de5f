/** Renders a JSON Schema as HTML: types in words, members as a list, components as links. */
import type { JsonSchema } from './openapi.ts';

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => HTML_ENTITIES[character] ?? '');
}

/** Plain text with blank lines between paragraphs and code in backticks. */
export function prose(text: string): string {
  if (text === '') return '';
  return text
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${escapeHtml(paragraph).replaceAll(/`([^`]+)`/g, '<code>$1</code>')}</p>`)
    .join('');
}

/** Deeper than any request of this API. A component that contains itself is a link and does not recurse. */
const DEPTH_MAX = 12;

export function schemaHtml(schema: JsonSchema, depth = 0): string {
  if (depth > DEPTH_MAX) return '…';
  const description = schema.description === undefined ? '' : prose(schema.description);
  return `<span class="type">${typeHtml(schema)}</span>${constraintsHtml(schema)}${description}${membersHtml(schema, depth)}`;
}

function typeHtml(schema: JsonSchema | boolean): string {
  if (typeof schema === 'boolean') return schema ? 'anything' : 'nothing';
  if (schema.$ref !== undefined) return componentLink(schema.$ref);
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return options.map(typeHtml).join(' or ');
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`;
  if (schema.enum !== undefined) {
    return schema.enum.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(' or ');
  }
  if (schema.type === 'array') return `list of ${typeHtml(itemsOf(schema))}`;
  const types = [schema.type ?? 'anything'].flat().join(' or ');
  return escapeHtml(schema.format === undefined ? types : `${types} (${schema.format})`);
}

function itemsOf(schema: JsonSchema): JsonSchema | boolean {
  return Array.isArray(schema.items) || schema.items === undefined ? true : schema.items;
}

function componentLink(reference: string): string {
  const name = escapeHtml(reference.slice(reference.lastIndexOf('/') + 1));
  return `<a href="#schema-${name}">${name}</a>`;
}

function constraintsHtml(schema: JsonSchema): string {
  const words = [
    schema.minimum === undefined ? null : `at least ${schema.minimum}`,
    schema.maximum === undefined ? null : `at most ${schema.maximum}`,
    schema.minLength === undefined ? null : `at least ${schema.minLength} characters`,
    schema.maxLength === undefined ? null : `at most ${schema.maxLength} characters`,
    schema.minItems === undefined ? null : `at least ${schema.minItems} items`,
    schema.maxItems === undefined ? null : `at most ${schema.maxItems} items`,
    schema.default === undefined ? null : `${JSON.stringify(schema.default)} if left out`,
  ].filter((word) => word !== null);
  return words.length === 0 ? '' : ` <span class="limits">${escapeHtml(words.join(', '))}</span>`;
}

/** The members of an object, of a list's items and of a union's options. Components list their own. */
function membersHtml(schema: JsonSchema | boolean, depth: number): string {
  if (typeof schema === 'boolean' || depth > DEPTH_MAX) return '';
  const inner = [
    ...(schema.anyOf ?? schema.oneOf ?? []),
    ...(schema.type === 'array' ? [itemsOf(schema)] : []),
  ];
  return ownMembersHtml(schema, depth) + inner.map((part) => membersHtml(part, depth + 1)).join('');
}

function ownMembersHtml(schema: JsonSchema, depth: number): string {
  const required = new Set(schema.required ?? []);
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const mark = required.has(name) ? '<span class="required">required</span> ' : '';
    const text = typeof member === 'boolean' ? 'anything' : schemaHtml(member, depth + 1);
    return `<li><code>${escapeHtml(name)}</code> ${mark}${text}</li>`;
  });
  const extra = schema.additionalProperties;
  if (typeof extra === 'object') members.push(`<li><i>any name</i> ${schemaHtml(extra, depth + 1)}</li>`);
  return members.length === 0 ? '' : `<ul class="members">${members.join('')}</ul>`;
}
