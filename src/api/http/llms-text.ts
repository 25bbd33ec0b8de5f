/** The reference as a text for readers that are programs (https://llmstxt.org): every operation, one a line. */
import type { OpenApiDocument } from './openapi.ts';

/** Deterministic: the same document gives the same text. */
export function llmsText(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = document.tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === name);
    const lines = own.map(({ path, method, operation: { summary } }) => {
      const address = `/docs#tag/${slug(name)}/${method.toUpperCase()}${path}`;
      return `- [${method.toUpperCase()} ${path}](${address}): ${summary}`;
    });
    return [`## ${name}`, ...(description === undefined ? [] : ['', description]), '', ...lines].join('\n');
  });
  return `# ${document.info.title}

> Open, self-hostable usage-based billing: usage events in, exact invoices out.

${document.info.description}

## Documents

- [OpenAPI 3.1](/openapi.json): every operation with its schemas, and an example of each request
- [Reference](/docs): the same as a page, in which operations can be tried out

${groups.join('\n\n')}
`;
}

/** As the page writes the name of a group in its addresses. */
function slug(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
