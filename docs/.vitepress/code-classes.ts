/**
 * Colours of code and alignment of cells as classes. Written into elements, as the generator does, they would need a
 * policy that lets pages have inline styles.
 */
import type { DefaultTheme, MarkdownOptions, UserConfig } from 'vitepress';

type Transformer = NonNullable<MarkdownOptions['codeTransformers']>[number];
type Markdown = Parameters<
  NonNullable<NonNullable<UserConfig<DefaultTheme.Config>['markdown']>['config']>
>[0];

const ALIGNED = /text-align:\s*(left|center|right)/;

export function classesForStyles() {
  const names = new Map<string, string>();
  const nameOf = (style: string) => {
    const name = names.get(style) ?? `c${names.size}`;
    names.set(style, name);
    return name;
  };
  const transformer: Transformer = {
    name: 'classes-for-styles',
    span(node) {
      const { style, ...properties } = node.properties;
      if (typeof style === 'string') node.properties = { ...properties, class: nameOf(style) };
    },
  };
  return {
    transformer,
    alignCells(md: Markdown): void {
      md.core.ruler.push('align-cells', ({ tokens }) => {
        for (const token of tokens.filter(({ type }) => type === 'th_open' || type === 'td_open')) {
          const side = ALIGNED.exec(token.attrGet('style') ?? '')?.[1];
          if (side === undefined) continue;
          token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style');
          token.attrJoin('class', `align-${side}`);
        }
      });
    },
    /** The rules of all classes that were given, in the order of their names. */
    css(): string {
      const rules = [...names].map(([style, name]) => `.vp-code .${name} { ${style} }`);
      return `${[...rules, '.align-center { text-align: center }', '.align-right { text-align: right }'].join('\n')}\n`;
    },
  };
}
