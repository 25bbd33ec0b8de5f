import { expect, it } from 'vitest';
import { webLink } from '../../../console/src/format/links.ts';
import { isLink } from '../../../src/core/urls.ts';

it.each([
  ['https://pay.example/1', true],
  ['http://erp.internal/1.pdf', true],
  ['HTTPS://pay.example', true],
  ['javascript:alert(1)', false],
  [' javascript:alert(1)', false],
  ['java\nscript:alert(1)', false],
  ['data:text/html,x', false],
  ['//pay.example', false],
  ['/v1/invoices', false],
  ['', false],
])(
  'a text that a provider gives is a link on pages and is stored as one only with http or https: %j',
  (text, links) => {
    expect([webLink(text) === text, isLink(text)]).toEqual([links, links]);
  },
);
