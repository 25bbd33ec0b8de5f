/** The generator's theme without its web font, in the colours of the console, with links to the other pages of the service. */
import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './theme.css';

/** They are no pages of the guide: `_self` keeps its router away from them. */
const OF_THE_SERVICE = [
  ['/console', 'Console'],
  ['/docs', 'API'],
] as const;

const links = (className: string) => () =>
  OF_THE_SERVICE.map(([href, title]) => h('a', { href, target: '_self', class: className }, title));

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-content-after': links('of-the-service'),
      'nav-screen-content-after': links('of-the-service-in-menu'),
    }),
} satisfies Theme;
