/**
 * Links that leave docs/. Pages are read on GitHub and in a checkout too, so they link to files of it. In the guide those
 * lead to the page that takes the file's place, to a page of the service, or, where a reader of the service has nothing
 * to open, are plain text with the file's name as its title.
 */
import { posix } from 'node:path';
import type { DefaultTheme, UserConfig } from 'vitepress';

type Markdown = Parameters<
  NonNullable<NonNullable<UserConfig<DefaultTheme.Config>['markdown']>['config']>
>[0];

/** Pages of the guide for files of the checkout, by path and anchor. */
const IN_PLACE: Readonly<Record<string, string>> = {
  'README.md#a-tour-in-five-minutes': 'tutorials/first-invoice.md',
  'README.md': 'index.md',
  'CHANGELOG.md': 'reference/changelog.md',
};

const CHANGELOG = 'reference/changelog.md';

/** Addresses of the service that pages name as code, for readers elsewhere. Here they can be opened. */
const OF_THE_SERVICE = ['/docs', '/console', '/openapi.json', '/llms.txt'];

/** Changes the renderer. It comes after the generator's own rules, which know nothing of the checkout. */
export function linksOfCheckout(md: Markdown): void {
  const asGuideLink = md.renderer.rules.link_open;
  md.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const href = token?.attrGet('href') ?? '';
    if (token === undefined || asGuideLink === undefined) return self.renderToken(tokens, index, options);
    const target = inCheckout(String(env.relativePath ?? ''), href);
    if (target === null) return asGuideLink(tokens, index, options, env, self);
    if (target.startsWith('docs/')) {
      token.attrSet('href', target.slice('docs'.length));
      return asGuideLink(tokens, index, options, env, self);
    }
    const page = IN_PLACE[target];
    if (page !== undefined) {
      token.attrSet('href', `/${page}`);
      return asGuideLink(tokens, index, options, env, self);
    }
    const close = tokens.slice(index).find(({ type }) => type === 'link_close');
    for (const each of [token, close]) if (each !== undefined) each.tag = 'span';
    token.attrs = [
      ['class', 'in-checkout'],
      ['title', `${target} in the checkout`],
    ];
    return self.renderToken(tokens, index, options);
  };
  const asCode = md.renderer.rules.code_inline;
  md.renderer.rules.code_inline = (tokens, index, options, env, self) => {
    const code = asCode?.(tokens, index, options, env, self) ?? '';
    const address = tokens[index]?.content ?? '';
    return OF_THE_SERVICE.includes(address) ? `<a href="${address}" target="_self">${code}</a>` : code;
  };
}

/** The path from the root of the checkout to which a link leads; null where it is no path of a file. */
function inCheckout(page: string, href: string): string | null {
  if (/^(?:[a-z]+:|\/|#)/i.test(href)) return null;
  // The changelog lies beside docs/, and is included into a page of it.
  const folder = page === CHANGELOG ? '.' : posix.dirname(`docs/${page}`);
  return posix.normalize(posix.join(folder, href));
}
