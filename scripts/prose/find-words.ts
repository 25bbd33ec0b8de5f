/** Finds the words of the glossary in a text, with textlint and its rule of terms. */
import { TextlintKernel } from '@textlint/kernel';
import * as markdown from '@textlint/textlint-plugin-markdown';
import type { TextlintPluginCreator } from '@textlint/types';
import terminology from 'textlint-rule-terminology';
import { plainStatements, subjectFirst } from './plain-statements.ts';
import type { Term } from './words.ts';

export interface Found {
  line: number;
  message: string;
}

const isPlugin = (value: object): value is TextlintPluginCreator => 'Processor' in value;

/** The package is CommonJS, which loaders of modules present in two ways. */
const presented: object[] = [markdown.default, markdown.default.default];
const MARKDOWN = presented.find(isPlugin);

/** How a sentence may not begin. In lower case nearly every file has them. */
const OPENINGS = /\bWhat\b|\bOf\s/;

/** Code in backticks, fenced code and addresses are not searched. */
export class WordFinder {
  readonly #kernel = new TextlintKernel();
  readonly #terms: readonly Term[];
  readonly #any: RegExp;

  constructor(terms: readonly Term[]) {
    this.#terms = terms;
    this.#any = new RegExp(terms.map(([pattern]) => pattern).join('|'), 'im');
  }

  /** Most files have none of the words, and need no parsing. Phrases of a comment may continue in its next line. */
  mayHaveWords(source: string): boolean {
    return this.#mayHave(source.replaceAll(/^\s*(?:\*|\/\/)/gm, ''));
  }

  #mayHave(text: string): boolean {
    return OPENINGS.test(text) || this.#any.test(text);
  }

  async find(text: string, isComment: boolean): Promise<Found[]> {
    if (!this.#mayHave(text)) return [];
    if (MARKDOWN === undefined) throw new Error('the Markdown plugin of textlint has no processor');
    const terms = {
      ruleId: 'terminology',
      rule: terminology,
      options: { defaultTerms: false, skip: [], terms: [...this.#terms] },
    };
    const statements = isComment
      ? { ruleId: 'plain-statements', rule: plainStatements }
      : { ruleId: 'subject-first', rule: subjectFirst };
    const { messages } = await this.#kernel.lintText(text, {
      filePath: 'prose.md',
      ext: '.md',
      plugins: [{ pluginId: 'markdown', plugin: MARKDOWN }],
      rules: [terms, statements],
    });
    return messages.map(({ line, message }) => ({ line, message: message.replace(/\s+/g, ' ') }));
  }
}
