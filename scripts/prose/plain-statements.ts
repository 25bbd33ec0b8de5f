/** A rule of textlint: no sentence begins with "What" unless it is a question. */
import type { TextlintRuleModule } from '@textlint/types';

const STATEMENT = /(?:^|(?<=[.!]\s))What\b(?![^.?!]*\?)/g;

export const plainStatements: TextlintRuleModule = ({ Syntax, RuleError, getSource, report, locator }) => ({
  [Syntax.Paragraph](node) {
    for (const { index } of getSource(node).matchAll(STATEMENT)) {
      const message = 'A sentence that begins with “What”: state what is or happens instead';
      report(node, new RuleError(message, { padding: locator.at(index) }));
    }
  },
});
