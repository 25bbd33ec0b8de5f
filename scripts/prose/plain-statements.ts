/** Rules of textlint for the beginnings of sentences. */
import type { TextlintRuleModule } from '@textlint/types';

/** Reports each match of `pattern` in a paragraph. */
const refused =
  (pattern: RegExp, message: string): TextlintRuleModule =>
  ({ Syntax, RuleError, getSource, report, locator }) => ({
    [Syntax.Paragraph](node) {
      for (const { index } of getSource(node).matchAll(pattern)) {
        report(node, new RuleError(message, { padding: locator.at(index) }));
      }
    },
  });

/** No sentence begins with "What" unless it is a question. */
export const plainStatements = refused(
  /(?:^|(?<=[.!]\s))What\b(?![^.?!]*\?)/g,
  'A sentence that begins with “What”: state what is or happens instead',
);

/** The subject is a noun and stands first. */
export const subjectFirst = refused(
  /(?:^|(?<=[.!:]\s))(?:Whoever|Of (?:the|those|these|them|all|an?|its|each|every|which|two|what))\b/g,
  'A sentence that begins with “Of” or “Whoever”: begin with its subject, a noun',
);
